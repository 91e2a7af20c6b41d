#include "knurl/envs/builtin/stateless_cartpole.h"

namespace knurl {
namespace {

// elements of a CartPole's observation
constexpr std::size_t kPosition = 0;
constexpr std::size_t kAngle = 2;

}  // namespace

StatelessCartPole::StatelessCartPole(Config config)
    : EnvWrapper(std::make_unique<CartPole>(config)),
      layout_(EnvWrapper::spec().observation),
      whole_(layout_) {}

EnvSpec StatelessCartPole::spec() const {
  EnvSpec spec = EnvWrapper::spec();
  const Box& whole = *layout_.space().as<Box>();
  spec.observation = Box{.shape = {2},
                         .low = {whole.low.at(kPosition), whole.low.at(kAngle)},
                         .high = {whole.high.at(kPosition), whole.high.at(kAngle)}};
  spec.max_episode_steps = std::nullopt;
  return spec;
}

void StatelessCartPole::reset(Rng& rng, ObservationOut observation) {
  EnvWrapper::reset(rng, whole_.row());
  observe(observation);
}

StepResult StatelessCartPole::step(ActionView action, ObservationOut observation) {
  const StepResult result = EnvWrapper::step(action, whole_.row());
  observe(observation);
  return result;
}

void StatelessCartPole::observe(ObservationOut observation) const {
  observation[0] = whole_.row()[kPosition];
  observation[1] = whole_.row()[kAngle];
}

}  // namespace knurl
