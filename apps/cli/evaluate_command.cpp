#include <filesystem>

#include <fmt/format.h>

#include "knurl/algorithms/algorithm.h"
#include "knurl/algorithms/policy_options.h"
#include "knurl/algorithms/registry.h"
#include "knurl/algorithms/rollout/episode_metrics.h"
#include "knurl/algorithms/rollout/evaluation.h"
#include "knurl/apps/cli/cli.h"
#include "knurl/apps/cli/commands.h"
#include "knurl/apps/cli/console.h"
#include "knurl/apps/cli/paths.h"
#include "knurl/apps/cli/planned_trial.h"
#include "knurl/apps/cli/trial_record.h"
#include "knurl/core/base/error.h"
#include "knurl/core/config/yaml.h"
#include "knurl/core/tune/trial.h"
#include "knurl/models/custom_model.h"

namespace knurl::cli {
namespace {

namespace fs = std::filesystem;

constexpr int kDefaultEpisodes = 10;

/// Where the env or the model is unknown because the run had it from a plug-in, asks for that. It
/// is not opened unasked: a checkpoint is data, and never names code to run.
void require_known(const CommonOptions& options, const std::filesystem::path& trial) {
  const auto require = [&](const char* what, const std::string& name, auto find) {
    try {
      (void)find(name);
    } catch (const Error&) {
      const auto plugins = recorded_plugins(trial);
      if (plugins.empty()) throw;
      fail(ErrorKind::config, "{} {}: unknown; its run had it from a plug-in: give{}", what, name,
           plugin_flags(plugins));
    }
  };
  require("env", *options.environment.env, find_env);
  const std::optional<std::string> model = options.training.model.custom_model;
  if (model) require("model", *model, find_model);
}

/// The checkpoint's config with what the command line wants different.
std::unique_ptr<AlgorithmConfig> config_for(const EvaluateArguments& arguments,
                                            const tune::FoundCheckpoint& found) {
  auto config = config_of(found.state);
  if (!arguments.algorithm.empty()) {
    const auto other = make_config(arguments.algorithm);
    if (other->algorithm() != config->algorithm()) {
      fail(ErrorKind::config, "--algo {}: the checkpoint is of {}", arguments.algorithm,
           config->algorithm());
    }
  }
  if (!arguments.env.empty()) {
    // another env's options are not this one's
    auto fresh = make_config(config->algorithm());
    ConfigValue all = config->to_value();
    const ConfigValue given = config->to_value(Shown::given);
    if (arguments.env != *config->common().environment.env) {
      all["env_config"] = ConfigValue::empty_map();
    }
    all["env"] = ConfigValue::of(arguments.env);
    fresh->restore(all, given);
    config = std::move(fresh);
  }
  if (!arguments.config.empty()) config->update(parse_yaml(arguments.config, "--config"), "config");
  config->update(overrides_of(arguments.set), "config");
  if (arguments.seed) {
    config->update(overrides_of({fmt::format("seed={}", *arguments.seed)}), "config");
  }
  require_known(config->common(), found.directory.parent_path());
  return config->resolved();
}

void print_episode(const EpisodeSummary& episode, bool json) {
  const char* ending = episode.terminated ? "terminated" : "truncated";
  if (json) {
    Result line;
    line.set("episode", episode.episode + 1);
    line.set("reward", episode.episode_return);
    line.set("length", episode.length);
    line.set("ending", ending);
    print_line(line.to_json());
  } else {
    print_line(fmt::format("Episode #{}: reward: {:.10g}, length: {}, {}", episode.episode + 1,
                           episode.episode_return, episode.length, ending));
  }
}

void print_summary(const std::vector<EpisodeSummary>& episodes, std::int64_t steps, bool json) {
  const Result metrics = episode_metrics(episodes, {});
  const auto number = [&](const char* name) { return metrics.number(name).value_or(0.0); };
  if (json) {
    Result line;
    line.set("episodes", static_cast<std::int64_t>(episodes.size()));
    line.set("steps", steps);
    for (const char* what : {"reward_mean", "reward_min", "reward_max"}) {
      line.set(what, *metrics.find(fmt::format("episode_{}", what)));
    }
    line.set("length_mean", *metrics.find("episode_len_mean"));
    print_line(line.to_json());
  } else if (episodes.empty()) {
    print_line(fmt::format("{} steps, no episode ended", steps));
  } else {
    print_line(fmt::format(
        "{} episode{}, {} steps: reward mean {:.6g}, min {:.6g}, max {:.6g}; mean length {:.6g}",
        episodes.size(), episodes.size() == 1 ? "" : "s", steps, number("episode_reward_mean"),
        number("episode_reward_min"), number("episode_reward_max"), number("episode_len_mean")));
  }
}

/// Single steps of one env, shown or counted exactly.
std::vector<EpisodeSummary> step_by_step(RolloutWorker& worker, const EvaluateArguments& arguments,
                                         std::int64_t timestep, std::int64_t& steps) {
  std::vector<EpisodeSummary> episodes;
  const auto wanted = static_cast<std::size_t>(arguments.episodes.value_or(kDefaultEpisodes));
  const auto more = [&] {
    return arguments.steps ? steps < *arguments.steps : episodes.size() < wanted;
  };
  while (more()) {
    const Fragment fragment = worker.sample({.steps_per_env = 1, .timestep = timestep});
    ++steps;
    if (arguments.render) print_line(worker.picture(0));
    for (const EpisodeSummary& episode : fragment.episodes) {
      episodes.push_back(episode);
      print_episode(episode, arguments.json);
    }
  }
  return episodes;
}

}  // namespace

int evaluate(const EvaluateArguments& arguments) {
  if (arguments.json && arguments.render) {
    fail(ErrorKind::config, "--json and --render: pictures are not JSON; give one of them");
  }
  const tune::FoundCheckpoint found = tune::find_checkpoint(expanded(arguments.checkpoint));
  const auto saved = config_of(found.state);
  const auto config = config_for(arguments, found);
  require_same_policy(*saved, *config, {.name = "the checkpoint"});
  const EnvironmentOptions& environment = config->common().environment;
  make_env(*environment.env, *environment.env_config);  // whose errors still know their place
  const bool one_by_one = arguments.render || arguments.steps;
  const std::int64_t wanted = arguments.episodes.value_or(kDefaultEpisodes);
  const int envs = one_by_one ? 1 : evaluation_envs(wanted);
  RolloutWorker worker({.algorithm = std::string(config->algorithm()),
                        .config = config->to_yaml(),
                        .num_envs = envs,
                        .total_envs = envs,
                        .stream = "evaluation",
                        .acting = arguments.explore ? Acting::exploring : Acting::greedy,
                        .render = arguments.render});
  const Weights weights = weights_of(found.state);
  try {
    worker.set_weights(weights);
  } catch (const Error& error) {
    const EnvironmentOptions& trained = saved->common().environment;
    const bool other_env =
        *environment.env != *trained.env || *environment.env_config != *trained.env_config;
    fail(ErrorKind::config, "{}: {}",
         other_env ? fmt::format("env {}: its spaces do not fit the checkpoint's policy",
                                 *environment.env)
                   : arguments.checkpoint,
         error.what());
  }

  const fs::path directory = fs::absolute(found.directory);
  worker.record(directory.parent_path().string(), "evaluate_" + directory.filename().string(),
                arguments.steps ? std::nullopt : std::optional(wanted));
  const std::int64_t timestep = env_steps_of(found.state);
  std::int64_t steps = 0;
  std::vector<EpisodeSummary> episodes;
  if (one_by_one) {
    episodes = step_by_step(worker, arguments, timestep, steps);
  } else {
    episodes = run_episodes(worker, {.episodes = wanted, .timestep = timestep},
                            [&](const EpisodeSummary& e) { print_episode(e, arguments.json); });
    for (const EpisodeSummary& episode : episodes) steps += episode.length;
  }
  print_summary(episodes, steps, arguments.json);
  return kSuccess;
}

}  // namespace knurl::cli
