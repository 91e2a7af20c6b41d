#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "knurl/core/config/fields.h"
#include "knurl/core/spaces/layout.h"
#include "knurl/models/model_config.h"
#include "knurl/models/net_spec.h"

/// Models of one's own: what stands between observations and an algorithm's heads. A model is a
/// list of layers and no object with a forward of its own, so that workers act by it without
/// LibTorch and with the bits that the learner's checkpoints promise.
namespace knurl {

/// What a model is built for.
struct ModelInput {
  const SpaceLayout& observations;
  const SpaceLayout& actions;
  /// Numbers in a row that the net reads: a Box's elements, the choices of a Discrete, a Tuple's or
  /// Dict's leaves one after the other. A picture's pixels (a Box of uint8 of rank 3) are 0 … 1.
  int size = 0;
  const ModelConfig& model;  ///< the other options of `model` in files
};

/// The layers of a model in the order in which they are added. The heads read the last one; where
/// there is none, the observation.
class Trunk {
 public:
  using Source = std::optional<std::size_t>;  ///< a layer by its place; nothing: the observation

  explicit Trunk(const ModelInput& input) : size_(input.size) {}

  /// Adds a layer that reads the one added before it (the first one: the observation). What follows
  /// from the layer's kind and from what it reads may be left out: inputs, and the outputs of
  /// LayerKind::conv and custom. Returns its place. Throws Error(config) for a layer that cannot
  /// be: without outputs, with a name twice, or that reads another number of values than there are.
  std::size_t add(LayerSpec layer);
  /// The same, reading another layer. Throws Error(config) where there is none at this place yet.
  std::size_t add(LayerSpec layer, Source source);

  /// Numbers in a row of what stands at a place.
  [[nodiscard]] int size_of(Source source) const;
  [[nodiscard]] const std::vector<LayerSpec>& layers() const { return layers_; }

 private:
  int size_;
  std::vector<LayerSpec> layers_;
};

/// A model as config files know it.
struct ModelEntry {
  std::string name = {};
  std::string sentence = {};                       ///< what it is
  const Schema* options = nullptr;                 ///< of custom_model_config; null: nothing
  std::shared_ptr<const void> defaults = nullptr;  ///< of those options
  /// Its options from a file's. Throws Error(config) for what it does not know.
  std::function<std::shared_ptr<const void>(const ConfigValue& config)> read = {};
  std::function<Trunk(const ModelInput& input, const void* options)> build = {};
};

/// Where files give a custom model's options.
inline constexpr const char* kCustomModelConfig = "training.model.custom_model_config";

/// Makes a model known under a name, for `model: {custom_model: name}`. Throws Error(config) where
/// the name is taken. Safe from any thread.
void register_model(ModelEntry entry);

/// The same of a function that builds it, and of the struct of its options (core/config/fields.h).
template <HasFields Config>
void register_model(std::string name, std::string sentence,
                    Trunk (*build)(const ModelInput& input, const Config& config)) {
  register_model({.name = std::move(name),
                  .sentence = std::move(sentence),
                  .options = &schema_of<Config>(),
                  .defaults = std::make_shared<Config>(),
                  .read =
                      [](const ConfigValue& config) {
                        const auto options = std::make_shared<Config>();
                        read_fields(config, schema_of<Config>(), options.get(), kCustomModelConfig);
                        return options;
                      },
                  .build =
                      [build](const ModelInput& input, const void* options) {
                        return build(input, *static_cast<const Config*>(options));
                      }});
}

/// The same of a model without options.
void register_model(std::string name, std::string sentence,
                    Trunk (*build)(const ModelInput& input));

/// All registered models in alphabetical order.
std::vector<ModelEntry> registered_models();

/// Throws Error(config), naming the nearest, where the name is unknown.
ModelEntry find_model(std::string_view name);

/// Throws Error(config) where `model` names an unknown custom model, gives options that it does not
/// have, or gives options but no model.
void check_custom_model(const ModelConfig& model);

/// The layers of `model`'s custom model, named "trunk.<name>". Throws Error(config) naming the
/// model where its builder throws, or where nothing reads one of its layers.
std::vector<LayerSpec> build_custom_model(const ModelConfig& model, const SpaceLayout& observations,
                                          const SpaceLayout& actions);

}  // namespace knurl
