#include "knurl/models/net_spec.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <set>
#include <span>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "knurl/core/base/enum_names.h"
#include "knurl/core/base/error.h"
#include "knurl/core/base/text.h"
#include "knurl/models/columns.h"

namespace knurl {
namespace {

using Source = std::optional<std::size_t>;

int width_of(const NetSpec& net, const Source& source) {
  return source ? net.layers[*source].outputs : observation_inputs(net);
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
                          .init_norm = hidden.init == WeightInit::orthogonal ? std::sqrt(2.0) : 1.0,
                          .init = hidden.init,
                          .sigma0 = sigma0});
    source = net.layers.size() - 1;
  }
  return source;
}

std::int64_t num_parameters(const LayerSpec& layer) {
  if (layer.kind == LayerKind::free) return layer.outputs;
  if (layer.kind == LayerKind::filter) return std::int64_t{2} * layer.outputs;
  if (layer.kind == LayerKind::sde_log_std) return std::int64_t{layer.inputs} * layer.outputs;
  if (layer.kind == LayerKind::lstm) {
    return std::int64_t{4} * layer.outputs * (layer.inputs + layer.outputs + 2);
  }
  const std::int64_t copies = layer.sigma0 > 0.0 ? 2 : 1;
  return copies * layer.outputs * (layer.inputs + 1);
}

/// Orthonormal rows, or columns where there are more rows, times the norm: Gram and Schmidt on
/// normal numbers.
void fill_orthogonal(std::span<float> weight, std::size_t inputs, double norm, Rng& rng) {
  const std::size_t outputs = weight.size() / inputs;
  const std::size_t count = std::min(inputs, outputs);
  const std::size_t length = std::max(inputs, outputs);
  std::vector<std::vector<double>> vectors(count, std::vector<double>(length));
  for (std::size_t v = 0; v < count; ++v) {
    for (double& x : vectors[v]) x = rng.normal();
    for (int pass = 0; pass < 2; ++pass) {  // the second takes what rounding left
      for (std::size_t w = 0; w < v; ++w) {
        const double along =
            std::inner_product(vectors[v].begin(), vectors[v].end(), vectors[w].begin(), 0.0);
        for (std::size_t i = 0; i < length; ++i) vectors[v][i] -= along * vectors[w][i];
      }
    }
    const double size = std::sqrt(
        std::inner_product(vectors[v].begin(), vectors[v].end(), vectors[v].begin(), 0.0));
    for (double& x : vectors[v]) x /= size;
  }
  for (std::size_t unit = 0; unit < outputs; ++unit) {
    for (std::size_t i = 0; i < inputs; ++i) {
      const double x = outputs <= inputs ? vectors[unit][i] : vectors[i][unit];
      weight[unit * inputs + i] = static_cast<float>(norm * x);
    }
  }
}

/// "value" of "value.hidden.0"; what heads share has no head's name before it.
std::string part_of(const LayerSpec& layer) {
  if (layer.name.starts_with("hidden.") || layer.kind == LayerKind::filter ||
      layer.kind == LayerKind::lstm) {
    return "base_model";
  }
  return layer.name.substr(0, layer.name.find('.'));
}

std::string_view type_of(const LayerSpec& layer) {
  if (layer.kind == LayerKind::free) return "Free";
  if (layer.kind == LayerKind::sde_log_std) return "Noise";
  if (layer.kind == LayerKind::filter) return "Filter";
  if (layer.kind == LayerKind::lstm) return "LSTM";
  return layer.sigma0 > 0.0 ? "Noisy" : "Dense";
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

void fill(const LayerSpec& layer, RecordBatch& tensors, Rng& rng) {
  const auto tensor = [&](const char* name) {
    return tensors.column<float>(layer.name + name).span();
  };
  const double inputs = layer.inputs;
  if (layer.kind == LayerKind::filter) {
    std::ranges::fill(tensor(".scale"), 1.0F);
    return;
  }
  if (layer.kind == LayerKind::lstm) {  // as PyTorch's
    for (const char* name : {".weight_ih", ".weight_hh", ".bias_ih", ".bias_hh"}) {
      fill_uniform(tensor(name), 1.0 / std::sqrt(layer.outputs), rng);
    }
    return;
  }
  if (layer.kind != LayerKind::dense) {
    std::ranges::fill(tensor(".value"), static_cast<float>(layer.fresh));
    return;
  }
  if (layer.sigma0 > 0.0 || layer.init == WeightInit::torch_linear) {
    fill_uniform(tensor(".weight"), 1.0 / std::sqrt(inputs), rng);
    fill_uniform(tensor(".bias"), 1.0 / std::sqrt(inputs), rng);
  } else if (layer.init == WeightInit::xavier_uniform) {
    fill_uniform(tensor(".weight"), std::sqrt(6.0 / (inputs + layer.outputs)), rng);
  } else if (layer.init == WeightInit::orthogonal) {
    fill_orthogonal(tensor(".weight"), static_cast<std::size_t>(layer.inputs), layer.init_norm,
                    rng);
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

NetSpec make_net(int inputs, const HiddenLayers& trunk, const std::vector<HeadSpec>& heads,
                 const std::optional<LstmSpec>& lstm) {
  NetSpec net{.inputs = inputs};
  Source trunk_end = append_hidden(net, trunk, "", std::nullopt);
  if (lstm) {
    net.extras = lstm->extras;
    const auto extras = static_cast<int>(width_of(net.extras));
    net.inputs += extras;
    net.layers.push_back({.name = "lstm",
                          .inputs = width_of(net, trunk_end) + extras,
                          .outputs = lstm->cells,
                          .source = trunk_end,
                          .kind = LayerKind::lstm});
    trunk_end = net.layers.size() - 1;
  }
  for (const HeadSpec& head : heads) {
    const Source source = append_hidden(net, head.hidden, head.name + ".", trunk_end, head.sigma0);
    net.layers.push_back({.name = head.name + ".out",
                          .inputs = width_of(net, source),
                          .outputs = head.size,
                          .source = source,
                          .init_norm = head.init_norm,
                          .init = head.init,
                          .sigma0 = head.sigma0});
    net.outputs.push_back({.name = head.output, .layers = {net.layers.size() - 1}});
    if (!head.log_std) continue;
    const bool free = head.log_std->kind == LayerKind::free;
    net.layers.push_back({.name = head.name + ".log_std",
                          .inputs = free ? 0 : width_of(net, source),
                          .outputs = head.log_std->size,
                          .source = free ? std::nullopt : source,
                          .kind = head.log_std->kind,
                          .fresh = head.log_std->fresh});
    net.outputs.back().layers.push_back(net.layers.size() - 1);
  }
  return net;
}

NetSpec with_filter(NetSpec spec) {
  for (LayerSpec& layer : spec.layers) {
    if (layer.source) {
      ++*layer.source;
    } else if (layer.kind != LayerKind::free) {
      layer.source = 0;
    }
  }
  for (NetOutput& output : spec.outputs) {
    for (std::size_t& layer : output.layers) ++layer;
  }
  const int inputs = observation_inputs(spec);
  spec.layers.insert(
      spec.layers.begin(),
      {.name = "filter", .inputs = inputs, .outputs = inputs, .kind = LayerKind::filter});
  return spec;
}

int observation_inputs(const NetSpec& spec) {
  return spec.inputs - static_cast<int>(width_of(spec.extras));
}

std::optional<std::size_t> lstm_layer(const NetSpec& spec) {
  const auto found = std::ranges::find(spec.layers, LayerKind::lstm, &LayerSpec::kind);
  if (found == spec.layers.end()) return std::nullopt;
  return static_cast<std::size_t>(found - spec.layers.begin());
}

std::vector<ColumnSpec> state_of(const NetSpec& spec) {
  const auto layer = lstm_layer(spec);
  if (!layer) return {};
  const Shape cells{spec.layers[*layer].outputs};
  return {{column::kStateH, DType::float32, cells}, {column::kStateC, DType::float32, cells}};
}

std::vector<ColumnSpec> memory_of(const NetSpec& spec) {
  std::vector<ColumnSpec> out = state_of(spec);
  out.insert(out.end(), spec.extras.begin(), spec.extras.end());
  return out;
}

int size_of(const NetSpec& spec, const NetOutput& output) {
  int size = 0;
  for (const std::size_t layer : output.layers) size += spec.layers[layer].outputs;
  return size;
}

std::vector<ColumnSpec> tensors_of(const NetSpec& spec) {
  std::vector<ColumnSpec> out;
  for (const LayerSpec& layer : spec.layers) {
    if (layer.kind == LayerKind::free) {
      out.push_back({layer.name + ".value", DType::float32, {layer.outputs}});
      continue;
    }
    if (layer.kind == LayerKind::filter) {
      out.push_back({layer.name + ".mean", DType::float32, {layer.outputs}});
      out.push_back({layer.name + ".scale", DType::float32, {layer.outputs}});
      continue;
    }
    if (layer.kind == LayerKind::sde_log_std) {
      out.push_back({layer.name + ".value", DType::float32, {layer.inputs, layer.outputs}});
      continue;
    }
    if (layer.kind == LayerKind::lstm) {
      const std::int64_t gates = std::int64_t{4} * layer.outputs;
      out.push_back({layer.name + ".weight_ih", DType::float32, {gates, layer.inputs}});
      out.push_back({layer.name + ".weight_hh", DType::float32, {gates, layer.outputs}});
      out.push_back({layer.name + ".bias_ih", DType::float32, {gates}});
      out.push_back({layer.name + ".bias_hh", DType::float32, {gates}});
      continue;
    }
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
  for (const LayerSpec& layer : spec.layers) {
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
  std::int64_t fixed = 0;  // not moved by gradients
  std::set<std::string> parts;
  for (const LayerSpec& layer : spec.layers) {
    parts.insert(part_of(layer));
    if (!part.empty() && part_of(layer) != part) continue;
    const std::string source = layer.source                    ? spec.layers[*layer.source].name
                               : layer.kind == LayerKind::free ? "nothing"
                                                               : "observations";
    const std::string_view type = type_of(layer);
    out += fmt::format("{:<26}{:<16}{:<12}{:>12}   {}\n", fmt::format("{} ({})", layer.name, type),
                       fmt::format("[N, {}]", layer.outputs), name_of(layer.activation),
                       grouped(num_parameters(layer)), source);
    total += num_parameters(layer);
    if (layer.kind == LayerKind::filter) fixed += num_parameters(layer);
  }
  if (!part.empty() && !parts.contains(part)) {
    fail(ErrorKind::config, "the model has no part {}; there are {}", part, fmt::join(parts, ", "));
  }
  return out + fmt::format("{}\nTotal params: {}\nTrainable params: {}\nNon-trainable params: {}\n",
                           line, grouped(total), grouped(total - fixed), grouped(fixed));
}

}  // namespace knurl
