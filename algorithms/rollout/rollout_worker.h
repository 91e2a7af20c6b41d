#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "knurl/algorithms/rollout/fragment.h"
#include "knurl/core/base/bytes.h"
#include "knurl/core/base/rng.h"
#include "knurl/envs/vector_env.h"
#include "knurl/models/policy.h"

namespace knurl {

/// All that a rollout worker is made from; travels to where the actor lives.
struct RolloutWorkerSpec {
  std::string algorithm = {};  ///< "PPO"
  std::string config = {};     ///< the resolved config as YAML
  int worker = 0;              ///< 0 is the driver's
  int num_envs = 1;
  int first_env = 0;               ///< index of its first env in the whole run
  int total_envs = 1;              ///< envs in the whole run
  std::string stream = "rollout";  ///< whose episodes these are: their random streams' name
  bool explore = true;
  bool render = false;  ///< keep each env's text for frame()
};

/// What a worker is asked for.
struct SampleRequest {
  std::int64_t steps_per_env = 1;
  std::int64_t timestep = 0;  ///< env steps that the run has taken before, for schedules
};

/// Steps a batch of envs with a policy: the only interaction loop there is. An actor, or used
/// directly. Not thread-safe.
class RolloutWorker {
 public:
  /// Throws Error(config) or Error(env) naming env, worker and index.
  explicit RolloutWorker(RolloutWorkerSpec spec);

  void set_weights(const Weights& weights) { policy_->set_weights(weights); }

  /// Takes steps_per_env steps in each env. Episodes go on from fragment to fragment. Throws
  /// Error(env) where an env throws, or an observation or reward is not finite, naming env, worker,
  /// index, step and field.
  Fragment sample(const SampleRequest& request);

  /// Where everything stands: envs, running episodes, random streams.
  [[nodiscard]] std::vector<std::byte> save_state() const;
  void load_state(const std::vector<std::byte>& state);

  [[nodiscard]] int num_envs() const { return env_->num_envs(); }
  /// An env as text after its last step, before any reset.
  [[nodiscard]] std::string frame(int env) const { return env_->render(env); }
  [[nodiscard]] Policy& policy() { return *policy_; }

 private:
  /// The fragment that is being filled.
  struct Filling;

  void start_if_needed();
  void prepare(Filling& filling, std::int64_t steps) const;
  void grow_bootstrap(Filling& filling, std::int64_t rows) const;
  void act(Filling& filling, std::int64_t first_row);
  void step(Filling& filling, std::int64_t step, std::int64_t first_row);
  void check_finite(const Filling& filling, std::int64_t first_row) const;
  void end_segments(Filling& filling, std::int64_t step);
  void end_segment(Filling& filling, int env, std::int64_t end_step, Ending ending);
  void finish(Filling& filling, std::int64_t steps);
  void seed_exploration(int env);

  RolloutWorkerSpec spec_;
  std::string env_name_;
  Rng rng_;
  std::unique_ptr<VectorEnv> env_;
  std::unique_ptr<Policy> policy_;
  std::vector<Rng> exploration_rngs_;  ///< one an env, anew for each episode
  RecordBatch observations_;           ///< what each env shows now
  Rows observation_rows_;
  RecordBatch final_observations_;
  Rows final_rows_;
  std::vector<double> info_;
  bool started_ = false;
};

}  // namespace knurl
