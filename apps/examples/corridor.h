#pragma once

#include <algorithm>

#include "knurl/envs/env.h"

namespace example {

/// Walk right to the exit of a corridor. Reward 1 at the exit and -0.1 on the way.
class Corridor final : public knurl::Env {
 public:
  struct Config {
    int length = 5;
    static void fields(auto& self, auto&& field) {
      field("length", self.length, "cells to the exit", knurl::Range{1, 1'000});
    }
  };

  explicit Corridor(Config config) : length_(config.length) {}

  knurl::EnvSpec spec() const override {
    return {
        .observation = knurl::Box{.shape = {1}, .low = 0.0F, .high = static_cast<float>(length_)},
        .action = knurl::Discrete{.n = 2},
        .max_episode_steps = 100};
  }

  void reset(knurl::Rng& /*rng*/, knurl::ObservationOut observation) override {
    cell_ = 0;
    observation[0] = 0.0F;
  }

  knurl::StepResult step(knurl::ActionView action, knurl::ObservationOut observation) override {
    cell_ = std::max(0, cell_ + (action.index() == 1 ? 1 : -1));
    observation[0] = static_cast<float>(cell_);
    const bool at_exit = cell_ == length_;
    return {.reward = at_exit ? 1.0 : -0.1, .terminated = at_exit};
  }

 private:
  const int length_;
  int cell_ = 0;
};

}  // namespace example
