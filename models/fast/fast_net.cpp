#include "knurl/models/fast/fast_net.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "knurl/core/base/check.h"
#include "knurl/models/columns.h"
#include "knurl/models/fast/kernels.h"
#include "knurl/models/fast/narrow.h"

namespace knurl::fast {
namespace {

/// A layer's parameters as its kernel wants them.
std::vector<ColumnSpec> parameter_columns(const LayerSpec& layer) {
  if (layer.kind == LayerKind::custom) return custom_tensors(*layer.custom, "");
  int inputs = layer.inputs;
  int width = padded(layer.outputs);
  if (layer.kind == LayerKind::conv) {
    inputs = layer.conv.patch();
    width = padded(layer.conv.filters);
  } else if (layer.kind == LayerKind::lstm) {  // four gates, which read its output too
    inputs += layer.outputs;
    width *= 4;
  }
  return {{"weight", DType::float32, {inputs, width}}, {"bias", DType::float32, {width}}};
}

/// The same of a layer of dot products.
std::vector<ColumnSpec> narrow_columns(const LayerSpec& layer) {
  return {{"weight", DType::float32, {layer.outputs, padded(layer.inputs)}},
          {"bias", DType::float32, {layer.outputs}}};
}

}  // namespace

FastNet::FastNet(NetSpec spec) : spec_(std::move(spec)) {
  for (std::size_t k = 0; k < spec_.layers.size(); ++k) {
    const LayerSpec& layer = spec_.layers[k];
    const bool narrow = is_narrow(spec_, k);
    const int width = narrow ? layer.outputs : padded(layer.outputs);
    layers_.push_back(
        {.parameters = RecordBatch(narrow ? narrow_columns(layer) : parameter_columns(layer), 1),
         .results = RecordBatch({{"y", DType::float32, {width}}}, 0),
         .narrow = narrow,
         .width = width});
  }
}

void FastNet::set_weights(const Weights& weights) {
  check(weights.tensors.columns() == tensors_of(spec_), "weights are those of this net");
  for (std::size_t k = 0; k < layers_.size(); ++k) {
    const LayerSpec& layer = spec_.layers[k];
    if (layer.kind == LayerKind::lstm) {
      set_lstm_weights(layer, weights, layers_[k]);
      continue;
    }
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
    } else if (layers_[k].narrow) {
      const float* from = tensor(".weight").data();
      for (int unit = 0; unit < layer.outputs; ++unit, from += layer.inputs) {
        std::copy_n(from, layer.inputs, to + unit * padded(layer.inputs));
      }
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

/// Weights of x, then of h, as rows; the gates' columns one padded block after the other.
void FastNet::set_lstm_weights(const LayerSpec& spec, const Weights& weights, Layer& layer) {
  const auto tensor = [&](const char* name) {
    return weights.tensors.column<float>(spec.name + name).span();
  };
  const int width = padded(spec.outputs);
  float* to = layer.parameters.column<float>("weight").data();
  float* bias = layer.parameters.column<float>("bias").data();
  const float* of_x = tensor(".weight_ih").data();
  const float* of_h = tensor(".weight_hh").data();
  const float* bias_x = tensor(".bias_ih").data();
  const float* bias_h = tensor(".bias_hh").data();
  for (int gate = 0; gate < 4; ++gate) {
    for (int cell = 0; cell < spec.outputs; ++cell) {
      float* column = to + gate * width + cell;
      for (int i = 0; i < spec.inputs; ++i, column += 4 * width) *column = *of_x++;
      for (int i = 0; i < spec.outputs; ++i, column += 4 * width) *column = *of_h++;
      bias[gate * width + cell] = *bias_x++ + *bias_h++;
    }
  }
}

void FastNet::forward(const float* input, std::int64_t rows, std::int64_t stride,
                      const RecordBatch* memory) {
  const Input net_input{.data = input, .rows = rows, .stride = stride};
  for (std::size_t k = 0; k < layers_.size(); ++k) forward_layer(k, net_input, memory);
  join_outputs(rows);
}

void FastNet::forward_lstm(const LayerSpec& spec, Layer& layer, const Input& x,
                           const Input& net_input, const RecordBatch* memory) {
  const std::int64_t rows = x.rows;
  const int width = padded(spec.outputs);
  const int extras = spec_.inputs - observation_inputs(spec_);
  const int reads = spec.inputs + spec.outputs;
  lstm_inputs_.assign(static_cast<std::size_t>(rows * reads), 0.0F);
  lstm_gates_.resize(static_cast<std::size_t>(rows * 4 * width));
  lstm_cells_.assign(static_cast<std::size_t>(rows * width), 0.0F);
  for (std::int64_t row = 0; row < rows; ++row) {
    float* to = lstm_inputs_.data() + row * reads;
    to = std::copy_n(x.data + row * x.stride, spec.inputs - extras, to);
    const float* last = net_input.data + row * net_input.stride + spec_.inputs - extras;
    to = std::copy_n(last, extras, to);
    if (!memory) continue;
    std::ranges::copy(memory->column<float>(column::kStateH).row(row), to);
    std::ranges::copy(memory->column<float>(column::kStateC).row(row),
                      lstm_cells_.data() + row * width);
  }
  kernels().dense({.x = lstm_inputs_.data(),
                   .x_stride = reads,
                   .weight = layer.parameters.column<float>("weight").data(),
                   .bias = layer.parameters.column<float>("bias").data(),
                   .y = lstm_gates_.data(),
                   .rows = rows,
                   .inputs = reads,
                   .padded_outputs = 4 * width});
  kernels().lstm({.gates = lstm_gates_.data(),
                  .cells = lstm_cells_.data(),
                  .out = layer.results.column<float>("y").data(),
                  .rows = rows,
                  .width = width});
}

void FastNet::forward_layer(std::size_t k, const Input& net_input, const RecordBatch* memory) {
  const LayerSpec& spec = spec_.layers[k];
  const std::int64_t rows = net_input.rows;
  Layer& layer = layers_[k];
  const int width = layer.width;
  if (layer.results.rows() < rows) {
    layer.results = RecordBatch({{"y", DType::float32, {width}}}, rows);
  }
  float* y = layer.results.column<float>("y").data();
  if (spec.kind == LayerKind::free) {
    const float* value = layer.parameters.column<float>("bias").data();
    for (std::int64_t row = 0; row < rows; ++row) std::copy_n(value, width, y + row * width);
    return;
  }
  const float* x = net_input.data;
  std::int64_t x_stride = net_input.stride;
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
  if (spec.kind == LayerKind::lstm) {
    forward_lstm(spec, layer, {.data = x, .rows = rows, .stride = x_stride}, net_input, memory);
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
  if (layer.narrow) {
    return kernels().narrow({.x = x,
                             .x_stride = x_stride,
                             .weight = layer.parameters.column<float>("weight").data(),
                             .bias = layer.parameters.column<float>("bias").data(),
                             .y = y,
                             .rows = rows,
                             .inputs = padded(spec.inputs),
                             .outputs = spec.outputs});
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
        std::copy_n(from + row * layers_[layer].width, outputs,
                    joined_[i].data() + row * size + first);
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
          .stride = layers_[layer].width,
          .size = spec_.layers[layer].outputs};
}

FastNet::Output FastNet::lstm_cells() const {
  const auto layer = lstm_layer(spec_);
  check(layer.has_value(), "the net has an lstm layer");
  const int cells = spec_.layers[*layer].outputs;
  return {.data = lstm_cells_.data(), .stride = padded(cells), .size = cells};
}

}  // namespace knurl::fast
