#include "knurl/envs/builtin/repeat_after_me.h"

#include <cmath>

namespace knurl {

EnvSpec RepeatAfterMe::spec() const {
  const Space tokens = config_.continuous ? Space(Box{.shape = {2}, .low = -1.0, .high = 1.0})
                                          : Space(Discrete{.n = 2});
  return {.observation = tokens, .action = tokens};
}

void RepeatAfterMe::reset(Rng& rng, ObservationOut observation) {
  rng_ = &rng;
  steps_ = 0;
  seen_.assign(static_cast<std::size_t>(config_.repeat_delay) + 1, Token{});
  show_next(observation);
}

StepResult RepeatAfterMe::step(ActionView action, ObservationOut observation) {
  const Token right = answer();
  double reward = 0.0;
  if (config_.continuous) {
    for (std::size_t i = 0; i < right.size(); ++i) {
      reward -= std::abs(static_cast<double>(action[i]) - static_cast<double>(right[i]));
    }
  } else {
    const std::int64_t said = action.index();
    if (said != 0 && said != 1) fail(ErrorKind::env, "Invalid action {}: must be 0 or 1", said);
    reward = static_cast<float>(said) == right[0] ? 1.0 : -1.0;
  }
  ++steps_;
  show_next(observation);
  const bool over = steps_ + config_.repeat_delay > config_.episode_len;
  return {.reward = reward, .terminated = over, .truncated = over};
}

/// The oldest that is kept; zeros where nothing was seen so long ago.
const RepeatAfterMe::Token& RepeatAfterMe::answer() const {
  return seen_[static_cast<std::size_t>(steps_ + 1) % seen_.size()];
}

void RepeatAfterMe::show_next(ObservationOut observation) {
  Token& next = seen_[static_cast<std::size_t>(steps_) % seen_.size()];
  if (config_.continuous) {
    for (std::size_t i = 0; i < next.size(); ++i) {
      next[i] = static_cast<float>(rng_->uniform());
      observation[i] = next[i];
    }
  } else {
    const std::uint64_t coin = rng_->below(2);
    next[0] = static_cast<float>(coin);
    observation.set_index(static_cast<std::int64_t>(coin));
  }
}

void RepeatAfterMe::save(ByteWriter& out) const {
  write(out, steps_);
  write(out, seen_);
}

void RepeatAfterMe::load(ByteReader& in, Rng& rng) {
  rng_ = &rng;
  steps_ = read<int>(in);
  seen_ = read<std::vector<Token>>(in);
}

std::string RepeatAfterMe::render() const {
  if (seen_.empty()) return "";
  const Token& now = seen_[static_cast<std::size_t>(steps_) % seen_.size()];
  const auto text = [&](const Token& token) {
    return config_.continuous ? fmt::format("{:.2f} {:.2f}", token[0], token[1])
                              : fmt::format("{}", token[0]);
  };
  return fmt::format("sees {}, is to say {}\n", text(now), text(answer()));
}

}  // namespace knurl
