#include "knurl/core/tune/experiment.h"

#include "knurl/core/base/error.h"

namespace knurl::tune {
namespace {

/// Options that stand beside the others in files, but belong to checkpoint_config.
void gather_checkpoint_options(ConfigValue& map) {
  const Schema& schema = schema_of<CheckpointOptions>();
  ConfigValue moved = ConfigValue::empty_map();
  for (const Field& field : schema.fields()) {
    std::vector<std::string> known = field.aliases;
    known.push_back(field.name);
    for (const std::string& name : known) {
      if (auto value = map.take(name)) moved[name] = std::move(*value);
    }
  }
  if (!moved.map()->empty()) merge_into(map["checkpoint_config"], moved);
}

void refuse_grid_search(const ConfigValue& value, const std::string& path) {
  if (const auto* map = value.map()) {
    for (const auto& entry : *map) {
      if (entry.key == "grid_search") {
        fail(ErrorKind::config, "{}{}: grid_search is not available yet", entry.place.prefix(),
             path);
      }
      refuse_grid_search(entry.value, path + "." + entry.key);
    }
  }
}

}  // namespace

std::vector<NamedExperiment> parse_experiments(const ConfigValue& file) {
  if (!file.map() || file.map()->empty()) {
    fail(ErrorKind::config, "{}: must hold experiments, as name: {{run: PPO, env: CartPole-v1}}",
         file.place().text());
  }
  std::vector<NamedExperiment> out;
  for (const auto& [name, value, place] : *file.map()) {
    if (!value.map()) {
      fail(ErrorKind::config, "{}{} = {}: must be an experiment, as {{run: PPO, env: CartPole-v1}}",
           place.prefix(), name, value.describe());
    }
    ConfigValue map = value;
    gather_checkpoint_options(map);
    refuse_grid_search(map, name);
    NamedExperiment experiment{.name = name};
    read_fields(map, schema_of<Experiment>(), &experiment.experiment, name);
    if (experiment.experiment.run->empty()) {
      fail(ErrorKind::config, "{}{}.run: the algorithm is missing", place.prefix(), name);
    }
    if (experiment.experiment.num_samples > 1) {
      fail(ErrorKind::config, "{}{}.num_samples = {}: several samples are not available yet",
           place.prefix(), name, experiment.experiment.num_samples.value());
    }
    out.push_back(std::move(experiment));
  }
  return out;
}

}  // namespace knurl::tune
