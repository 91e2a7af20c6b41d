#include <filesystem>
#include <sstream>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "bench.h"

namespace knurl::bench {
namespace {

constexpr const char* kConfig = "configs/ppo/cartpole-sb3-defaults.yaml";

/// What a side did: rate after the first iteration, and the work behind it.
struct Training {
  double rate = 0.0;
  std::int64_t env_steps = 0;
  std::int64_t minibatches = 0;
};

Training ours(const Places& places, int num_envs, int iterations) {
  const std::string output =
      (std::filesystem::temp_directory_path() / "knurl-bench-train").string();
  const int batch = 2048 * num_envs;
  const std::string command = fmt::format(
      "{} train {}/{} --json -o {} --no-checkpoint-at-end --set num_envs_per_worker={} "
      "--set train_batch_size={} --stop '{{timesteps_total: {}}}' --seed 1 > {}.json && "
      "cat {}.json | tail -n {}",
      places.knurl, places.root, kConfig, output, num_envs, batch, batch * iterations, output,
      output, iterations - 1);
  std::filesystem::remove_all(output);
  std::filesystem::create_directories(output);
  (void)last_line_of(command);
  std::istringstream lines(last_line_of(fmt::format("tr '\\n' '\\001' < {}.json", output)));
  Training out;
  double seconds = 0.0;
  std::int64_t steady_steps = 0;
  for (std::string line; std::getline(lines, line, '\001');) {
    if (line.empty()) continue;
    const auto result = nlohmann::json::parse(line);
    out.env_steps = result["timesteps_total"];
    out.minibatches = result["info"]["learner"]["default_policy"]["num_grad_updates_lifetime"];
    if (result["training_iteration"] == 1) continue;
    seconds += result["time_this_iter_s"].get<double>();
    steady_steps += result["num_env_steps_sampled_this_iter"].get<std::int64_t>();
  }
  out.rate = static_cast<double>(steady_steps) / seconds;
  std::filesystem::remove_all(output);
  std::filesystem::remove(output + ".json");
  return out;
}

Training theirs(const Places& places, int num_envs, int iterations, std::string& name) {
  const auto result = nlohmann::json::parse(last_line_of(fmt::format(
      "{} {}/bench/peers/sb3_train.py --algo ppo --preset default --n-envs {} "
      "--steps {} --warm {} --threads 1 --cap 600",
      places.python, places.root, num_envs, 2048 * num_envs * iterations, 2048 * num_envs)));
  name = fmt::format("stable-baselines3 {} (torch {})",
                     result["versions"]["stable-baselines3"].get<std::string>(),
                     result["versions"]["torch"].get<std::string>());
  return {.rate = result["steady_env_steps_per_s"],
          .env_steps = result["steps"],
          .minibatches = result["minibatches"]};
}

Row compare(const Places& places, int num_envs, int iterations) {
  std::string name;
  Training a;
  Training b;
  const Pair pair = measure(
      [&] {
        a = ours(places, num_envs, iterations);
        return a.rate;
      },
      [&] {
        b = theirs(places, num_envs, iterations, name);
        return b.rate;
      });
  return {
      .bench = "train",
      .what = fmt::format("PPO, CartPole-v1, stable-baselines3's defaults, {} env{}, one thread; "
                          "{} env steps and {} minibatches (theirs: {} and {})",
                          num_envs, num_envs == 1 ? "" : "s", a.env_steps, a.minibatches,
                          b.env_steps, b.minibatches),
      .unit = "steps/s",
      .ours = pair.ours,
      .other = pair.other,
      .other_name = name,
      .required = 2.0};
}

}  // namespace

std::vector<Row> train(const Places& places) {
  require_peers(places);
  return {compare(places, 8, 3), compare(places, 1, 5)};
}

}  // namespace knurl::bench
