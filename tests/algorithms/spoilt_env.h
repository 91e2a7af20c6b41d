#pragma once

#include <limits>
#include <string>

#include "knurl/envs/registry.h"
#include "knurl/envs/wrappers/wrapper.h"

namespace knurl {

/// Another env that, once it has taken `after` steps in all, gives a NaN in step 5 of an episode.
class SpoiltEnv final : public EnvWrapper {
 public:
  struct Config {
    std::string env = "CartPole-v1";
    int after = 0;
    bool observation = false;
    static void fields(auto& self, auto&& field) {
      field("env", self.env, "the env that is spoilt");
      field("after", self.after, "steps of this env before it is", at_least(0));
      field("observation", self.observation, "its observations instead of its rewards");
    }
  };

  explicit SpoiltEnv(const Config& config)
      : EnvWrapper(make_env(config.env, ConfigValue::empty_map())), config_(config) {}

  void reset(Rng& rng, ObservationOut observation) override {
    step_ = 0;
    inner().reset(rng, observation);
  }
  StepResult step(ActionView action, ObservationOut observation) override {
    StepResult result = inner().step(action, observation);
    ++steps_;
    if (++step_ != 5 || steps_ < config_.after) return result;
    if (config_.observation) {
      observation[0] = std::numeric_limits<float>::quiet_NaN();
    } else {
      result.reward = std::numeric_limits<double>::quiet_NaN();
    }
    return result;
  }

 private:
  Config config_;
  int step_ = 0;
  int steps_ = 0;
};

}  // namespace knurl
