#include "knurl/envs/wrappers/rewards.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "knurl/core/base/error.h"

namespace knurl {

ClipReward::ClipReward(std::unique_ptr<Env> inner, const Config& config)
    : EnvWrapper(std::move(inner)), config_(config) {
  const bool limited = config.low || config.high;
  if (limited == config.sign) {
    fail(ErrorKind::config, "{}: give low or high or both, or sign",
         limited ? "sign and limits cannot both hold" : "limits nothing");
  }
  if (config.low && config.high && *config.low > *config.high) {
    fail(ErrorKind::config, "low = {}: must be at most high = {}", *config.low, *config.high);
  }
}

StepResult ClipReward::step(ActionView action, ObservationOut observation) {
  StepResult result = EnvWrapper::step(action, observation);
  if (config_.sign) {
    result.reward = static_cast<double>((result.reward > 0.0) - (result.reward < 0.0));
  }
  if (config_.low) result.reward = std::max(result.reward, *config_.low);
  if (config_.high) result.reward = std::min(result.reward, *config_.high);
  return result;
}

TransformReward::TransformReward(std::unique_ptr<Env> inner, const Config& config)
    : EnvWrapper(std::move(inner)), config_(config) {
  if (!std::isfinite(config.scale) || !std::isfinite(config.shift)) {
    fail(ErrorKind::config, "scale = {}, shift = {}: must be finite", config.scale, config.shift);
  }
}

StepResult TransformReward::step(ActionView action, ObservationOut observation) {
  StepResult result = EnvWrapper::step(action, observation);
  result.reward = result.reward * config_.scale + config_.shift;
  return result;
}

}  // namespace knurl
