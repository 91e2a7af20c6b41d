#include "knurl/models/net_spec.h"

#include <cmath>

#include <fmt/format.h>

#include "knurl/core/base/enum_names.h"
#include "knurl/core/base/text.h"

namespace knurl {
namespace {

using Source = std::optional<std::size_t>;

int width_of(const NetSpec& net, const Source& source) {
  return source ? net.layers[*source].outputs : net.inputs;
}

/// Appends a stack of hidden layers on top of `source`; returns its last layer.
Source append_hidden(NetSpec& net, const HiddenLayers& hidden, const std::string& prefix,
                     Source source) {
  for (std::size_t i = 0; i < hidden.units.size(); ++i) {
    net.layers.push_back({.name = fmt::format("{}hidden.{}", prefix, i),
                          .inputs = width_of(net, source),
                          .outputs = hidden.units[i],
                          .activation = hidden.activation,
                          .source = source});
    source = net.layers.size() - 1;
  }
  return source;
}

std::int64_t num_parameters(const DenseLayer& layer) {
  return static_cast<std::int64_t>(layer.outputs) * (layer.inputs + 1);
}

}  // namespace

NetSpec make_net(int inputs, const HiddenLayers& trunk, const std::vector<HeadSpec>& heads) {
  NetSpec net{.inputs = inputs};
  const Source trunk_end = append_hidden(net, trunk, "", std::nullopt);
  for (const HeadSpec& head : heads) {
    const Source source = append_hidden(net, head.hidden, head.name + ".", trunk_end);
    net.layers.push_back({.name = head.name + ".out",
                          .inputs = width_of(net, source),
                          .outputs = head.size,
                          .source = source,
                          .init_norm = head.init_norm});
    net.outputs.push_back({.name = head.output, .layer = net.layers.size() - 1});
  }
  return net;
}

std::vector<ColumnSpec> tensors_of(const NetSpec& spec) {
  std::vector<ColumnSpec> out;
  for (const DenseLayer& layer : spec.layers) {
    out.push_back({layer.name + ".weight", DType::float32, {layer.outputs, layer.inputs}});
    out.push_back({layer.name + ".bias", DType::float32, {layer.outputs}});
  }
  return out;
}

Weights fresh_weights(const NetSpec& spec, Rng rng) {
  Weights weights{.tensors = RecordBatch(tensors_of(spec), 1)};
  for (const DenseLayer& layer : spec.layers) {
    Rng stream = rng.split(layer.name);
    float* weight = weights.tensors.column<float>(layer.name + ".weight").data();
    const auto inputs = static_cast<std::size_t>(layer.inputs);
    std::vector<double> row(inputs);
    for (int unit = 0; unit < layer.outputs; ++unit) {
      double squares = 0.0;
      for (double& value : row) {
        value = stream.normal();
        squares += value * value;
      }
      const double scale = layer.init_norm / std::sqrt(squares);
      for (const double value : row) *weight++ = static_cast<float>(value * scale);
    }
  }
  return weights;
}

std::string summary(const NetSpec& spec) {
  const std::string line(86, '-');
  std::string out = fmt::format("{:<26}{:<16}{:<12}{:>12}   {}\n{}\n", "Layer (type)",
                                "Output Shape", "Activation", "Param #", "Connected to", line);
  out += fmt::format("{:<26}{:<16}{:<12}{:>12}\n", "observations (Input)",
                     fmt::format("[N, {}]", spec.inputs), "", 0);
  std::int64_t total = 0;
  for (const DenseLayer& layer : spec.layers) {
    const std::string source = layer.source ? spec.layers[*layer.source].name : "observations";
    out += fmt::format("{:<26}{:<16}{:<12}{:>12}   {}\n", layer.name + " (Dense)",
                       fmt::format("[N, {}]", layer.outputs), name_of(layer.activation),
                       grouped(num_parameters(layer)), source);
    total += num_parameters(layer);
  }
  return out + fmt::format("{}\nTotal params: {}\nTrainable params: {}\nNon-trainable params: 0\n",
                           line, grouped(total), grouped(total));
}

}  // namespace knurl
