#include "knurl/models/fast/fast_net.h"

#include <algorithm>

#include <fmt/format.h>

#include "knurl/core/base/check.h"
#include "knurl/models/fast/kernels.h"

namespace knurl::fast {

FastNet::FastNet(NetSpec spec) : spec_(std::move(spec)) {
  for (const DenseLayer& layer : spec_.layers) {
    layers_.push_back(
        {.parameters =
             RecordBatch({{"weight", DType::float32, {layer.inputs, padded(layer.outputs)}},
                          {"bias", DType::float32, {padded(layer.outputs)}}},
                         1),
         .results = RecordBatch({{"y", DType::float32, {padded(layer.outputs)}}}, 0)});
  }
}

void FastNet::set_weights(const Weights& weights) {
  check(weights.tensors.columns() == tensors_of(spec_), "weights are those of this net");
  for (std::size_t k = 0; k < layers_.size(); ++k) {
    const DenseLayer& layer = spec_.layers[k];
    const float* from = weights.tensors.column<float>(layer.name + ".weight").data();
    float* to = layers_[k].parameters.column<float>("weight").data();
    const int width = padded(layer.outputs);
    for (int unit = 0; unit < layer.outputs; ++unit) {
      for (int i = 0; i < layer.inputs; ++i) to[i * width + unit] = *from++;
    }
    const auto bias = weights.tensors.column<float>(layer.name + ".bias").span();
    std::ranges::copy(bias, layers_[k].parameters.column<float>("bias").data());
  }
  version_ = weights.version;
}

void FastNet::forward(const float* input, std::int64_t rows, std::int64_t stride) {
  const Kernels& use = kernels();
  for (std::size_t k = 0; k < layers_.size(); ++k) {
    const DenseLayer& spec = spec_.layers[k];
    Layer& layer = layers_[k];
    const int width = padded(spec.outputs);
    if (layer.results.rows() < rows) {
      layer.results = RecordBatch({{"y", DType::float32, {width}}}, rows);
    }
    const float* x = input;
    std::int64_t x_stride = stride;
    if (spec.source) {
      x = layers_[*spec.source].results.column<float>("y").data();
      x_stride = padded(spec_.layers[*spec.source].outputs);
    }
    use.dense({.x = x,
               .x_stride = x_stride,
               .weight = layer.parameters.column<float>("weight").data(),
               .bias = layer.parameters.column<float>("bias").data(),
               .y = layer.results.column<float>("y").data(),
               .rows = rows,
               .inputs = spec.inputs,
               .padded_outputs = width,
               .activation = spec.activation});
  }
}

FastNet::Output FastNet::output(std::string_view name) const {
  const auto found = std::ranges::find(spec_.outputs, name, &NetOutput::name);
  check(found != spec_.outputs.end(), fmt::format("the net has an output {}", name));
  const std::size_t index = found->layer;
  return {.data = layers_[index].results.column<float>("y").data(),
          .stride = padded(spec_.layers[index].outputs),
          .size = spec_.layers[index].outputs};
}

}  // namespace knurl::fast
