#pragma once

#include <array>
#include <exception>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "knurl/envs/detail/episode_recorder.h"
#include "knurl/envs/detail/parallel_loop.h"
#include "knurl/envs/vector_env.h"

namespace knurl::detail {

/// What an env is asked to do, as messages name it.
enum class EnvCall { constructor, reset, step, load };
constexpr auto names(EnvCall) {
  return std::array{std::pair{EnvCall::constructor, "constructor"},
                    std::pair{EnvCall::reset, "reset"}, std::pair{EnvCall::step, "step"},
                    std::pair{EnvCall::load, "load"}};
}

/// One env of a batch with all that belongs to it.
struct EnvSlot {
  std::unique_ptr<Env> env;
  Rng rng;
  bool started = false;  ///< an episode is running
  std::int64_t episode = 0;
  EpisodeSummary running = {};          ///< of the episode it is in
  std::vector<std::byte> actions = {};  ///< taken in it, where the env cannot save itself
  bool too_long = false;                ///< to be remembered
  bool ended = false;                   ///< by the last step
  EpisodeSummary last = {};             ///< the episode that the last step ended
  std::unique_ptr<EpisodeRecorder> recorder = {};  ///< where episodes are recorded
  std::string frame = {};                          ///< after the last step, where frames are kept
  std::exception_ptr error = {};
};

/// VectorEnv of separate Env objects.
class EnvBatch final : public VectorEnv {
 public:
  EnvBatch(std::string name, const EnvFactory& factory, const Rng& rng,
           const VectorEnvOptions& options);

  [[nodiscard]] int num_envs() const override { return static_cast<int>(slots_.size()); }
  [[nodiscard]] const EnvSpec& spec() const override { return spec_; }
  [[nodiscard]] const SpaceLayout& observation_layout() const override { return observations_; }
  [[nodiscard]] const SpaceLayout& action_layout() const override { return actions_; }
  void reset(const Rows& observation) override;
  void restart(const Rng& rng) override;
  using VectorEnv::step;
  void step(const ConstRows& actions, const VectorStep& out,
            std::span<const std::uint8_t> active) override;
  [[nodiscard]] std::span<const EpisodeSummary> ended() const override { return ended_; }
  [[nodiscard]] std::int64_t episode(int env) const override { return slot(env).episode; }
  [[nodiscard]] std::int64_t episode_length(int env) const override {
    return slot(env).running.length;
  }
  [[nodiscard]] std::string render(int env) const override {
    return options_.render ? slot(env).frame : slot(env).env->render();
  }
  void record(const Recording& recording) override;
  void save(ByteWriter& out) const override;
  void load(ByteReader& in) override;

 private:
  [[nodiscard]] const EnvSlot& slot(int env) const {
    return slots_.at(static_cast<std::size_t>(env));
  }

  void make_one(int index, const EnvFactory& factory);
  /// Runs `body(index)` for every env, serially or in parallel. Errors stay in the slots.
  template <class Body>
  void for_each_env(Body body);
  template <class Body>
  void run_one(int index, EnvCall call, Body& body);
  void throw_first_error() const;
  void start_episode(int index, std::int64_t episode, Row observation);
  void step_one(int index, const ConstRows& actions, const VectorStep& out);
  void finish_episode(EnvSlot& slot, const StepResult& result);
  void remember(EnvSlot& slot, const ConstRow& action) const;
  void replay(EnvSlot& slot);
  void choose_stepping(double seconds_a_step);

  std::string name_;
  VectorEnvOptions options_;
  Rng rng_;
  std::vector<EnvSlot> slots_;
  EnvSpec spec_;
  SpaceLayout observations_;
  SpaceLayout actions_;
  std::vector<EpisodeSummary> ended_;

  bool parallel_ = false;
  int measured_steps_ = 0;  ///< of all envs, timed before the choice is made
  double measured_seconds_ = 0.0;
  std::unique_ptr<ParallelLoop> loop_;  ///< made where it is needed first
};

}  // namespace knurl::detail
