#pragma once

#include "knurl/algorithms/q_learning/q_learning_config.h"
#include "knurl/core/config/yaml.h"
#include "knurl/envs/registry.h"

namespace knurl {

/// Episodes of 1 to `longest` steps, by chance; the reward of a step is the number of its action, 0
/// or 1. The info number is the episode's length so far.
class LuckEnv final : public Env {
 public:
  struct Config {
    int longest = 9;
    int shortest = 1;
    int throw_at = 0;  ///< step of an episode; 0: never
    static void fields(auto& self, auto&& field) {
      field("longest", self.longest, "most steps", at_least(1));
      field("shortest", self.shortest, "least steps", at_least(1));
      field("throw_at", self.throw_at, "step that throws");
    }
  };

  explicit LuckEnv(Config config) : config_(config) {}

  [[nodiscard]] EnvSpec spec() const override {
    return {.observation = Discrete{.n = 2}, .action = Discrete{.n = 2}, .info = {"count"}};
  }
  void reset(Rng& rng, ObservationOut observation) override {
    const auto choices = static_cast<std::uint64_t>(config_.longest - config_.shortest + 1);
    length_ = config_.shortest + static_cast<int>(rng.below(choices));
    count_ = 0;
    observation.set_index(0);
  }
  StepResult step(ActionView action, ObservationOut observation) override {
    if (++count_ == config_.throw_at) throw std::runtime_error("out of luck");
    observation.set_index(count_ % 2);
    return {.reward = static_cast<double>(action.index()), .terminated = count_ == length_};
  }
  void info(std::span<double> numbers) const override { numbers[0] = count_; }

 private:
  Config config_;
  int length_ = 1;
  int count_ = 0;
};

/// Q-learning on it, three envs in all, with more options as YAML.
inline QLearningConfig luck_config(const std::string& more = "{}") {
  register_env_once<LuckEnv>("Luck-v0");
  QLearningConfig config;
  config.update(parse_yaml("{env: Luck-v0, seed: 3, num_envs_per_worker: 3, train_batch_size: 30,"
                           " exploration_config: {epsilon_timesteps: 100000}}",
                           "test"),
                "");
  config.update(parse_yaml(more, "a.yaml"), "config");
  return config;
}

}  // namespace knurl
