#include <cmath>
#include <numbers>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "bench.h"
#include "knurl/envs/vector_env.h"

namespace knurl::bench {
namespace {

constexpr int kEnvs = 64;
constexpr double kSeconds = 1.0;
constexpr int kActionRows = 256;  ///< random actions are drawn before, and used again and again

/// CartPole-v1 steps a second through the vector env, as rollout workers step it.
double vector_env_rate() {
  const auto env =
      make_vector_env("CartPole-v1", ConfigValue::empty_map(), Rng(1),
                      {.num_envs = kEnvs, .total_envs = kEnvs, .stepping = Stepping::serial});
  const SpaceLayout& observations = env->observation_layout();
  RecordBatch now_seen(observations.columns("obs"), kEnvs);
  RecordBatch last_seen(observations.columns("obs"), kEnvs);
  RecordBatch action_rows(env->action_layout().columns("actions"), kEnvs * kActionRows);
  Rng rng(2);
  for (std::int64_t& action : action_rows.column<std::int64_t>("actions").span()) {
    action = static_cast<std::int64_t>(rng.below(2));
  }
  std::vector<float> reward(kEnvs);
  std::vector<std::uint8_t> terminated(kEnvs);
  std::vector<std::uint8_t> truncated(kEnvs);
  const VectorStep out{.observation = Rows(observations, now_seen, "obs"),
                       .reward = reward,
                       .terminated = terminated,
                       .truncated = truncated,
                       .final_observation = Rows(observations, last_seen, "obs"),
                       .info = {}};
  const ConstRows actions(env->action_layout(), action_rows, "actions");
  env->reset(out.observation);
  std::int64_t calls = 0;
  const double start = bench::now();
  while (bench::now() - start < kSeconds) {
    for (int i = 0; i < kActionRows; ++i) env->step(actions.from(i * kEnvs), out);
    calls += kActionRows;
  }
  return static_cast<double>(calls * kEnvs) / (bench::now() - start);
}

/// The same equations in a loop over one cart and pole: what the machine can do.
double plain_loop_rate() {
  Rng rng(3);
  std::vector<std::uint8_t> actions(4096);
  for (std::uint8_t& action : actions) action = static_cast<std::uint8_t>(rng.below(2));
  double x = 0.0;
  double x_dot = 0.0;
  double theta = 0.0;
  double theta_dot = 0.0;
  int steps = 0;
  float sink = 0.0F;
  std::int64_t total = 0;
  const double start = bench::now();
  while (bench::now() - start < kSeconds) {
    for (const std::uint8_t action : actions) {
      const double force = action == 1 ? 10.0 : -10.0;
      const double c = std::cos(theta);
      const double s = std::sin(theta);
      const double push = (force + 0.05 * theta_dot * theta_dot * s) / 1.1;
      const double theta_acc = (9.8 * s - c * push) / (0.5 * (4.0 / 3.0 - 0.1 * c * c / 1.1));
      const double x_acc = push - 0.05 * theta_acc * c / 1.1;
      x += 0.02 * x_dot;
      x_dot += 0.02 * x_acc;
      theta += 0.02 * theta_dot;
      theta_dot += 0.02 * theta_acc;
      sink += static_cast<float>(x + theta);
      if (std::abs(x) > 2.4 || std::abs(theta) > 12.0 * std::numbers::pi / 180.0 ||
          ++steps >= 500) {
        x = rng.uniform(-0.05, 0.05);
        x_dot = rng.uniform(-0.05, 0.05);
        theta = rng.uniform(-0.05, 0.05);
        theta_dot = rng.uniform(-0.05, 0.05);
        steps = 0;
      }
    }
    total += static_cast<std::int64_t>(actions.size());
  }
  const double rate = static_cast<double>(total) / (bench::now() - start);
  return std::isnan(sink) ? 0.0 : rate;  // the loop may not be dropped
}

}  // namespace

std::vector<Row> env_step(const Places& places) {
  require_peers(places);
  std::string version;
  const auto gymnasium = [&] {
    const auto line = nlohmann::json::parse(last_line_of(
        fmt::format("{} {}/bench/peers/gym_env_step.py --env CartPole-v1 --mode sync --n {} "
                    "--seconds {} --reps 1",
                    places.python, places.root, kEnvs, kSeconds)));
    version = line["versions"]["gymnasium"];
    return line["steps_per_s"][0].get<double>();
  };
  const Pair against_gymnasium = measure(vector_env_rate, gymnasium);
  const Pair against_loop = measure(vector_env_rate, plain_loop_rate);
  const std::string what =
      fmt::format("CartPole-v1, {} envs, serial, random actions, one thread", kEnvs);
  return {{.bench = "env_step",
           .what = what,
           .unit = "steps/s",
           .ours = against_gymnasium.ours,
           .other = against_gymnasium.other,
           .other_name = fmt::format("Gymnasium {} SyncVectorEnv", version),
           .required = 20.0},
          {.bench = "env_step",
           .what = what,
           .unit = "steps/s",
           .ours = against_loop.ours,
           .other = against_loop.other,
           .other_name = "a plain C++ loop over one env"}};
}

}  // namespace knurl::bench
