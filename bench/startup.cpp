#include <filesystem>

#include <fmt/format.h>

#include "bench.h"

namespace knurl::bench {
namespace {

/// exec to the end of one iteration of PPO: a rollout and its update.
Row first_iteration(const Places& places, int num_envs, int steps, int minibatch) {
  const std::string output =
      (std::filesystem::temp_directory_path() / "knurl-bench-startup").string();
  const std::string ours = fmt::format(
      "{} train {}/configs/ppo/cartpole-sb3-defaults.yaml -q -o {} --no-checkpoint-at-end "
      "--set num_envs_per_worker={} --set train_batch_size={} --set sgd_minibatch_size={} "
      "--stop '{{training_iteration: 1}}'",
      places.knurl, places.root, output, num_envs, num_envs * steps, minibatch);
  const std::string theirs = fmt::format(
      "{} {}/bench/peers/sb3_first_iteration.py --n-envs {} --n-steps {} --batch-size {}",
      places.python, places.root, num_envs, steps, minibatch);
  const Pair pair = measure([&] { return seconds_of(ours); }, [&] { return seconds_of(theirs); });
  std::filesystem::remove_all(output);
  return {.bench = "startup",
          .what = fmt::format("exec to exit after the first PPO iteration: CartPole-v1, {} x {} "
                              "steps, minibatches of {}, one thread",
                              num_envs, steps, minibatch),
          .unit = "s",
          .ours = pair.ours,
          .other = pair.other,
          .other_name = last_line_of(theirs + " --version"),
          .required = 3.0};
}

}  // namespace

std::vector<Row> startup(const Places& places) {
  require_peers(places);
  const Figure version = measure([&] { return 1e3 * seconds_of(places.knurl + " --version"); });
  return {
      first_iteration(places, 8, 32, 256),
      first_iteration(places, 1, 2048, 64),
      {.bench = "startup", .what = "knurl --version, exec to exit", .unit = "ms", .ours = version}};
}

}  // namespace knurl::bench
