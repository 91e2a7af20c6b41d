#pragma once

#include <algorithm>
#include <functional>
#include <string>
#include <tuple>
#include <utility>

#include "knurl/envs/env.h"

/// Small worlds for the tests of everything that steps envs.
namespace knurl::testing {

/// Walk right to the exit of a corridor. Reward 1 at the exit and -0.1 on the way. Cannot save.
class Corridor final : public Env {
 public:
  struct Config {
    int length = 5;
    static void fields(auto& self, auto&& field) {
      field("length", self.length, "cells to the exit", Range{1, 1'000});
    }
  };

  explicit Corridor(Config config) : length_(config.length) {}

  [[nodiscard]] EnvSpec spec() const override {
    return {.observation = Box{.shape = {1}, .low = 0.0, .high = static_cast<double>(length_)},
            .action = Discrete{.n = 2},
            .max_episode_steps = 100};
  }

  void reset(Rng& /*rng*/, ObservationOut observation) override {
    cell_ = 0;
    observation[0] = 0.0F;
  }

  StepResult step(ActionView action, ObservationOut observation) override {
    cell_ = std::max(0, cell_ + (action.index() == 1 ? 1 : -1));
    observation[0] = static_cast<float>(cell_);
    const bool at_exit = cell_ == length_;
    return {.reward = at_exit ? 1.0 : -0.1, .terminated = at_exit};
  }

 private:
  const int length_;
  int cell_ = 0;
};

/// Counts 0, 1, 2, … and terminates at `length`, whatever the action. Reward 0.1 a step.
class Counter : public Env {
 public:
  explicit Counter(int length) : length_(length) {}

  [[nodiscard]] EnvSpec spec() const override {
    return {.observation = Box{.shape = {1}, .low = 0.0, .high = static_cast<double>(length_)},
            .action = Discrete{.n = 2}};
  }
  void reset(Rng& /*rng*/, ObservationOut observation) override {
    count_ = 0;
    observation[0] = 0.0F;
  }
  StepResult step(ActionView /*action*/, ObservationOut observation) override {
    ++count_;
    observation[0] = static_cast<float>(count_);
    return {.reward = 0.1, .terminated = count_ == length_};
  }

 protected:
  [[nodiscard]] int count() const { return count_; }

 private:
  int length_;
  int count_ = 0;
};

/// A Counter that does something beside: `in_step` is called with the count before each step.
class BusyCounter final : public Counter {
 public:
  BusyCounter(int length, std::function<void(int)> in_step)
      : Counter(length), in_step_(std::move(in_step)) {}
  StepResult step(ActionView action, ObservationOut observation) override {
    in_step_(count());
    return Counter::step(action, observation);
  }

 private:
  std::function<void(int)> in_step_;
};

/// Rolls dice: parts of several types, random numbers in each step and not only in reset, episodes
/// that end either way at random, info numbers. Cannot save.
class Dice : public Env {
 public:
  [[nodiscard]] EnvSpec spec() const override {
    return {
        .observation =
            Dict{{{"pips", Box{.shape = {2, 3}, .low = 1.0, .high = 6.0, .dtype = DType::uint8}},
                  {"sum", Box{.shape = {1}, .low = -1e6, .high = 1e6}},
                  {"turn", Discrete{.n = 1'000'000}}}},
        .action =
            Tuple{{Discrete{.n = 3, .start = -1}, Box{.shape = {2}, .low = -1.0, .high = 1.0}}},
        .info = {"sum", "turn"}};
  }
  void reset(Rng& rng, ObservationOut observation) override {
    rng_ = &rng;
    sum_ = 0.0;
    turn_ = 0;
    observe(observation);
  }
  StepResult step(ActionView action, ObservationOut observation) override {
    const auto sign = action.leaf<std::int64_t>("0")[0];
    const std::span<const float> push = action.leaf<float>("1");
    ++turn_;
    sum_ += static_cast<double>(sign) + static_cast<double>(push[0]) * rng_->normal() +
            static_cast<double>(push[1]);
    observe(observation);
    const std::uint64_t fate = rng_->below(40);
    return {.reward = sum_, .terminated = fate == 0, .truncated = fate == 1};
  }
  void info(std::span<double> numbers) const override {
    numbers[0] = sum_;
    numbers[1] = turn_;
  }

 protected:
  void observe(ObservationOut observation) const {
    for (std::uint8_t& pip : observation.leaf<std::uint8_t>("pips")) {
      pip = static_cast<std::uint8_t>(1 + rng_->below(6));
    }
    observation.leaf<float>("sum")[0] = static_cast<float>(sum_);
    observation.leaf<std::int64_t>("turn")[0] = turn_;
  }

  Rng* rng_ = nullptr;
  double sum_ = 0.0;
  int turn_ = 0;
};

/// Dice that can save.
class SavingDice final : public Dice {
 public:
  [[nodiscard]] bool can_save() const override { return true; }
  void save(ByteWriter& out) const override { write(out, std::pair(sum_, turn_)); }
  void load(ByteReader& in, Rng& rng) override {
    rng_ = &rng;
    std::tie(sum_, turn_) = read<std::pair<double, int>>(in);
  }
};

}  // namespace knurl::testing
