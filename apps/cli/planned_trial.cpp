#include "knurl/apps/cli/planned_trial.h"

#include <algorithm>

#include "knurl/algorithms/metrics.h"
#include "knurl/algorithms/registry.h"
#include "knurl/algorithms/rllib_keys.h"
#include "knurl/core/base/error.h"
#include "knurl/core/config/problems.h"
#include "knurl/core/config/yaml.h"

namespace knurl::cli {
namespace {

bool is_option(const AlgorithmConfig& config, const std::string& key) {
  return std::ranges::any_of(config.sections(), [&](const ConstSection& section) {
    return section.schema->find(key) != nullptr;
  });
}

bool is_of_experiments(const std::string& key) {
  return schema_of<tune::Experiment>().find(key) || schema_of<tune::CheckpointOptions>().find(key);
}

/// For options of an algorithm that stand beside its `config`.
std::string belongs_below_config(const std::string& key) {
  for (const AlgorithmEntry& entry : registered_algorithms()) {
    if (is_option(*entry.make_config(), key)) {
      return "is an option of the algorithm: write it below config";
    }
  }
  for (const ForeignKey& foreign : rllib_keys()) {
    if (foreign.path == key) return "is an option of algorithms: write it below config";
  }
  return "";
}

/// Sets the algorithm's options; those that stand a level too low are told where they belong.
void read_options(AlgorithmConfig& config, ConfigValue options, const std::string& path,
                  Problems& problems) {
  if (options.map()) {
    std::erase_if(*options.map(), [&](const ConfigValue::Entry& entry) {
      if (is_option(config, entry.key) || !is_of_experiments(entry.key)) return false;
      problems.add(entry.place,
                   fmt::format("{}{}.{}: is no option of the algorithm: write it beside config",
                               entry.place.prefix(), path, entry.key));
      return true;
    });
  }
  config.update(options, path, problems);
}

/// The options with the env that stands beside them.
ConfigValue with_env(const tune::NamedExperiment& named, Problems& problems) {
  ConfigValue options = *named.experiment.config;
  const Opt<std::string>& env = named.experiment.env;
  if (!env.given() || !(options.map() || options.is_null())) return options;
  if (const ConfigValue* other = options.find("env")) {
    problems.add(
        other->place(),
        fmt::format("{}{}.config.env = {}: {}.env says {}; give one of them",
                    other->place().prefix(), named.name, other->describe(), named.name, *env));
    return options;
  }
  options["env"] = ConfigValue::of(*env);
  options["env"].set_place(named.env_place);
  return options;
}

/// Does something, and puts file and line before what that finds wrong.
template <class Action>
void at_place(const Place& place, const std::string& path, Problems& problems, Action action) {
  try {
    action();
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::config) throw;
    problems.add(place, fmt::format("{}{}: {}", place.prefix(), path, error.what()));
  }
}

PlannedTrial trial_of(const tune::NamedExperiment& named, Problems& problems) {
  const tune::Experiment& experiment = named.experiment;
  PlannedTrial trial{.name = named.name,
                     .tag = named.tag,
                     .config = nullptr,
                     .checkpoints = experiment.checkpoint_config,
                     .local_dir = *experiment.local_dir,
                     .notes = named.notes};
  problems.collect(experiment.stop->place(), [&] {
    trial.stop = tune::StopConditions::from(*experiment.stop, named.name + ".stop");
  });
  if (experiment.run->empty()) return trial;  // that is a problem already
  at_place(named.run_place, named.name + ".run", problems,
           [&] { trial.config = make_config(*experiment.run); });
  if (!trial.config) return trial;  // its options cannot be told right from wrong
  const ConfigValue options = with_env(named, problems);
  read_options(*trial.config, options, named.name + ".config", problems);
  if (const ConfigValue* env = options.find("env"); env && env->scalar()) {
    at_place(env->place(), named.name + ".env", problems, [&] { find_env(env->scalar()->text); });
  }
  if (const ConfigValue* callbacks = options.find("callbacks");
      callbacks && callbacks->scalar() && !callbacks->is_null()) {
    at_place(callbacks->place(), named.name + ".config", problems,
             [&] { find_callbacks(callbacks->scalar()->text); });
  }
  return trial;
}

/// A name that is none of a metric that is reported as a number is a problem.
void check_metric(const Place& place, const std::string& what, const std::string& name,
                  const MetricNames& metrics, const AlgorithmConfig& config, Problems& problems) {
  const std::optional<std::string> problem = metrics.problem_with(name);
  if (!problem) return;
  const bool evaluates = config.evaluation_interval().has_value();
  problems.add(place, fmt::format("{}{}: {}", place.prefix(), what,
                                  name.starts_with("evaluation/") && !evaluates
                                      ? "nothing is evaluated; set evaluation_interval"
                                      : *problem));
}

}  // namespace

std::string label_of(const PlannedTrial& trial) {
  return trial.tag.empty() ? trial.name : trial.name + " " + trial.tag;
}

std::vector<PlannedTrial> trials_of_file(const std::filesystem::path& path) {
  Problems problems;
  std::vector<PlannedTrial> out;
  const ConfigValue file = read_yaml_file(path);
  for (const tune::NamedExperiment& named :
       tune::parse_experiments(file, belongs_below_config, problems)) {
    out.push_back(trial_of(named, problems));
    out.back().file = path;
  }
  problems.throw_any();
  return out;
}

MetricNames check_trial(const PlannedTrial& trial) {
  schema_of<tune::CheckpointOptions>().check(&trial.checkpoints, "checkpoint_config");
  const auto config = trial.config->resolved();
  const EnvironmentOptions& environment = config->common().environment;
  const EnvSpec env = make_env(*environment.env, *environment.env_config)->spec();
  config->check_env(env);
  try {
    config->make_policy(env, Acting::greedy, {});
  } catch (const Error& error) {
    fail(error.kind(), "{} on {}: {}", config->algorithm(), *environment.env, error.what());
  }
  MetricNames metrics = metric_names(*config, env);
  Problems problems;
  for (const auto& condition : trial.stop.conditions()) {
    check_metric(condition.place, "stop." + condition.metric, condition.metric, metrics, *config,
                 problems);
  }
  const std::string& score = *trial.checkpoints.checkpoint_score_attribute;
  check_metric({}, "checkpoint_score_attribute = " + score, score, metrics, *config, problems);
  problems.throw_any();
  return metrics;
}

ConfigValue to_value(const PlannedTrial& trial) {
  ConfigValue out = ConfigValue::empty_map();
  out["run"] = ConfigValue::of(trial.config->algorithm());
  out["stop"] = trial.stop.to_value();
  out["checkpoint_config"] = schema_of<tune::CheckpointOptions>().write(&trial.checkpoints);
  out["local_dir"] = ConfigValue::of(trial.local_dir);
  out["config"] = trial.config->resolved()->to_value();
  if (!*trial.config->common().debugging.seed) out["config"]["seed"] = ConfigValue();
  return out;
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
