#include "knurl/models/fast/fast_net.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "knurl/core/base/check.h"
#include "knurl/models/fast/kernels.h"

namespace knurl::fast {
namespace {

/// A layer's parameters as its kernel wants them.
std::vector<ColumnSpec> parameter_columns(const LayerSpec& layer) {
  if (layer.kind == LayerKind::custom) return custom_tensors(*layer.custom, "");
  const bool conv = layer.kind == LayerKind::conv;
  const int inputs = conv ? layer.conv.patch() : layer.inputs;
  const int width = padded(conv ? layer.conv.filters : layer.outputs);
  return {{"weight", DType::float32, {inputs, width}}, {"bias", DType::float32, {width}}};
}

}  // namespace

FastNet::FastNet(NetSpec spec) : spec_(std::move(spec)) {
  for (const LayerSpec& layer : spec_.layers) {
    layers_.push_back(
        {.parameters = RecordBatch(parameter_columns(layer), 1),
         .results = RecordBatch({{"y", DType::float32, {padded(layer.outputs)}}}, 0)});
  }
}

void FastNet::set_weights(const Weights& weights) {
  check(weights.tensors.columns() == tensors_of(spec_), "weights are those of this net");
  for (std::size_t k = 0; k < layers_.size(); ++k) {
    const LayerSpec& layer = spec_.layers[k];
    const auto tensor = [&](const char* name) {
      return weights.tensors.column<float>(layer.name + name).span();
    };
    if (layer.kind == LayerKind::custom) {
      for (const ColumnSpec& column : layers_[k].parameters.columns()) {
        std::ranges::copy(tensor(("." + column.name).c_str()),
                          layers_[k].parameters.column<float>(column.name).data());
      }
      continue;
    }
    float* to = layers_[k].parameters.column<float>("weight").data();
    float* bias = layers_[k].parameters.column<float>("bias").data();
    const int width = padded(layer.outputs);
    if (layer.kind == LayerKind::free) {
      std::ranges::copy(tensor(".value"), bias);
    } else if (layer.kind ==
               LayerKind::filter) {  // the scale lies where weights of one input would
      std::ranges::copy(tensor(".scale"), to);
      std::ranges::copy(tensor(".mean"), bias);
    } else if (layer.kind == LayerKind::sde_log_std) {
      const float* from = tensor(".value").data();
      for (int i = 0; i < layer.inputs; ++i) {
        for (int unit = 0; unit < layer.outputs; ++unit) {
          to[i * width + unit] = std::exp(2.0F * *from++);
        }
      }
      std::fill_n(bias, layer.outputs, kSdeEpsilon);
    } else if (layer.kind == LayerKind::conv) {
      arrange_conv_weights(layer.conv, tensor(".weight").data(), to);
      std::ranges::copy(tensor(".bias"), bias);
    } else {
      const float* from = tensor(".weight").data();
      for (int unit = 0; unit < layer.outputs; ++unit) {
        for (int i = 0; i < layer.inputs; ++i) to[i * width + unit] = *from++;
      }
      std::ranges::copy(tensor(".bias"), bias);
    }
  }
  version_ = weights.version;
}

void FastNet::forward(const float* input, std::int64_t rows, std::int64_t stride) {
  for (std::size_t k = 0; k < layers_.size(); ++k) forward_layer(k, input, rows, stride);
  join_outputs(rows);
}

void FastNet::forward_layer(std::size_t k, const float* input, std::int64_t rows,
                            std::int64_t stride) {
  const LayerSpec& spec = spec_.layers[k];
  Layer& layer = layers_[k];
  const int width = padded(spec.outputs);
  if (layer.results.rows() < rows) {
    layer.results = RecordBatch({{"y", DType::float32, {width}}}, rows);
  }
  float* y = layer.results.column<float>("y").data();
  if (spec.kind == LayerKind::free) {
    const float* value = layer.parameters.column<float>("bias").data();
    for (std::int64_t row = 0; row < rows; ++row) std::copy_n(value, width, y + row * width);
    return;
  }
  const float* x = input;
  std::int64_t x_stride = stride;
  if (spec.source) {
    x = layers_[*spec.source].results.column<float>("y").data();
    x_stride = padded(spec_.layers[*spec.source].outputs);
  }
  if (spec.kind == LayerKind::conv) {
    convolution_.run(spec.conv, {.x = x,
                                 .x_stride = x_stride,
                                 .weight = layer.parameters.column<float>("weight").data(),
                                 .bias = layer.parameters.column<float>("bias").data(),
                                 .y = y,
                                 .y_stride = width,
                                 .rows = rows,
                                 .activation = spec.activation});
    return;
  }
  if (spec.kind == LayerKind::custom) {
    run_custom_layer(*spec.custom, spec.name,
                     tensors_in<const float>(std::as_const(layer.parameters), *spec.custom, ""),
                     {.data = x, .rows = rows, .stride = x_stride, .size = spec.inputs},
                     {.data = y, .rows = rows, .stride = width, .size = spec.outputs});
    return;
  }
  if (spec.kind == LayerKind::filter) {
    const float* mean = layer.parameters.column<float>("bias").data();
    const float* scale = layer.parameters.column<float>("weight").data();
    for (std::int64_t row = 0; row < rows; ++row) {
      for (int i = 0; i < spec.outputs; ++i) {
        const float filtered = (x[row * x_stride + i] - mean[i]) * scale[i];
        y[row * width + i] = std::clamp(filtered, -kFilterClip, kFilterClip);
      }
    }
    return;
  }
  if (spec.kind == LayerKind::sde_log_std) {
    squares_.resize(static_cast<std::size_t>(rows * spec.inputs));
    for (std::int64_t row = 0; row < rows; ++row) {
      std::transform(x + row * x_stride, x + row * x_stride + spec.inputs,
                     squares_.data() + row * spec.inputs, [](float v) { return v * v; });
    }
    x = squares_.data();
    x_stride = spec.inputs;
  }
  kernels().dense({.x = x,
                   .x_stride = x_stride,
                   .weight = layer.parameters.column<float>("weight").data(),
                   .bias = layer.parameters.column<float>("bias").data(),
                   .y = y,
                   .rows = rows,
                   .inputs = spec.inputs,
                   .padded_outputs = width,
                   .activation = spec.activation});
  if (spec.kind != LayerKind::sde_log_std) return;
  for (std::int64_t row = 0; row < rows; ++row) {
    for (int unit = 0; unit < spec.outputs; ++unit) {
      y[row * width + unit] = 0.5F * std::log(y[row * width + unit]);
    }
  }
}

/// Lays the results of several layers one behind the other.
void FastNet::join_outputs(std::int64_t rows) {
  joined_.resize(spec_.outputs.size());
  for (std::size_t i = 0; i < spec_.outputs.size(); ++i) {
    const NetOutput& output = spec_.outputs[i];
    if (output.layers.size() == 1) continue;
    const int size = size_of(spec_, output);
    joined_[i].resize(static_cast<std::size_t>(rows * size));
    std::int64_t first = 0;
    for (const std::size_t layer : output.layers) {
      const int outputs = spec_.layers[layer].outputs;
      const float* from = layers_[layer].results.column<float>("y").data();
      for (std::int64_t row = 0; row < rows; ++row) {
        std::copy_n(from + row * padded(outputs), outputs, joined_[i].data() + row * size + first);
      }
      first += outputs;
    }
  }
}

FastNet::Output FastNet::output(std::string_view name) const {
  const auto found = std::ranges::find(spec_.outputs, name, &NetOutput::name);
  check(found != spec_.outputs.end(), fmt::format("the net has an output {}", name));
  if (found->layers.size() > 1) {
    const int size = size_of(spec_, *found);
    const auto index = static_cast<std::size_t>(found - spec_.outputs.begin());
    return {.data = joined_[index].data(), .stride = size, .size = size};
  }
  return layer_output(found->layers.front());
}

FastNet::Output FastNet::layer_output(std::size_t layer) const {
  return {.data = layers_[layer].results.column<float>("y").data(),
          .stride = padded(spec_.layers[layer].outputs),
          .size = spec_.layers[layer].outputs};
}

}  // namespace knurl::fast
