#pragma once

#include "knurl/core/spaces/layout.h"
#include "knurl/envs/builtin/cartpole.h"
#include "knurl/envs/wrappers/wrapper.h"

namespace knurl {

/// CartPole for policies with a memory: positions only. Observation: the cart's position and the
/// pole's angle, without their velocities. As RLlib's StatelessCartPole there is no time limit.
class StatelessCartPole final : public EnvWrapper {
 public:
  using Config = CartPole::Config;

  explicit StatelessCartPole(Config config);

  [[nodiscard]] EnvSpec spec() const override;
  void reset(Rng& rng, ObservationOut observation) override;
  StepResult step(ActionView action, ObservationOut observation) override;

 private:
  void observe(ObservationOut observation) const;

  SpaceLayout layout_;
  SpaceValue whole_;  ///< observation of the CartPole
};

}  // namespace knurl
