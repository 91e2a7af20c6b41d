#pragma once

#include <algorithm>
#include <cstddef>
#include <span>
#include <string>

#include "knurl/envs/env.h"

/// Walk a line of cells to its right end, though a wind now and then blows a step to the left.
/// Reward 1 at the end and -0.1 on the way. Observation: the cell. Actions: 0 left, 1 right.
class WindyWalk final : public knurl::Env {
 public:
  struct Config {
    int length = 6;
    double wind = 0.1;
    static void fields(auto& self, auto&& field) {
      field("length", self.length, "cells to the end", knurl::Range{1, 1'000});
      field("wind", self.wind, "chance that a step is blown to the left", knurl::Range{0.0, 0.9});
    }
  };

  explicit WindyWalk(Config config) : config_(config) {}

  [[nodiscard]] knurl::EnvSpec spec() const override {
    const auto end = static_cast<double>(config_.length);
    return {.observation = knurl::Box{.shape = {1}, .low = 0.0, .high = end},
            .action = knurl::Discrete{.n = 2},
            .max_episode_steps = 50,
            .info = {"success", "gusts"}};
  }

  void reset(knurl::Rng& rng, knurl::ObservationOut observation) override {
    rng_ = &rng;
    state_ = {};
    observation[0] = 0.0F;
  }

  knurl::StepResult step(knurl::ActionView action, knurl::ObservationOut observation) override {
    const bool gust = rng_->uniform() < config_.wind;
    state_.gusts += gust ? 1 : 0;
    const int move = action.index() == 1 && !gust ? 1 : -1;
    state_.cell = std::clamp(state_.cell + move, 0, config_.length);
    observation[0] = static_cast<float>(state_.cell);
    return {.reward = at_end() ? 1.0 : -0.1, .terminated = at_end()};
  }

  void info(std::span<double> numbers) const override {
    numbers[0] = at_end() ? 1.0 : 0.0;
    numbers[1] = state_.gusts;
  }

  [[nodiscard]] std::string render() const override {
    std::string line(static_cast<std::size_t>(config_.length) + 1, '.');
    line.back() = '|';
    line[static_cast<std::size_t>(state_.cell)] = '@';
    return line + "\n";
  }

  [[nodiscard]] bool can_save() const override { return true; }
  void save(knurl::ByteWriter& out) const override { knurl::write(out, state_); }
  void load(knurl::ByteReader& in, knurl::Rng& rng) override {
    rng_ = &rng;
    state_ = knurl::read<State>(in);
  }

 private:
  struct State {
    int cell = 0;
    int gusts = 0;
  };

  [[nodiscard]] bool at_end() const { return state_.cell == config_.length; }

  const Config config_;
  State state_;
  knurl::Rng* rng_ = nullptr;
};
