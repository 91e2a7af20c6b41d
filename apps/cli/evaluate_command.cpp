#include <filesystem>

#include <fmt/format.h>

#include "knurl/algorithms/algorithm.h"
#include "knurl/algorithms/registry.h"
#include "knurl/algorithms/rollout/evaluation.h"
#include "knurl/apps/cli/cli.h"
#include "knurl/apps/cli/commands.h"
#include "knurl/apps/cli/console.h"
#include "knurl/apps/cli/runs.h"
#include "knurl/apps/cli/trial_record.h"
#include "knurl/core/base/error.h"
#include "knurl/core/config/yaml.h"
#include "knurl/core/tune/trial.h"

namespace knurl::cli {
namespace {

constexpr std::int64_t kDefaultEpisodes = 10;

/// The checkpoint's config with what the command line wants different.
std::unique_ptr<AlgorithmConfig> config_for(const EvaluateArguments& arguments,
                                            const CheckpointData& state) {
  auto config = config_of(state);
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
  return config->resolved();
}

void print_episode(const EpisodeSummary& episode, bool json) {
  if (json) {
    fmt::print("{{\"episode\":{},\"reward\":{},\"length\":{},\"ending\":\"{}\"}}\n",
               episode.episode + 1, episode.episode_return, episode.length,
               episode.terminated ? "terminated" : "truncated");
  } else {
    fmt::print("Episode #{}: reward: {:.10g}, length: {}, {}\n", episode.episode + 1,
               episode.episode_return, episode.length,
               episode.terminated ? "terminated" : "truncated");
  }
}

void print_summary(const std::vector<EpisodeSummary>& episodes, std::int64_t steps, bool json) {
  std::vector<double> returns;
  std::vector<double> lengths;
  for (const EpisodeSummary& episode : episodes) {
    returns.push_back(episode.episode_return);
    lengths.push_back(static_cast<double>(episode.length));
  }
  const Spread spread = spread_of(returns);
  const double length = spread_of(lengths).mean;
  if (json && episodes.empty()) {
    fmt::print("{{\"episodes\":0,\"steps\":{}}}\n", steps);
  } else if (json) {
    fmt::print(
        "{{\"episodes\":{},\"steps\":{},\"reward_mean\":{},\"reward_min\":{},"
        "\"reward_max\":{},\"length_mean\":{}}}\n",
        episodes.size(), steps, spread.mean, spread.min, spread.max, length);
  } else if (episodes.empty()) {
    fmt::print("{} steps, no episode ended\n", steps);
  } else {
    fmt::print(
        "{} episodes, {} steps: reward mean {:.6g}, min {:.6g}, max {:.6g}; mean length "
        "{:.6g}\n",
        episodes.size(), steps, spread.mean, spread.min, spread.max, length);
  }
}

/// Single steps of one env, shown or counted exactly.
std::vector<EpisodeSummary> step_by_step(RolloutWorker& worker, const EvaluateArguments& arguments,
                                         std::int64_t& steps) {
  std::vector<EpisodeSummary> episodes;
  const auto wanted = static_cast<std::size_t>(arguments.episodes.value_or(kDefaultEpisodes));
  const auto more = [&] {
    return arguments.steps ? steps < *arguments.steps : episodes.size() < wanted;
  };
  while (more()) {
    const Fragment fragment = worker.sample({.steps_per_env = 1});
    ++steps;
    if (arguments.render) fmt::print("{}\n", worker.frame(0));
    for (const EpisodeSummary& episode : fragment.episodes) {
      episodes.push_back(episode);
      print_episode(episode, arguments.json);
    }
  }
  return episodes;
}

}  // namespace

int evaluate(const EvaluateArguments& arguments) {
  const tune::FoundCheckpoint found = tune::find_checkpoint(expanded(arguments.checkpoint));
  const auto config = config_for(arguments, found.state);
  const bool one_by_one = arguments.render || arguments.steps;
  const int envs = one_by_one ? 1 : evaluation_envs(arguments.episodes.value_or(kDefaultEpisodes));
  RolloutWorker worker({.algorithm = std::string(config->algorithm()),
                        .config = config->to_yaml(),
                        .num_envs = envs,
                        .total_envs = envs,
                        .stream = "evaluation",
                        .explore = arguments.explore,
                        .render = arguments.render});
  const Weights weights = weights_of(found.state);
  if (weights.tensors.columns() != worker.policy().weights().tensors.columns()) {
    fail(ErrorKind::config, "env {}: its spaces do not fit the checkpoint's net",
         *config->common().environment.env);
  }
  worker.set_weights(weights);

  std::int64_t steps = 0;
  std::vector<EpisodeSummary> episodes;
  if (one_by_one) {
    episodes = step_by_step(worker, arguments, steps);
  } else {
    episodes = run_episodes(worker, arguments.episodes.value_or(kDefaultEpisodes),
                            [&](const EpisodeSummary& e) { print_episode(e, arguments.json); });
    for (const EpisodeSummary& episode : episodes) steps += episode.length;
  }
  print_summary(episodes, steps, arguments.json);
  return kSuccess;
}

}  // namespace knurl::cli
