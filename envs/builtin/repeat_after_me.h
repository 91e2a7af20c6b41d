#pragma once

#include <array>
#include <vector>

#include "knurl/envs/env.h"

namespace knurl {

/// Say what you saw `repeat_delay` steps ago: for policies with a memory. Each observation is drawn
/// anew, 0 or 1, or with `continuous` two numbers in [0, 1). Reward 1 for the right answer and -1
/// for the wrong one; with `continuous`, minus the sum of both distances. Before there was anything
/// to repeat, 0 is right. As RLlib's RepeatAfterMeEnv, whose episodes end, terminated and truncated
/// at once, after episode_len - repeat_delay + 1 steps.
class RepeatAfterMe final : public Env {
 public:
  struct Config {
    int repeat_delay = 1;
    int episode_len = 100;
    bool continuous = false;
    static void fields(auto& self, auto&& field) {
      field("repeat_delay", self.repeat_delay, "steps between seeing and repeating; 0: at once",
            Range{0, 10'000});
      field("episode_len", self.episode_len,
            "an episode ends after episode_len - repeat_delay + 1 steps", Range{1, 1'000'000'000});
      field("continuous", self.continuous, "two numbers instead of 0 or 1");
    }
  };

  explicit RepeatAfterMe(Config config) : config_(config) {}

  [[nodiscard]] EnvSpec spec() const override;
  void reset(Rng& rng, ObservationOut observation) override;
  StepResult step(ActionView action, ObservationOut observation) override;
  [[nodiscard]] bool can_save() const override { return true; }
  void save(ByteWriter& out) const override;
  void load(ByteReader& in, Rng& rng) override;
  /// What is seen and what is to be said now.
  [[nodiscard]] std::string render() const override;

 private:
  using Token = std::array<float, 2>;  ///< the second is 0 where the first is the whole

  [[nodiscard]] const Token& answer() const;
  void show_next(ObservationOut observation);

  Config config_;
  Rng* rng_ = nullptr;
  std::vector<Token> seen_ = {};  ///< the last repeat_delay + 1, in turn: step i's at i modulo size
  int steps_ = 0;
};

}  // namespace knurl
