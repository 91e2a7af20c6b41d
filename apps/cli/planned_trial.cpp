#include "knurl/apps/cli/planned_trial.h"

#include "knurl/algorithms/registry.h"
#include "knurl/core/base/error.h"
#include "knurl/core/config/yaml.h"

namespace knurl::cli {

std::vector<PlannedTrial> trials_of_file(const std::filesystem::path& path) {
  std::vector<PlannedTrial> out;
  for (const tune::NamedExperiment& named : tune::parse_experiments(read_yaml_file(path))) {
    out.push_back(trial_of(named));
  }
  return out;
}

PlannedTrial trial_of(const tune::NamedExperiment& named) {
  const tune::Experiment& experiment = named.experiment;
  const std::string path = named.name + ".config";
  PlannedTrial trial{.name = named.name,
                     .config = make_config(*experiment.run),
                     .stop = tune::StopConditions::from(*experiment.stop, named.name + ".stop"),
                     .checkpoints = experiment.checkpoint_config,
                     .local_dir = *experiment.local_dir};
  ConfigValue options = *experiment.config;
  if (experiment.env.given()) {
    if (const ConfigValue* other = options.find("env")) {
      fail(ErrorKind::config, "{}{}.env = {}: {}.env says {}; give one of them",
           other->place().prefix(), path, other->describe(), named.name, *experiment.env);
    }
    options["env"] = ConfigValue::of(*experiment.env);
  }
  trial.config->update(options, path);
  return trial;
}

ConfigValue overrides_of(const std::vector<std::string>& set) {
  ConfigValue out = ConfigValue::empty_map();
  for (const std::string& argument : set) {
    const std::size_t equals = argument.find('=');
    if (equals == std::string::npos || equals == 0) {
      fail(ErrorKind::config, "--set {}: must be option=value", argument);
    }
    const std::string name = argument.substr(0, equals);
    const std::string text = argument.substr(equals + 1);
    const std::string source = "--set " + argument;
    ConfigValue value = text.empty() ? ConfigValue::of("") : parse_yaml(text, source);
    value.set_place(Place(source));
    set_path(out, name, std::move(value));
  }
  return out;
}

}  // namespace knurl::cli
