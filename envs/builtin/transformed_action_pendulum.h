#pragma once

#include "knurl/core/spaces/layout.h"
#include "knurl/envs/builtin/pendulum.h"
#include "knurl/envs/wrappers/wrapper.h"

namespace knurl {

/// Pendulum with actions in [low, high], which are stretched to the torques of [-2, 2]: for trying
/// whether an algorithm copes with actions of any scale. As RLlib's TransformedActionPendulum.
class TransformedActionPendulum final : public EnvWrapper {
 public:
  struct Config {
    double low = -1.0;
    double high = 1.0;
    static void fields(auto& self, auto&& field) {
      field("low", self.low, "least action", Range{-1e6, 1e6});
      field("high", self.high, "greatest action", Range{-1e6, 1e6});
    }
  };

  /// Throws Error(config) where low is not below high.
  explicit TransformedActionPendulum(Config config);

  [[nodiscard]] EnvSpec spec() const override;
  StepResult step(ActionView action, ObservationOut observation) override;

 private:
  Config config_;
  SpaceLayout layout_;
  SpaceValue torque_;  ///< action of the Pendulum
};

}  // namespace knurl
