#include "knurl/models/fast/fused_net.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "knurl/core/base/check.h"
#include "knurl/models/columns.h"
#include "knurl/models/fast/kernels.h"
#include "knurl/models/fast/narrow.h"

namespace knurl::fast {
namespace {

constexpr const char* kNumbers = "x";

RecordBatch rows_of(std::int64_t rows, int width) {
  return RecordBatch({{kNumbers, DType::float32, {width}}}, rows);
}

/// The only column of a buffer.
float* numbers(RecordBatch& buffer) {
  return reinterpret_cast<float*>(buffer.data(0));
}
const float* numbers(const RecordBatch& buffer) {
  return reinterpret_cast<const float*>(buffer.data(0));
}

bool whole_vectors(int n) {
  return n == padded(n);
}

}  // namespace

std::optional<std::string> why_not_fused(const NetSpec& spec) {
  for (const LayerSpec& layer : spec.layers) {
    const auto cannot = [&](const char* what) {
      return fmt::format("there are no fused kernels for layer {}, {}", layer.name, what);
    };
    switch (layer.kind) {
      case LayerKind::dense:
        if (layer.sigma0 > 0.0) return cannot("a noisy one");
        break;
      case LayerKind::free:
      case LayerKind::sde_log_std:
      case LayerKind::filter:
        break;
      case LayerKind::conv:
        return cannot("a convolution");
      case LayerKind::custom:
        return cannot("one of a custom model's");
      case LayerKind::lstm:
        return cannot("an LSTM");
    }
  }
  return std::nullopt;
}

FusedNet::FusedNet(NetSpec spec, const Weights& weights)
    : spec_(std::move(spec)),
      parameters_(weights.tensors),
      gradients_(parameters_.columns(), 1),
      layers_(spec_.layers.size()),
      outputs_(spec_.outputs.size()) {
  check(!why_not_fused(spec_), "a net can be fused");
  check(parameters_.columns() == tensors_of(spec_), "weights are those of this net");
  for (std::size_t k = 0; k < layers_.size(); ++k) make_layer(k);
}

void FusedNet::make_layer(std::size_t k) {
  const LayerSpec& spec = spec_.layers[k];
  Layer& layer = layers_[k];
  const auto tensor = [&](RecordBatch& batch, const char* name) {
    return batch.column<float>(spec.name + name).data();
  };
  const bool value = spec.kind == LayerKind::free || spec.kind == LayerKind::sde_log_std;
  const char* weight = value ? ".value" : spec.kind == LayerKind::filter ? ".scale" : ".weight";
  layer.weight = tensor(parameters_, weight);
  layer.weight_gradient = tensor(gradients_, weight);
  if (!value) {
    const char* bias = spec.kind == LayerKind::filter ? ".mean" : ".bias";
    layer.bias = tensor(parameters_, bias);
    layer.bias_gradient = tensor(gradients_, bias);
  }
  layer.narrow = is_narrow(spec_, k);
  layer.width = layer.narrow ? spec.outputs : padded(spec.outputs);
  if (spec.kind == LayerKind::free || spec.kind == LayerKind::filter) return;
  const bool whole = whole_vectors(spec.inputs);
  if (!layer.narrow) layer.forward_weight = rows_of(spec.inputs, padded(spec.outputs));
  if (spec.kind == LayerKind::sde_log_std || (!spec.source && !whole)) {
    layer.weight_gradient_columns = rows_of(spec.inputs, padded(spec.outputs));
  }
  if (spec.kind != LayerKind::dense || !spec.source) return;
  if (!whole) {
    layer.padded_weight = rows_of(spec.outputs, padded(spec.inputs));
    layer.padded_weight_gradient = rows_of(spec.outputs, padded(spec.inputs));
  }
  if (auto& finisher = layers_[*spec.source].finisher; !finisher) finisher = k;
}

void FusedNet::make_room(std::int64_t rows) {
  rows_ = rows;
  for (std::size_t k = 0; k < layers_.size(); ++k) {
    const LayerSpec& spec = spec_.layers[k];
    Layer& layer = layers_[k];
    if (layer.results.rows() >= rows && !layer.results.columns().empty()) continue;
    layer.results = rows_of(rows, static_cast<int>(layer.width));
    layer.gradients = rows_of(rows, static_cast<int>(layer.width));
    if (spec.kind == LayerKind::sde_log_std) {
      layer.before = rows_of(rows, spec.inputs);
    } else if (spec.activation == Activation::silu) {
      layer.before = rows_of(rows, padded(spec.outputs));
    }
  }
  for (std::size_t i = 0; i < outputs_.size(); ++i) {
    outputs_[i].resize(static_cast<std::size_t>(rows * size_of(spec_, spec_.outputs[i])));
  }
}

FusedNet::Input FusedNet::input_of(std::size_t k) const {
  const auto& source = spec_.layers[k].source;
  if (!source) return input_;
  return {.data = numbers(layers_[*source].results), .stride = layers_[*source].width};
}

void FusedNet::forward_layer(std::size_t k) {
  const LayerSpec& spec = spec_.layers[k];
  Layer& layer = layers_[k];
  switch (spec.kind) {
    case LayerKind::free: {
      float* y = numbers(layer.results);
      for (std::int64_t row = 0; row < rows_; ++row, y += padded(spec.outputs)) {
        std::copy_n(layer.weight, spec.outputs, y);
      }
      return;
    }
    case LayerKind::filter:
      return forward_filter(k);
    case LayerKind::sde_log_std:
      return forward_sde(k);
    default:
      return layer.narrow ? forward_narrow(k) : forward_dense(k);
  }
}

/// A dense layer's weights as rows of whole vectors, as they are now.
const float* FusedNet::padded_weight(std::size_t k) {
  const LayerSpec& spec = spec_.layers[k];
  Layer& layer = layers_[k];
  if (whole_vectors(spec.inputs)) return layer.weight;
  float* copy = numbers(layer.padded_weight);
  for (int unit = 0; unit < spec.outputs; ++unit) {
    std::copy_n(layer.weight + unit * spec.inputs, spec.inputs, copy + unit * padded(spec.inputs));
  }
  return copy;
}

void FusedNet::forward_narrow(std::size_t k) {
  const LayerSpec& spec = spec_.layers[k];
  Layer& layer = layers_[k];
  const Input x = input_of(k);
  kernels().narrow({.x = x.data,
                    .x_stride = x.stride,
                    .weight = padded_weight(k),
                    .bias = layer.bias,
                    .y = numbers(layer.results),
                    .rows = rows_,
                    .inputs = padded(spec.inputs),
                    .outputs = spec.outputs});
}

void FusedNet::forward_dense(std::size_t k) {
  const LayerSpec& spec = spec_.layers[k];
  Layer& layer = layers_[k];
  const int width = padded(spec.outputs);
  float* weight = numbers(layer.forward_weight);
  kernels().transpose(
      {.from = layer.weight, .stride = spec.inputs, .rows = spec.outputs, .columns = spec.inputs},
      weight, width);
  const Input x = input_of(k);
  const bool silu = spec.activation == Activation::silu;
  float* y = numbers(silu ? layer.before : layer.results);
  // the bias is read to the end of its 64 bytes, where the flat buffer's gap is 0
  kernels().dense({.x = x.data,
                   .x_stride = x.stride,
                   .weight = weight,
                   .bias = layer.bias,
                   .y = y,
                   .rows = rows_,
                   .inputs = spec.inputs,
                   .padded_outputs = width,
                   .activation = silu ? Activation::linear : spec.activation});
  if (silu) {
    kernels().activate(Activation::silu, y, numbers(layer.results),
                       static_cast<std::size_t>(rows_ * width));
  }
}

void FusedNet::forward_filter(std::size_t k) {
  const LayerSpec& spec = spec_.layers[k];
  const Layer& layer = layers_[k];
  const Input x = input_of(k);
  float* y = numbers(layers_[k].results);
  const int width = padded(spec.outputs);
  for (std::int64_t row = 0; row < rows_; ++row) {
    for (int i = 0; i < spec.outputs; ++i) {
      const float filtered = (x.data[row * x.stride + i] - layer.bias[i]) * layer.weight[i];
      y[row * width + i] = std::clamp(filtered, -kFilterClip, kFilterClip);
    }
  }
}

void FusedNet::forward_sde(std::size_t k) {
  const LayerSpec& spec = spec_.layers[k];
  Layer& layer = layers_[k];
  const Input x = input_of(k);
  const int width = padded(spec.outputs);
  float* squares = numbers(layer.before);
  for (std::int64_t row = 0; row < rows_; ++row) {
    const float* from = x.data + row * x.stride;
    std::transform(from, from + spec.inputs, squares + row * spec.inputs,
                   [](float v) { return v * v; });
  }
  float* variances = numbers(layer.forward_weight);  // [inputs, width]
  for (int i = 0; i < spec.inputs; ++i) {
    for (int unit = 0; unit < spec.outputs; ++unit) {
      variances[i * width + unit] = std::exp(2.0F * layer.weight[i * spec.outputs + unit]);
    }
  }
  float* y = numbers(layer.results);
  kernels().product({.a = squares,
                     .a_row = spec.inputs,
                     .b = variances,
                     .b_depth = width,
                     .c = y,
                     .c_row = width,
                     .rows = rows_,
                     .depth = spec.inputs,
                     .columns = width});
  for (std::int64_t row = 0; row < rows_; ++row) {
    for (int unit = 0; unit < spec.outputs; ++unit) {
      y[row * width + unit] = 0.5F * std::log(y[row * width + unit] + kSdeEpsilon);
    }
  }
}

std::vector<std::span<const float>> FusedNet::forward(const RecordBatch& minibatch,
                                                      const Sequences& /*sequences*/) {
  const auto inputs = minibatch.column<float>(column::kNetInputs);
  check(inputs.width() == spec_.inputs, "a minibatch is what this net reads");
  make_room(minibatch.rows());
  input_ = {.data = inputs.data(), .stride = inputs.width()};
  for (std::size_t k = 0; k < layers_.size(); ++k) forward_layer(k);
  std::vector<std::span<const float>> out;
  for (std::size_t i = 0; i < outputs_.size(); ++i) {
    const std::int64_t size = size_of(spec_, spec_.outputs[i]);
    std::int64_t first = 0;
    for (const std::size_t k : spec_.outputs[i].layers) {
      const int units = spec_.layers[k].outputs;
      const float* from = numbers(layers_[k].results);
      float* to = outputs_[i].data() + first;
      for (std::int64_t row = 0; row < rows_; ++row, from += layers_[k].width, to += size) {
        for (int unit = 0; unit < units; ++unit) to[unit] = from[unit];
      }
      first += units;
    }
    out.emplace_back(outputs_[i].data(), static_cast<std::size_t>(rows_ * size));
  }
  return out;
}

/// The gradients of results that are outputs begin with what the loss says.
void FusedNet::take_output_gradients(const std::vector<std::span<const float>>& output_gradients) {
  for (Layer& layer : layers_) layer.has_gradient = false;
  for (std::size_t i = 0; i < outputs_.size(); ++i) {
    const std::int64_t size = size_of(spec_, spec_.outputs[i]);
    const float* from = output_gradients[i].data();
    for (const std::size_t k : spec_.outputs[i].layers) {
      const int units = spec_.layers[k].outputs;
      Layer& layer = layers_[k];
      float* to = numbers(layer.gradients);
      for (std::int64_t row = 0; row < rows_; ++row, to += layer.width) {
        for (int unit = 0; unit < units; ++unit) {
          to[unit] = from[row * size + unit] + (layer.has_gradient ? to[unit] : 0.0F);
        }
      }
      layer.has_gradient = true;
      from += units;
    }
  }
}

void FusedNet::backward(const std::vector<std::span<const float>>& output_gradients) {
  check(output_gradients.size() == outputs_.size(), "there is a gradient for each output");
  take_output_gradients(output_gradients);
  for (std::size_t k = layers_.size(); k-- > 0;) {
    const LayerSpec& spec = spec_.layers[k];
    Layer& layer = layers_[k];
    if (!layer.has_gradient) continue;  // nothing learns from it: its gradients stay 0
    switch (spec.kind) {
      case LayerKind::free: {
        std::fill_n(layer.weight_gradient, spec.outputs, 0.0F);
        const float* dy = numbers(layer.gradients);
        for (std::int64_t row = 0; row < rows_; ++row, dy += padded(spec.outputs)) {
          for (int unit = 0; unit < spec.outputs; ++unit) layer.weight_gradient[unit] += dy[unit];
        }
        break;
      }
      case LayerKind::sde_log_std:
        backward_sde(k);
        break;
      case LayerKind::dense:
        backward_dense(k);
        break;
      default:
        break;
    }
  }
}

/// Multiplies by the activation's slope, where no layer above has.
void FusedNet::finish_gradient(std::size_t k) {
  const LayerSpec& spec = spec_.layers[k];
  Layer& layer = layers_[k];
  const bool finished = layer.finisher && layers_[*layer.finisher].has_gradient;
  if (finished || spec.activation == Activation::linear) return;
  kernels().product(
      {.c = numbers(layer.gradients),
       .c_row = layer.width,
       .rows = rows_,
       .columns = static_cast<int>(layer.width),
       .add = true,
       .slope_at = numbers(spec.activation == Activation::silu ? layer.before : layer.results),
       .slope_of = spec.activation});
}

void FusedNet::backward_dense(std::size_t k) {
  const LayerSpec& spec = spec_.layers[k];
  Layer& layer = layers_[k];
  finish_gradient(k);
  backward_weight(k);
  if (!spec.source) return;
  const LayerSpec& below_spec = spec_.layers[*spec.source];
  if (below_spec.kind == LayerKind::filter) return;
  Layer& below = layers_[*spec.source];
  const bool finishes = below.finisher == k;
  const bool silu = below_spec.activation == Activation::silu;
  kernels().product({.a = numbers(layer.gradients),
                     .a_row = layer.width,
                     .b = padded_weight(k),
                     .b_depth = below.width,
                     .c = numbers(below.gradients),
                     .c_row = below.width,
                     .rows = rows_,
                     .depth = spec.outputs,
                     .columns = static_cast<int>(below.width),
                     .add = below.has_gradient,
                     .slope_at = numbers(silu ? below.before : below.results),
                     .slope_of = finishes ? below_spec.activation : Activation::linear});
  below.has_gradient = true;
}

/// Gradients of a dense layer's parameters.
void FusedNet::backward_weight(std::size_t k) {
  const LayerSpec& spec = spec_.layers[k];
  Layer& layer = layers_[k];
  const Input x = input_of(k);
  const float* dy = numbers(layer.gradients);
  if (layer.narrow) {
    std::fill_n(layer.bias_gradient, spec.outputs, 0.0F);
    for (std::int64_t row = 0; row < rows_; ++row) {
      for (int unit = 0; unit < spec.outputs; ++unit) {
        layer.bias_gradient[unit] += dy[row * spec.outputs + unit];
      }
    }
  } else {  // to the end of the bias's 64 bytes; what lies beyond its last number are sums of 0
    kernels().column_sums({.from = dy,
                           .stride = layer.width,
                           .rows = rows_,
                           .columns = static_cast<int>(layer.width)},
                          layer.bias_gradient);
  }
  const bool whole = whole_vectors(spec.inputs);
  if (whole || spec.source) {
    float* to = whole ? layer.weight_gradient : numbers(layer.padded_weight_gradient);
    kernels().product({.a = dy,
                       .a_row = 1,
                       .a_depth = layer.width,
                       .b = x.data,
                       .b_depth = x.stride,
                       .c = to,
                       .c_row = padded(spec.inputs),
                       .rows = spec.outputs,
                       .depth = rows_,
                       .columns = padded(spec.inputs)});
    for (int unit = 0; unit < spec.outputs && !whole; ++unit) {
      std::copy_n(to + unit * padded(spec.inputs), spec.inputs,
                  layer.weight_gradient + unit * spec.inputs);
    }
    return;
  }
  float* columns = numbers(layer.weight_gradient_columns);
  kernels().product({.a = x.data,
                     .a_row = 1,
                     .a_depth = x.stride,
                     .b = dy,
                     .b_depth = layer.width,
                     .c = columns,
                     .c_row = layer.width,
                     .rows = spec.inputs,
                     .depth = rows_,
                     .columns = static_cast<int>(layer.width)});
  kernels().transpose(
      {.from = columns, .stride = layer.width, .rows = spec.inputs, .columns = spec.outputs},
      layer.weight_gradient, spec.inputs);
}

/// d log_std / d s_ij = x_i^2 exp(2 s_ij) / variance_j; what it reads does not learn from it.
void FusedNet::backward_sde(std::size_t k) {
  const LayerSpec& spec = spec_.layers[k];
  Layer& layer = layers_[k];
  const int width = padded(spec.outputs);
  float* dy = numbers(layer.gradients);
  const float* log_std = numbers(layer.results);
  for (std::int64_t row = 0; row < rows_; ++row) {
    for (int unit = 0; unit < spec.outputs; ++unit) {
      dy[row * width + unit] *= std::exp(-2.0F * log_std[row * width + unit]);
    }
  }
  float* columns = numbers(layer.weight_gradient_columns);
  kernels().product({.a = numbers(layer.before),
                     .a_row = 1,
                     .a_depth = spec.inputs,
                     .b = dy,
                     .b_depth = width,
                     .c = columns,
                     .c_row = width,
                     .rows = spec.inputs,
                     .depth = rows_,
                     .columns = width});
  const float* variances = numbers(layer.forward_weight);
  for (int i = 0; i < spec.inputs; ++i) {
    for (int unit = 0; unit < spec.outputs; ++unit) {
      layer.weight_gradient[i * spec.outputs + unit] =
          columns[i * width + unit] * variances[i * width + unit];
    }
  }
}

}  // namespace knurl::fast
