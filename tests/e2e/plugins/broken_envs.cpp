// A sound plug-in with envs that break their promises.
#include <limits>

#include "knurl/core/base/plugin.h"
#include "knurl/envs/registry.h"

namespace {

/// Rewards the third step with no number, and goes to -1, which is not in its space.
class NotANumber : public knurl::Env {
 public:
  [[nodiscard]] knurl::EnvSpec spec() const override {
    return {.observation = knurl::Box{.shape = {1}, .low = 0.0, .high = 9.0},
            .action = knurl::Discrete{.n = 2},
            .max_episode_steps = 9};
  }
  void reset(knurl::Rng& /*rng*/, knurl::ObservationOut observation) override {
    observation[0] = static_cast<float>(steps_ = 0);
  }
  knurl::StepResult step(knurl::ActionView /*action*/, knurl::ObservationOut observation) override {
    observation[0] = ++steps_ == 3 ? -1.0F : static_cast<float>(steps_);
    return {.reward = steps_ == 3 ? std::numeric_limits<double>::quiet_NaN() : 0.0};
  }

 protected:
  int steps_ = 0;
};

/// Cannot take its second step.
class Thrower final : public NotANumber {
 public:
  knurl::StepResult step(knurl::ActionView action, knurl::ObservationOut observation) override {
    if (steps_ == 1) throw std::runtime_error("the wheels came off");
    return NotANumber::step(action, observation);
  }
};

}  // namespace

extern "C" knurl::Plugin knurl_plugin() {
  return {.register_all = [] {
    knurl::register_env<NotANumber>("NotANumber-v0", "a reward that is no number");
    knurl::register_env<Thrower>("Thrower-v0", "throws in its second step");
  }};
}
