#include "knurl/models/custom_model.h"

#include <algorithm>
#include <map>
#include <mutex>
#include <set>

#include "knurl/core/base/error.h"
#include "knurl/models/observation_encoder.h"

namespace knurl {
namespace {

struct Registry {
  std::mutex mutex;
  std::map<std::string, ModelEntry, std::less<>> entries;
};

Registry& registry() {
  static Registry instance;
  return instance;
}

void check_conv(const LayerSpec& layer) {
  const ConvShape& conv = layer.conv;
  const int least = std::min({conv.size[0], conv.size[1], conv.channels, conv.filters,
                              conv.kernel[0], conv.kernel[1], conv.stride[0], conv.stride[1]});
  if (least < 1 || conv.num_outputs() < 1) {
    fail(ErrorKind::config,
         "layer {}: {} filters [{}, {}] of stride [{}, {}] do not fit a picture [{}, {}, {}]",
         layer.name, conv.filters, conv.kernel[0], conv.kernel[1], conv.stride[0], conv.stride[1],
         conv.size[0], conv.size[1], conv.channels);
  }
}

void check_custom(const LayerSpec& layer) {
  if (!layer.custom) {
    fail(ErrorKind::config, "layer {}: LayerKind::custom without a layer: set .custom", layer.name);
  }
  std::set<std::string> names;
  for (const TensorSpec& tensor : layer.custom->tensors()) {
    if (tensor.name.empty() || !names.insert(tensor.name).second) {
      fail(ErrorKind::config, "layer {}: a tensor is called \"{}\": each needs a name of its own",
           layer.name, tensor.name);
    }
    if (std::ranges::any_of(tensor.shape, [](std::int64_t n) { return n < 1; })) {
      fail(ErrorKind::config, "layer {}: tensor {} has the shape {}: must be at least 1 everywhere",
           layer.name, tensor.name, text_of(tensor.shape));
    }
  }
}

/// A size that follows from a layer's kind: taken over, or where somebody gave it, compared.
void settle(int& size, std::int64_t expected, const LayerSpec& layer, const char* what) {
  if (size == 0) size = static_cast<int>(expected);
  if (size != expected) {
    fail(ErrorKind::config, "layer {}: {} = {}: its kind has {}", layer.name, what, size, expected);
  }
}

/// Each layer is there for one behind it, or for the heads, which read the last one.
void require_read(const std::vector<LayerSpec>& layers) {
  for (std::size_t i = 0; i + 1 < layers.size(); ++i) {
    if (std::ranges::count(layers, std::optional(i), &LayerSpec::source) > 0) continue;
    fail(ErrorKind::config,
         "layer {}: no layer reads it, and the heads read only the last one, {}; leave it out",
         layers[i].name, layers.back().name);
  }
}

/// Fills in what follows from the layer's kind.
void settle_by_kind(LayerSpec& layer, int read) {
  switch (layer.kind) {
    case LayerKind::conv:
      check_conv(layer);
      settle(layer.inputs, layer.conv.num_inputs(), layer, "inputs");
      settle(layer.outputs, layer.conv.num_outputs(), layer, "outputs");
      break;
    case LayerKind::custom:
      check_custom(layer);
      settle(layer.inputs, layer.custom->inputs(), layer, "inputs");
      settle(layer.outputs, layer.custom->outputs(), layer, "outputs");
      break;
    case LayerKind::dense:
    case LayerKind::sde_log_std:
      if (layer.inputs == 0) layer.inputs = read;
      break;
    case LayerKind::free:
    case LayerKind::filter:
    case LayerKind::lstm:
      fail(ErrorKind::config, "layer {}: layers of this kind belong to algorithms", layer.name);
  }
}

}  // namespace

std::size_t Trunk::add(LayerSpec layer) {
  return add(std::move(layer), layers_.empty() ? std::nullopt : Source(layers_.size() - 1));
}

std::size_t Trunk::add(LayerSpec layer, Source source) {
  if (layer.name.empty()) {
    fail(ErrorKind::config, "layer {} of the model has no name", layers_.size());
  }
  if (std::ranges::count(layers_, layer.name, &LayerSpec::name) > 0) {
    fail(ErrorKind::config, "layer {}: there are two of this name", layer.name);
  }
  if (source && *source >= layers_.size()) {
    fail(ErrorKind::config, "layer {}: reads layer {}, but only {} come before it", layer.name,
         *source, layers_.size());
  }
  layer.source = source;
  const int read = size_of(source);
  settle_by_kind(layer, read);
  if (layer.outputs < 1) {
    fail(ErrorKind::config, "layer {}: outputs = {}: must be at least 1", layer.name,
         layer.outputs);
  }
  if (layer.inputs != read) {
    fail(ErrorKind::config, "layer {}: reads rows of {} numbers, but {} has {}", layer.name,
         layer.inputs, source ? "layer " + layers_[*source].name : "the observation", read);
  }
  layers_.push_back(std::move(layer));
  return layers_.size() - 1;
}

int Trunk::size_of(Source source) const {
  return source ? layers_.at(*source).outputs : size_;
}

void register_model(ModelEntry entry) {
  if (entry.name.empty()) fail(ErrorKind::config, "a model needs a name");
  Registry& all = registry();
  const std::lock_guard lock(all.mutex);
  const std::string name = entry.name;
  if (!all.entries.emplace(name, std::move(entry)).second) {
    fail(ErrorKind::config, "the model name {} is taken", name);
  }
}

void register_model(std::string name, std::string sentence,
                    Trunk (*build)(const ModelInput& input)) {
  register_model({.name = std::move(name),
                  .sentence = std::move(sentence),
                  .read = [](const ConfigValue& config) -> std::shared_ptr<const void> {
                    read_sections(config, {}, kCustomModelConfig);
                    return nullptr;
                  },
                  .build = [build](const ModelInput& input,
                                   const void* /*options*/) { return build(input); }});
}

std::vector<ModelEntry> registered_models() {
  Registry& all = registry();
  const std::lock_guard lock(all.mutex);
  std::vector<ModelEntry> out;
  for (const auto& [name, entry] : all.entries) out.push_back(entry);
  return out;
}

ModelEntry find_model(std::string_view name) {
  std::vector<std::string> names;
  for (ModelEntry& entry : registered_models()) {
    if (entry.name == name) return std::move(entry);
    names.push_back(entry.name);
  }
  fail(ErrorKind::config, "training.model.custom_model = {}: no model is registered under it{}",
       name, did_you_mean(name, names, "; `knurl list models` shows what there is"));
}

void check_custom_model(const ModelConfig& model) {
  if (*model.custom_model) {
    (void)find_model(**model.custom_model).read(model.custom_model_config);
    return;
  }
  const ConfigValue::Map* options = model.custom_model_config->map();
  if (!options || options->empty()) return;
  fail(ErrorKind::config, "{}{}.{} without a custom_model: give both",
       options->front().place.prefix(), kCustomModelConfig, options->front().key);
}

std::vector<LayerSpec> build_custom_model(const ModelConfig& model, const SpaceLayout& observations,
                                          const SpaceLayout& actions) {
  const ModelEntry entry = find_model(**model.custom_model);
  const std::shared_ptr<const void> options = entry.read(model.custom_model_config);
  try {
    const Trunk trunk = entry.build({.observations = observations,
                                     .actions = actions,
                                     .size = encoded_size(observations),
                                     .model = model},
                                    options.get());
    std::vector<LayerSpec> layers = trunk.layers();
    require_read(layers);
    for (LayerSpec& layer : layers) layer.name = kCustomTrunk + layer.name;
    return layers;
  } catch (const Error& error) {
    fail(error.kind(), "custom model {}: {}", entry.name, error.what());
  } catch (...) {
    fail(ErrorKind::config, "custom model {}: {}", entry.name, current_exception_text());
  }
}

}  // namespace knurl
