#include "knurl/envs/builtin/transformed_action_pendulum.h"

namespace knurl {

TransformedActionPendulum::TransformedActionPendulum(Config config)
    : EnvWrapper(std::make_unique<Pendulum>(Pendulum::Config{})),
      config_(config),
      layout_(EnvWrapper::spec().action),
      torque_(layout_) {
  if (config.low < config.high) return;
  fail(ErrorKind::config, "env_config.low = {} and env_config.high = {}: low must be below high",
       config.low, config.high);
}

EnvSpec TransformedActionPendulum::spec() const {
  EnvSpec spec = EnvWrapper::spec();
  spec.action = Box{.shape = {1}, .low = config_.low, .high = config_.high};
  return spec;
}

StepResult TransformedActionPendulum::step(ActionView action, ObservationOut observation) {
  const Box& torques = *layout_.space().as<Box>();
  const auto least = static_cast<float>(torques.low.at(0));
  const auto greatest = static_cast<float>(torques.high.at(0));
  const float share = (action[0] - static_cast<float>(config_.low)) /
                      static_cast<float>(config_.high - config_.low);
  torque_.row()[0] = share * (greatest - least) + least;
  return EnvWrapper::step(std::as_const(torque_).row(), observation);
}

}  // namespace knurl
