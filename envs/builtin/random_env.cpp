#include "knurl/envs/builtin/random_env.h"

#include <cstring>

namespace knurl {
namespace {

double number_of(const ConstRow& reward) {
  if (reward.layout().space().as<Discrete>()) {
    return static_cast<double>(reward.as<std::int64_t>()[0]);
  }
  float number = 0.0F;
  flatten(reward, {&number, 1});
  return number;
}

}  // namespace

RandomEnv::RandomEnv(Config config)
    : config_(std::move(config)),
      observations_(config_.observation_space),
      rewards_(config_.reward_space),
      static_observation_(observations_),
      reward_(rewards_) {
  const Box* const box = config_.reward_space.as<Box>();
  if (!config_.reward_space.as<Discrete>() && (!box || num_elements(box->shape) != 1)) {
    fail(ErrorKind::config,
         "env_config.reward_space = {}: must be a Discrete or a Box of one element",
         config_.reward_space.text());
  }
  Rng rng;
  sample(static_observation_.row(), rng);
  sample(reward_.row(), rng);
}

EnvSpec RandomEnv::spec() const {
  return {.observation = config_.observation_space, .action = config_.action_space};
}

void RandomEnv::reset(Rng& rng, ObservationOut observation) {
  rng_ = &rng;
  steps_ = 0;
  observe(observation);
}

StepResult RandomEnv::step(ActionView action, ObservationOut observation) {
  if (config_.check_action_bounds) {
    const std::string wrong = violation(action);
    if (!wrong.empty()) {
      fail(ErrorKind::env, "Invalid action of {}: {}", config_.action_space.text(), wrong);
    }
  }
  ++steps_;
  observe(observation);
  if (!config_.static_samples) sample(reward_.row(), *rng_);
  StepResult result{.reward = number_of(std::as_const(reward_).row())};
  // the last step that there may be is no matter of chance
  const int longest = config_.max_episode_len.value_or(0);
  if (longest > 0 && steps_ >= longest) {
    result.truncated = true;
  } else {
    result.terminated = config_.p_terminated > 0.0 && rng_->uniform() < config_.p_terminated;
  }
  return result;
}

void RandomEnv::load(ByteReader& in, Rng& rng) {
  rng_ = &rng;
  steps_ = read<int>(in);
}

std::string RandomEnv::render() const {
  return fmt::format("step {}\n", steps_);
}

void RandomEnv::observe(ObservationOut observation) {
  if (!config_.static_samples) return sample(observation, *rng_);
  for (std::size_t leaf = 0; leaf < observations_.leaves().size(); ++leaf) {
    std::memcpy(observation.bytes(leaf), std::as_const(static_observation_).row().bytes(leaf),
                observations_.leaves()[leaf].bytes());
  }
}

}  // namespace knurl
