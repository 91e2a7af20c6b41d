#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "knurl/algorithms/options.h"
#include "knurl/algorithms/rollout/episode_watch.h"
#include "knurl/algorithms/rollout/fragment.h"
#include "knurl/algorithms/rollout/fragment_builder.h"
#include "knurl/core/base/bytes.h"
#include "knurl/core/base/rng.h"
#include "knurl/envs/vector_env.h"
#include "knurl/models/action_mask.h"
#include "knurl/models/policy.h"

namespace knurl {

class AlgorithmConfig;

/// All that a rollout worker is made from; travels to where the actor lives.
struct RolloutWorkerSpec {
  std::string algorithm = {};  ///< "PPO"
  std::string config = {};     ///< the resolved config as YAML
  int worker = 0;              ///< 0 is the driver's
  int num_envs = 1;
  int first_env = 0;               ///< index of its first env in the whole run
  int total_envs = 1;              ///< envs in the whole run
  std::string stream = "rollout";  ///< whose episodes these are: their random streams' name
  Acting acting = Acting::exploring;
  Purpose purpose = Purpose::training;
  bool render = false;  ///< keep each env's text for picture()
};

/// What a worker is asked for.
struct SampleRequest {
  std::int64_t steps_per_env = 1;
  std::int64_t timestep = 0;  ///< env steps that the run has taken before, for schedules
  BatchMode mode = BatchMode::truncate_episodes;
};

/// Steps a batch of envs with a policy: the only interaction loop there is. An actor, or used
/// directly. Not thread-safe.
class RolloutWorker {
 public:
  /// Throws Error(config) or Error(env) naming env, worker and index.
  explicit RolloutWorker(RolloutWorkerSpec spec);
  ~RolloutWorker();

  /// Throws Error(config) where they are another model's.
  void set_weights(const Weights& weights) { policy_->set_weights(weights); }

  /// Takes steps_per_env steps in each env. Episodes go on from fragment to fragment; but with
  /// complete_episodes each env goes on to the first end of an episode at or after so many steps,
  /// and then waits for the next call, so that all episodes are whole. Throws Error(env) where an
  /// env throws, naming env, worker, index and call, or where an observation or reward is not
  /// finite, or a whole number outside its space, naming env, worker, index, episode, step and
  /// field; the next call then begins new episodes in all envs. A whole episode of more than a
  /// million steps is an Error(env) too, and a fragment for which there is no memory an
  /// Error(config).
  Fragment sample(const SampleRequest& request);

  /// Records episodes that begin from now on, where the config's wrappers ask for it: below the
  /// run's directory, in files whose names begin with `label`; those with numbers below
  /// `num_episodes` alone, where it is given.
  void record(const std::string& directory, const std::string& label,
              std::optional<std::int64_t> num_episodes = std::nullopt);

  /// Begins anew with the first episodes of another stream; the weights stay.
  void restart(const std::string& stream);

  /// Calls a function of a worker with this one: what foreach_worker sends to where workers live.
  template <auto Function>
  auto apply() {
    return Function(*this);
  }

  /// Where everything stands: envs, running episodes, random streams.
  [[nodiscard]] std::vector<std::byte> save_state() const;
  void load_state(const std::vector<std::byte>& state);

  [[nodiscard]] int num_envs() const { return env_->num_envs(); }
  [[nodiscard]] int first_env() const { return spec_.first_env; }
  [[nodiscard]] int total_envs() const { return spec_.total_envs; }
  [[nodiscard]] const EnvSpec& env_spec() const { return env_->spec(); }
  /// An env as text after its last step, before any reset.
  [[nodiscard]] std::string picture(int env) const { return env_->render(env); }
  [[nodiscard]] Policy& policy() { return *policy_; }

 private:
  Fragment run(const SampleRequest& request);
  void make_policy();
  void start_if_needed();
  [[nodiscard]] FragmentBuilder new_builder(std::int64_t steps) const;
  /// Acts and steps once in every active env.
  void step(FragmentBuilder& builder, std::int64_t step, Fragment& fragment);
  void end_episodes(FragmentBuilder& builder, std::int64_t step, const SampleRequest& request);
  [[nodiscard]] std::span<const std::uint8_t> active() const;
  /// Where an env is in its episode.
  struct Moment {
    int env = 0;
    std::int64_t episode = 0;
    std::int64_t step = 0;
  };
  [[nodiscard]] Moment last_moment(int env) const;
  void check_step(std::span<const float> rewards, const Rows& observations) const;
  void check_observations(const Rows& rows) const;
  void check_observation(const Rows& rows, std::size_t leaf, const Moment& moment) const;
  [[noreturn]] void refuse(const Moment& moment, const std::string& why) const;
  [[nodiscard]] const std::vector<Leaf>& leaves() const {
    return env_->observation_layout().leaves();
  }
  void begin_episode(int env);
  void restore_rows(const RecordBatch& saved, RecordBatch& to, const char* what,
                    const char* whose) const;

  RolloutWorkerSpec spec_;
  std::unique_ptr<AlgorithmConfig> config_;
  std::string env_name_;
  bool print_ = false;  ///< the first env's text after each step
  Rng run_;
  Rng rng_;  ///< of the stream
  std::unique_ptr<VectorEnv> env_;
  std::unique_ptr<Policy> policy_;
  std::vector<Rng> exploration_rngs_;  ///< one an env, anew for each episode
  ActionMask mask_;                    ///< of the env's observations, where the policy heeds it
  RecordBatch memory_;                 ///< what the policy remembers of each env's episode
  RecordBatch observations_;           ///< what each env shows now
  Rows observation_rows_;
  RecordBatch final_observations_;
  Rows final_rows_;
  std::vector<std::uint8_t> terminated_;
  std::vector<std::uint8_t> truncated_;
  std::vector<double> info_;
  std::vector<std::uint8_t> active_;  ///< envs that have not stopped in this fragment
  int num_active_ = 0;
  std::unique_ptr<EpisodeWatch> watch_;  ///< null where there are no callbacks
  bool started_ = false;
};

}  // namespace knurl
