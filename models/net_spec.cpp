#include "knurl/models/net_spec.h"

#include <algorithm>
#include <cmath>
#include <set>
#include <span>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "knurl/core/base/enum_names.h"
#include "knurl/core/base/error.h"
#include "knurl/core/base/text.h"

namespace knurl {
namespace {

using Source = std::optional<std::size_t>;

int width_of(const NetSpec& net, const Source& source) {
  return source ? net.layers[*source].outputs : net.inputs;
}

/// Appends a stack of hidden layers on top of `source`; returns its last layer.
Source append_hidden(NetSpec& net, const HiddenLayers& hidden, const std::string& prefix,
                     Source source, double sigma0 = 0.0) {
  for (std::size_t i = 0; i < hidden.units.size(); ++i) {
    net.layers.push_back({.name = fmt::format("{}hidden.{}", prefix, i),
                          .inputs = width_of(net, source),
                          .outputs = hidden.units[i],
                          .activation = hidden.activation,
                          .source = source,
                          .init = hidden.init,
                          .sigma0 = sigma0});
    source = net.layers.size() - 1;
  }
  return source;
}

std::int64_t num_parameters(const DenseLayer& layer) {
  const std::int64_t copies = layer.sigma0 > 0.0 ? 2 : 1;
  return copies * layer.outputs * (layer.inputs + 1);
}

/// "value" of "value.hidden.0"; what heads share has no head's name before it.
std::string part_of(const DenseLayer& layer) {
  if (layer.name.starts_with("hidden.")) return "base_model";
  return layer.name.substr(0, layer.name.find('.'));
}

void fill_normc(std::span<float> weight, std::size_t inputs, double norm, Rng& rng) {
  std::vector<double> row(inputs);
  for (std::size_t unit = 0; unit < weight.size() / inputs; ++unit) {
    double squares = 0.0;
    for (double& value : row) {
      value = rng.normal();
      squares += value * value;
    }
    const double scale = norm / std::sqrt(squares);
    for (std::size_t i = 0; i < inputs; ++i) {
      weight[unit * inputs + i] = static_cast<float>(row[i] * scale);
    }
  }
}

void fill_uniform(std::span<float> numbers, double bound, Rng& rng) {
  for (float& x : numbers) x = static_cast<float>(rng.uniform(-bound, bound));
}

void fill(const DenseLayer& layer, RecordBatch& tensors, Rng& rng) {
  const auto tensor = [&](const char* name) {
    return tensors.column<float>(layer.name + name).span();
  };
  const double inputs = layer.inputs;
  if (layer.sigma0 > 0.0 || layer.init == WeightInit::torch_linear) {
    fill_uniform(tensor(".weight"), 1.0 / std::sqrt(inputs), rng);
    fill_uniform(tensor(".bias"), 1.0 / std::sqrt(inputs), rng);
  } else if (layer.init == WeightInit::xavier_uniform) {
    fill_uniform(tensor(".weight"), std::sqrt(6.0 / (inputs + layer.outputs)), rng);
  } else {
    fill_normc(tensor(".weight"), static_cast<std::size_t>(layer.inputs), layer.init_norm, rng);
  }
  if (layer.sigma0 > 0.0) {
    const auto sigma = static_cast<float>(layer.sigma0 / std::sqrt(inputs));
    std::ranges::fill(tensor(".weight_sigma"), sigma);
    std::ranges::fill(tensor(".bias_sigma"), sigma);
  }
}

}  // namespace

NetSpec make_net(int inputs, const HiddenLayers& trunk, const std::vector<HeadSpec>& heads) {
  NetSpec net{.inputs = inputs};
  const Source trunk_end = append_hidden(net, trunk, "", std::nullopt);
  for (const HeadSpec& head : heads) {
    const Source source = append_hidden(net, head.hidden, head.name + ".", trunk_end, head.sigma0);
    net.layers.push_back({.name = head.name + ".out",
                          .inputs = width_of(net, source),
                          .outputs = head.size,
                          .source = source,
                          .init_norm = head.init_norm,
                          .init = head.init,
                          .sigma0 = head.sigma0});
    net.outputs.push_back({.name = head.output, .layer = net.layers.size() - 1});
  }
  return net;
}

std::vector<ColumnSpec> tensors_of(const NetSpec& spec) {
  std::vector<ColumnSpec> out;
  for (const DenseLayer& layer : spec.layers) {
    out.push_back({layer.name + ".weight", DType::float32, {layer.outputs, layer.inputs}});
    out.push_back({layer.name + ".bias", DType::float32, {layer.outputs}});
    if (layer.sigma0 == 0.0) continue;
    out.push_back({layer.name + ".weight_sigma", DType::float32, {layer.outputs, layer.inputs}});
    out.push_back({layer.name + ".bias_sigma", DType::float32, {layer.outputs}});
  }
  return out;
}

Weights fresh_weights(const NetSpec& spec, Rng rng) {
  Weights weights{.tensors = RecordBatch(tensors_of(spec), 1)};
  for (const DenseLayer& layer : spec.layers) {
    Rng stream = rng.split(layer.name);
    fill(layer, weights.tensors, stream);
  }
  return weights;
}

std::string summary(const NetSpec& spec, const std::string& part) {
  const std::string line(86, '-');
  std::string out = fmt::format("{:<26}{:<16}{:<12}{:>12}   {}\n{}\n", "Layer (type)",
                                "Output Shape", "Activation", "Param #", "Connected to", line);
  if (part.empty() || part == "base_model") {
    out += fmt::format("{:<26}{:<16}{:<12}{:>12}\n", "observations (Input)",
                       fmt::format("[N, {}]", spec.inputs), "", 0);
  }
  std::int64_t total = 0;
  std::set<std::string> parts;
  for (const DenseLayer& layer : spec.layers) {
    parts.insert(part_of(layer));
    if (!part.empty() && part_of(layer) != part) continue;
    const std::string source = layer.source ? spec.layers[*layer.source].name : "observations";
    const std::string_view type = layer.sigma0 > 0.0 ? "Noisy" : "Dense";
    out += fmt::format("{:<26}{:<16}{:<12}{:>12}   {}\n", fmt::format("{} ({})", layer.name, type),
                       fmt::format("[N, {}]", layer.outputs), name_of(layer.activation),
                       grouped(num_parameters(layer)), source);
    total += num_parameters(layer);
  }
  if (!part.empty() && !parts.contains(part)) {
    fail(ErrorKind::config, "the model has no part {}; there are {}", part, fmt::join(parts, ", "));
  }
  return out + fmt::format("{}\nTotal params: {}\nTrainable params: {}\nNon-trainable params: 0\n",
                           line, grouped(total), grouped(total));
}

}  // namespace knurl
