#pragma once

#include <memory>
#include <optional>

#include "knurl/envs/wrappers/wrapper.h"

namespace knurl {

/// Rewards limited to [low, high], or their signs -1, 0 and 1 (Mnih et al. 2015).
class ClipReward final : public EnvWrapper {
 public:
  struct Config {
    std::optional<double> low;
    std::optional<double> high;
    bool sign = false;
    static void fields(auto& self, auto&& field) {
      field("low", self.low, "smallest reward; null: no limit");
      field("high", self.high, "largest reward; null: no limit");
      field("sign", self.sign, "-1, 0 or 1 in place of the reward");
    }
  };

  /// Throws Error(config) where the config limits nothing, or two ways at once.
  ClipReward(std::unique_ptr<Env> inner, const Config& config);

  StepResult step(ActionView action, ObservationOut observation) override;

 private:
  Config config_;
};

/// Rewards times `scale` plus `shift`.
class TransformReward final : public EnvWrapper {
 public:
  struct Config {
    double scale = 1.0;
    double shift = 0.0;
    static void fields(auto& self, auto&& field) {
      field("scale", self.scale, "what rewards are multiplied with");
      field("shift", self.shift, "what is added to them then");
    }
  };

  /// Throws Error(config) where a number is not finite.
  TransformReward(std::unique_ptr<Env> inner, const Config& config);

  StepResult step(ActionView action, ObservationOut observation) override;

 private:
  Config config_;
};

}  // namespace knurl
