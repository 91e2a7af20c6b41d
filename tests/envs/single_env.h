#pragma once

#include <memory>
#include <string>
#include <vector>

#include "knurl/envs/env.h"

namespace knurl::testing {

/// One env with memory for its observation and action.
class SingleEnv {
 public:
  explicit SingleEnv(std::unique_ptr<Env> env, std::uint64_t seed = 1)
      : env_(std::move(env)),
        observations_(env_->spec().observation),
        actions_(env_->spec().action),
        observation_(observations_),
        action_(actions_),
        rng_(seed) {}

  [[nodiscard]] Env& env() { return *env_; }
  [[nodiscard]] Row observation() { return observation_.row(); }
  /// The number that a Discrete observation is.
  [[nodiscard]] std::int64_t observed() { return observation_.row().index(); }
  [[nodiscard]] std::vector<double> info() {
    std::vector<double> numbers(env_->spec().info.size());
    env_->info(numbers);
    return numbers;
  }

  void reset() { env_->reset(rng_, observation_.row()); }
  /// A step by action number `index` of a Discrete space.
  StepResult step(std::int64_t index) {
    action_.row().set_index(index);
    return env_->step(std::as_const(action_).row(), observation_.row());
  }
  /// A step by one real number.
  StepResult step_by(float number) {
    action_.row()[0] = number;
    return env_->step(std::as_const(action_).row(), observation_.row());
  }

 private:
  std::unique_ptr<Env> env_;
  SpaceLayout observations_;
  SpaceLayout actions_;
  SpaceValue observation_;
  SpaceValue action_;
  Rng rng_;
};

}  // namespace knurl::testing
