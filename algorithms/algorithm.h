#pragma once

#include <cstdint>
#include <deque>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "knurl/algorithms/algorithm_config.h"
#include "knurl/algorithms/callbacks.h"
#include "knurl/algorithms/learner/learner.h"
#include "knurl/algorithms/rollout/evaluation_set.h"
#include "knurl/algorithms/rollout/reward_filter.h"
#include "knurl/algorithms/rollout/worker_set.h"
#include "knurl/core/base/clock.h"
#include "knurl/core/tune/trainable.h"

namespace knurl {

/// An observation as plain values: of a Discrete space its number, of a Box its elements.
using ObservationValue = std::variant<std::int64_t, std::vector<float>>;

/// The same for actions.
using ActionValue = std::variant<std::int64_t, std::vector<float>>;

/// A policy that learns. Made by a config's build(), or from a checkpoint. Not thread-safe.
class Algorithm : public tune::Trainable {
 public:
  ~Algorithm() override = default;

  /// The algorithm that a checkpoint holds, ready to act, evaluate or train on.
  static std::unique_ptr<Algorithm> from_checkpoint(const std::filesystem::path& checkpoint);

  /// One iteration: training steps until the min_*_per_iteration options are met. Result keys are
  /// RLlib's; metric_names() has them with what they mean. Where it throws it may be called again:
  /// what the iteration has sampled is lost, and nothing is learnt across the gap.
  Result train() override;

  /// Episodes of which training knows nothing, as evaluation_duration, evaluation_config and the
  /// other evaluation options say: by default 10 greedy ones. Returns what they came to below
  /// "evaluation/": evaluation/episode_reward_mean, …
  Result evaluate();

  /// Writes a checkpoint and returns its directory: the one given, or by default
  /// checkpoint_<iteration> in the run's. One that is there is replaced.
  std::filesystem::path save(std::filesystem::path directory = {});
  /// The run's directory, where save() and recordings go; results/<algorithm>_<env> until this is
  /// called.
  void set_directory(const std::filesystem::path& directory);
  /// Goes on from a checkpoint of the same algorithm and env.
  void restore(const std::filesystem::path& checkpoint);
  CheckpointData save_state() override;
  /// Throws Error(checkpoint) where the state does not fit: nothing has changed then, or where that
  /// shows too late, the algorithm is as after stop().
  void load_state(const CheckpointData& state) override;
  [[nodiscard]] std::int64_t iteration() const override { return counters_.iteration; }

  /// The policy's action for one observation: the likeliest, or as it explores in training. Throws
  /// Error(config) for an observation that is not in the env's space.
  ActionValue compute_single_action(const ObservationValue& observation, bool explore = false);
  std::map<std::string, ActionValue> compute_actions(
      const std::map<std::string, ObservationValue>& observations, bool explore = false);

  /// What the policy remembers of an episode that a program steps itself.
  class ActingState {
   public:
    /// Notes the env's reward of the last step, for policies that read it as clip_rewards leaves
    /// it.
    void observe_reward(float reward);

   private:
    friend class Algorithm;
    ActingState(RecordBatch memory, const RewardClip& clip)
        : memory_(std::move(memory)), clip_(clip) {}
    RecordBatch memory_;  ///< one row; no columns where the policy does not remember
    RewardClip clip_;
  };
  /// The state at the start of an episode.
  [[nodiscard]] ActingState get_initial_state() const;
  /// The same for a policy that remembers (model.use_lstm); the states go on by a step. Without
  /// states such a policy is an Error(config), and so is an observation without one.
  ActionValue compute_single_action(const ObservationValue& observation, ActingState& state,
                                    bool explore = false);
  std::map<std::string, ActionValue> compute_actions(
      const std::map<std::string, ObservationValue>& observations,
      std::map<std::string, ActingState>& states, bool explore = false);

  /// What a net of action values (DQN) says of one observation: each action's value, and, where it
  /// learns distributions, their probabilities [actions][atoms].
  struct ActionValues {
    std::vector<float> values = {};
    std::vector<std::vector<float>> distributions = {};
  };
  /// Throws Error(config) where the policy has no action values, or the observation is not in the
  /// env's space.
  ActionValues compute_action_values(const ObservationValue& observation);

  /// Calls `Function`, a plain function or captureless lambda of a RolloutWorker&, in each rollout
  /// worker; what they return, in order of the workers:
  ///   algorithm->foreach_worker<[](RolloutWorker& worker) { return worker.num_envs(); }>()
  template <auto Function>
  auto foreach_worker() {
    if (!workers_) fail(ErrorKind::config, "foreach_worker() after stop(): the workers are gone");
    return workers_->foreach_worker<Function>();
  }

  /// The policy that acts, with the newest weights; valid as long as the algorithm.
  Policy& get_policy(const std::string& policy_id = "default_policy");
  /// Parameters by policy.
  [[nodiscard]] std::map<std::string, Weights> get_weights();
  /// A filter of observations goes on from theirs. Throws Error(config) where they are another
  /// model's.
  void set_weights(const std::map<std::string, Weights>& weights);

  /// Ends the rollout workers. What was learnt stays; train() is over.
  void stop() {
    workers_.reset();
    evaluation_.reset();
  }

  [[nodiscard]] const AlgorithmConfig& config() const { return *config_; }
  [[nodiscard]] const MetricNames& metric_names() const override { return names_; }
  [[nodiscard]] const EnvSpec& env_spec() const { return env_spec_; }

 protected:
  explicit Algorithm(std::unique_ptr<const AlgorithmConfig> resolved);

  /// One step of the algorithm as its paper writes it.
  virtual void training_step() = 0;

  [[nodiscard]] virtual Learner& learner() = 0;

  /// The weights by which workers act: the learner's, unless exploration changes them.
  [[nodiscard]] virtual Weights acting_weights() { return learner().weights(); }

  /// What the algorithm keeps beside its learner: numbers for learner_stats, and what a checkpoint
  /// must hold of it.
  virtual void report_own(Result& /*stats*/) const {}
  virtual void save_own(CheckpointData& /*out*/) const {}
  virtual void load_own(const CheckpointData& /*in*/) {}
  /// Forgets the steps that wait for those after them: an error has lost these.
  virtual void forget_waiting() {}

  // for training_step

  /// Steps the workers' envs, at least so many steps in all: whole rounds of fragments.
  std::vector<Fragment> sample(std::int64_t min_steps);
  /// Hands the learner's weights to the workers.
  void share_weights();
  /// Notes that so many env steps were learnt from, and the seconds it took; tells callbacks.
  void count_trained(std::int64_t env_steps, double seconds);

  [[nodiscard]] std::int64_t env_steps_sampled() const { return counters_.env_steps_sampled; }
  /// The run's random stream; split it by the component's name.
  [[nodiscard]] Rng run_rng() const;
  [[nodiscard]] const SpaceLayout& observation_layout() const { return observations_; }
  [[nodiscard]] const SpaceLayout& action_layout() const { return actions_; }

 private:
  friend class AlgorithmConfig;  // build() tells callbacks when all is made

  /// Everything counted since the run began; what a checkpoint holds of it.
  struct Counters {
    std::int64_t iteration = 0;
    std::int64_t env_steps_sampled = 0;
    std::int64_t env_steps_trained = 0;
    std::int64_t episodes = 0;
    std::int64_t evaluations = 0;
    double time_total_s = 0.0;
  };
  /// Seconds of one iteration by what they went into.
  struct Timers {
    double sample = 0.0;
    double learn = 0.0;
    double share = 0.0;
    // of sampling: each round lasts as long as its slowest worker, and what the calls cost
    double env = 0.0;
    double inference = 0.0;
    double transport = 0.0;
    SampleTimes workers = {};  ///< summed over workers
  };
  /// A policy of the driver's own, and which weights it has.
  struct Actor {
    std::unique_ptr<Policy> policy;
    std::optional<std::int64_t> version;
  };

  /// The iteration is as long as the min_*_per_iteration options want it.
  [[nodiscard]] bool iteration_done(const Counters& before, double start) const;
  /// Notes where the time of one round of fragments went, `seconds` in all.
  void count_round(const std::vector<Fragment>& round, double seconds);
  void report_counters(Result& result, const Counters& before, double seconds);
  void report_timers(Result& result, double seconds) const;
  std::map<std::string, ActionValue> act(
      const std::map<std::string, ObservationValue>& observations, RecordBatch& memory,
      bool explore);
  /// The driver's policy with the newest weights.
  Policy& up_to_date(Actor& actor);
  [[nodiscard]] bool evaluation_due(std::int64_t iteration) const;
  void start_evaluation();
  Result finish_evaluation();
  void report_evaluation(Result& result, bool running);
  /// Notes episodes that ended, for the metrics.
  void note_episodes(const std::vector<Fragment>& fragments);
  /// Calls a method of the driver's callbacks, where there are any.
  template <class Body>
  void tell(const char* method, Body body) {
    if (!callbacks_) return;
    const auto where = [&] {
      return fmt::format("callbacks {}: {}", **config_->common().callbacks.callbacks, method);
    };
    call_back(where, [&] { body(*callbacks_); });
  }
  [[nodiscard]] std::string counters_json();
  void restore_counters(const std::string& json);

  std::unique_ptr<const AlgorithmConfig> config_;
  EnvSpec env_spec_;
  SpaceLayout observations_;
  SpaceLayout actions_;
  MetricNames names_;
  std::vector<std::string> evaluation_info_;  ///< info numbers of the env that evaluation uses
  std::unique_ptr<Callbacks> callbacks_;      ///< the driver's; null where there are none
  std::unique_ptr<WorkerSet> workers_;
  std::unique_ptr<EvaluationSet> evaluation_;  ///< made where it is needed first
  Result last_evaluation_;
  bool workers_have_weights_ = false;
  std::filesystem::path directory_;  ///< of the run

  Counters counters_;
  Counters at_restore_;
  Timers timers_;
  std::deque<EpisodeSummary> window_;  ///< finished episodes, newest last
  std::int64_t episodes_this_iter_ = 0;

  std::optional<RewardFilter> reward_filter_;
  Actor greedy_;
  Actor exploring_;
  Rng action_rng_;
};

/// What a checkpoint says of the run that made it.
struct CheckpointSummary {
  std::string algorithm = {};
  std::string env = {};
  std::string instruction_set = {};
  std::int64_t iteration = 0;
  std::int64_t env_steps = 0;
  std::int64_t episodes = 0;
  double time_total_s = 0.0;
};
/// Asks neither for the algorithm nor for the env: this program need not have them. Throws
/// Error(checkpoint).
CheckpointSummary summary_of(const CheckpointData& state);
/// The env that evaluation runs on, where training's is `training`. Throws Error(config) where
/// their spaces differ by more than bounds.
EnvSpec evaluation_env_spec(const AlgorithmConfig& config, const EnvSpec& training);

/// The config that a checkpoint of an algorithm was made with. Throws Error(checkpoint).
std::unique_ptr<AlgorithmConfig> config_of(const CheckpointData& state);
/// The policy's weights in a checkpoint of an algorithm.
Weights weights_of(const CheckpointData& state);
/// Env steps that had been taken when a checkpoint was made: where schedules stood.
std::int64_t env_steps_of(const CheckpointData& state);

}  // namespace knurl
