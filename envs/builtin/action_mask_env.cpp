#include "knurl/envs/builtin/action_mask_env.h"

#include <algorithm>

namespace knurl {
namespace {

constexpr const char* kMask = "action_mask";

RandomEnv::Config world_of(const ActionMaskEnv::Config& config) {
  const auto* actions = config.action_space.as<Discrete>();
  if (!actions) {
    fail(ErrorKind::config, "env_config.action_space = {}: must be a Discrete",
         config.action_space.text());
  }
  return {.observation_space =
              Dict{.spaces = {{kMask, Box{.shape = {actions->n}, .low = 0.0, .high = 1.0}},
                              {"observations", config.observation_space}}},
          .action_space = config.action_space,
          .p_terminated = config.p_terminated,
          .max_episode_len = config.max_episode_len};
}

}  // namespace

ActionMaskEnv::ActionMaskEnv(const Config& config)
    : strict_(config.strict),
      world_(world_of(config)),
      mask_leaf_(SpaceLayout(world_.spec().observation).leaf_index(kMask)),
      allowed_(static_cast<std::size_t>(config.action_space.as<Discrete>()->n)) {}

EnvSpec ActionMaskEnv::spec() const {
  return world_.spec();
}

/// Makes what was drawn between 0 and 1 whole.
void ActionMaskEnv::show_mask(Rng& rng, ObservationOut observation) {
  const std::span<float> mask = observation.leaf<float>(mask_leaf_);
  for (float& number : mask) number = number > 0.5F ? 1.0F : 0.0F;
  if (std::ranges::count(mask, 1.0F) == 0) mask[rng.below(mask.size())] = 1.0F;
  std::ranges::transform(mask, allowed_.begin(),
                         [](float x) { return static_cast<std::uint8_t>(x); });
}

void ActionMaskEnv::reset(Rng& rng, ObservationOut observation) {
  rng_ = &rng;
  world_.reset(rng, observation);
  show_mask(rng, observation);
}

StepResult ActionMaskEnv::step(ActionView action, ObservationOut observation) {
  const std::int64_t index = action.index();
  const bool allowed =
      index >= 0 && index < std::ssize(allowed_) && allowed_[static_cast<std::size_t>(index)] != 0;
  if (strict_ && !allowed) {
    fail(ErrorKind::env, "Invalid action {}: allowed are {}", action.as<std::int64_t>()[0],
         render());
  }
  const StepResult result = world_.step(action, observation);
  show_mask(*rng_, observation);
  return allowed ? result : StepResult{.reward = -1.0, .terminated = true};
}

void ActionMaskEnv::save(ByteWriter& out) const {
  world_.save(out);
  write(out, allowed_);
}

void ActionMaskEnv::load(ByteReader& in, Rng& rng) {
  rng_ = &rng;
  world_.load(in, rng);
  allowed_ = read<std::vector<std::uint8_t>>(in);
}

std::string ActionMaskEnv::render() const {
  std::string out;
  for (const std::uint8_t one : allowed_) out += one != 0 ? '1' : '0';
  return out + "\n";
}

}  // namespace knurl
