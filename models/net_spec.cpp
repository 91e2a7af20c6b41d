#include "knurl/models/net_spec.h"

#include <algorithm>
#include <cmath>
#include <set>

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
  const Source below = source;
  const std::size_t offset = net.layers.size();
  for (LayerSpec layer : hidden.first) {
    layer.name = prefix + layer.name;
    layer.source = layer.source ? Source(offset + *layer.source) : below;
    net.layers.push_back(std::move(layer));
    source = net.layers.size() - 1;
  }
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

std::vector<ColumnSpec> tensors_of(const LayerSpec& layer) {
  const auto tensor = [&](const char* name, Shape shape) {
    return ColumnSpec{layer.name + name, DType::float32, std::move(shape)};
  };
  if (layer.kind == LayerKind::free) return {tensor(".value", {layer.outputs})};
  if (layer.kind == LayerKind::filter) {
    return {tensor(".mean", {layer.outputs}), tensor(".scale", {layer.outputs})};
  }
  if (layer.kind == LayerKind::sde_log_std) {
    return {tensor(".value", {layer.inputs, layer.outputs})};
  }
  if (layer.kind == LayerKind::conv) {
    const ConvShape& conv = layer.conv;
    return {tensor(".weight", {conv.filters, conv.channels, conv.kernel[0], conv.kernel[1]}),
            tensor(".bias", {conv.filters})};
  }
  if (layer.kind == LayerKind::custom) return custom_tensors(*layer.custom, layer.name + ".");
  if (layer.kind == LayerKind::lstm) {
    const std::int64_t gates = std::int64_t{4} * layer.outputs;
    return {tensor(".weight_ih", {gates, layer.inputs}),
            tensor(".weight_hh", {gates, layer.outputs}), tensor(".bias_ih", {gates}),
            tensor(".bias_hh", {gates})};
  }
  const Shape weight{layer.outputs, layer.inputs};
  std::vector<ColumnSpec> out{tensor(".weight", weight), tensor(".bias", {layer.outputs})};
  if (layer.sigma0 > 0.0) {
    out.push_back(tensor(".weight_sigma", weight));
    out.push_back(tensor(".bias_sigma", {layer.outputs}));
  }
  return out;
}

std::int64_t num_parameters(const LayerSpec& layer) {
  std::int64_t sum = 0;
  for (const ColumnSpec& tensor : tensors_of(layer)) sum += num_elements(tensor.row_shape);
  return sum;
}

/// "value" of "value.hidden.0"; what heads share has no head's name before it.
std::string part_of(const LayerSpec& layer) {
  if (layer.kind == LayerKind::filter || layer.kind == LayerKind::lstm) return "base_model";
  for (const char* shared : {"hidden.", "conv.", kCustomTrunk}) {
    if (layer.name.starts_with(shared)) return "base_model";
  }
  return layer.name.substr(0, layer.name.find('.'));
}

std::string_view type_of(const LayerSpec& layer) {
  if (layer.kind == LayerKind::free) return "Free";
  if (layer.kind == LayerKind::sde_log_std) return "Noise";
  if (layer.kind == LayerKind::filter) return "Filter";
  if (layer.kind == LayerKind::conv) return "Conv";
  if (layer.kind == LayerKind::custom) return layer.custom->type();
  if (layer.kind == LayerKind::lstm) return "LSTM";
  return layer.sigma0 > 0.0 ? "Noisy" : "Dense";
}

/// What a layer makes of N rows.
std::string shape_text(const LayerSpec& layer) {
  if (layer.kind != LayerKind::conv) return fmt::format("[N, {}]", layer.outputs);
  const Extent size = layer.conv.output();
  return fmt::format("[N, {}, {}, {}]", size[0], size[1], layer.conv.filters);
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
    const std::vector<ColumnSpec> more = tensors_of(layer);
    out.insert(out.end(), more.begin(), more.end());
  }
  return out;
}

std::string summary(const NetSpec& spec, const std::string& part) {
  const auto label = [](const LayerSpec& layer) {
    return fmt::format("{} ({})", layer.name, type_of(layer));
  };
  std::size_t width = 26;
  for (const LayerSpec& layer : spec.layers) width = std::max(width, label(layer).size() + 2);
  const std::string line(width + 60, '-');
  std::string out = fmt::format("{:<{}}{:<16}{:<12}{:>12}   {}\n{}\n", "Layer (type)", width,
                                "Output Shape", "Activation", "Param #", "Connected to", line);
  if (part.empty() || part == "base_model") {
    out += fmt::format("{:<{}}{:<16}{:<12}{:>12}\n", "observations (Input)", width,
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
    out += fmt::format("{:<{}}{:<16}{:<12}{:>12}   {}\n", label(layer), width, shape_text(layer),
                       name_of(layer.activation), grouped(num_parameters(layer)), source);
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
