#pragma once

#include <algorithm>

#include "knurl/envs/env.h"

namespace knurl {

/// A picture of bytes, [height, width, 1], with one lit pixel. Reward 1 for saying which half it is
/// in, left (0) or right (1); then another one is lit, ten times.
class LitPixelEnv final : public Env {
 public:
  struct Config {
    int height = 5;
    int width = 6;
    static void fields(auto& self, auto&& field) {
      field("height", self.height, "lines of the picture", at_least(1));
      field("width", self.width, "its columns", at_least(2));
    }
  };

  explicit LitPixelEnv(Config config) : config_(config) {}

  [[nodiscard]] EnvSpec spec() const override {
    return {.observation = Box{.shape = {config_.height, config_.width, 1},
                               .low = 0,
                               .high = 255,
                               .dtype = DType::uint8},
            .action = Discrete{.n = 2},
            .max_episode_steps = 10};
  }
  void reset(Rng& rng, ObservationOut observation) override {
    rng_ = &rng;
    light(observation);
  }
  StepResult step(ActionView action, ObservationOut observation) override {
    const bool right = lit_ % config_.width >= config_.width / 2;
    const double reward = action.index() == (right ? 1 : 0) ? 1.0 : 0.0;
    light(observation);
    return {.reward = reward};
  }

 private:
  void light(ObservationOut observation) {
    const auto pixels = observation.as<std::uint8_t>();
    std::ranges::fill(pixels, std::uint8_t{0});
    lit_ = static_cast<int>(rng_->below(pixels.size()));
    pixels[static_cast<std::size_t>(lit_)] = 255;
  }

  Config config_;
  int lit_ = 0;
  Rng* rng_ = nullptr;
};

}  // namespace knurl
