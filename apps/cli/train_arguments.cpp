#include "knurl/apps/cli/train_arguments.h"

#include <utility>

#include "knurl/core/base/error.h"
#include "knurl/core/config/yaml.h"

namespace knurl::cli {
namespace {

void set_checkpoints(const TrainArguments& arguments, tune::CheckpointOptions& checkpoints) {
  if (arguments.checkpoint_freq) checkpoints.checkpoint_frequency = *arguments.checkpoint_freq;
  if (arguments.checkpoint_at_end) checkpoints.checkpoint_at_end = *arguments.checkpoint_at_end;
  if (arguments.keep_checkpoints) checkpoints.num_to_keep = arguments.keep_checkpoints;
  if (!arguments.checkpoint_score_attr.empty()) {
    tune::set_score(checkpoints, arguments.checkpoint_score_attr);
  }
}

}  // namespace

void check_arguments(const TrainArguments& a) {
  const std::pair<const char*, bool> of_new_runs[] = {
      {"a config file", !a.files.empty()},
      {"--run", !a.run.empty()},
      {"--env", !a.env.empty()},
      {"--seed", a.seed.has_value()},
      {"--output", !a.output.empty()},
      {"--experiment-name", !a.experiment_name.empty()},
      {"--init-from", !a.init_from.empty()},
  };
  if (!a.resume.empty()) {
    for (const auto& [name, given] : of_new_runs) {
      if (!given) continue;
      fail(ErrorKind::config, "--resume {} goes on with that run as it was: leave {} out", a.resume,
           name);
    }
    return;
  }
  if (!a.files.empty() && !a.run.empty()) {
    fail(ErrorKind::config, "--run {} and a config file ({}): give one of them", a.run,
         a.files.front());
  }
  if (!a.files.empty() && !a.experiment_name.empty()) {
    fail(ErrorKind::config, "--experiment-name {}: the experiments of a file have names already",
         a.experiment_name);
  }
  if (a.files.empty() && a.run.empty()) {
    fail(ErrorKind::config, "train what? give a config file, or --run and --env");
  }
}

void finish(PlannedTrial& trial, const TrainArguments& arguments) {
  if (!arguments.config.empty()) {
    trial.config->update(parse_yaml(arguments.config, "--config"), "config");
  }
  trial.config->update(overrides_of(arguments.set), "config");
  if (!arguments.env.empty()) {
    trial.config->update(overrides_of({"env=" + arguments.env}), "config");
  }
  if (arguments.seed) {
    trial.config->update(overrides_of({fmt::format("seed={}", *arguments.seed)}), "config");
  }
  if (arguments.deterministic) {
    trial.config->update(overrides_of({"deterministic=true"}), "config");
  }
  set_checkpoints(arguments, trial.checkpoints);
  if (!arguments.output.empty()) trial.local_dir = arguments.output;

  const MetricNames metrics = check_trial(trial);
  if (arguments.stop.empty()) return;
  const auto stop = tune::StopConditions::from(parse_yaml(arguments.stop, "--stop"), "stop");
  trial.stop.update(stop, metrics);
  check_trial(trial);
}

}  // namespace knurl::cli
