#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "knurl/algorithms/rollout/fragment.h"
#include "knurl/core/spaces/layout.h"

namespace knurl {

/// Fills the steps of a batch of envs. Env e's step t is row t * num_envs + e, so that all envs
/// write, and the policy reads, one block a step; one more block takes the observations after the
/// last step. Envs may stop before the others: their rows are dropped in the end.
class FragmentBuilder {
 public:
  struct Shape {
    const SpaceLayout* observations = nullptr;
    std::vector<ColumnSpec> policy_columns = {};  ///< what the policy puts out
    std::vector<std::string> info = {};           ///< names of the env's info numbers
    bool has_values = false;                      ///< bootstrap rows get a column of values
    /// What the policy remembers of each env's episode now, a row an env; null: nothing.
    const RecordBatch* memory = nullptr;
    int num_envs = 1;
    int first_env = 0;       ///< index of the first env in the whole run
    std::int64_t steps = 1;  ///< to make room for
  };

  explicit FragmentBuilder(Shape shape);

  /// The observations that step `step` acts on; row e is env e's.
  [[nodiscard]] Rows observations(std::int64_t step) const {
    return observations_.from(step * shape_.num_envs);
  }
  /// Makes room for the step and the observations after it.
  void make_room(std::int64_t step);
  /// The rewards of a step.
  [[nodiscard]] std::span<float> rewards(std::int64_t step) const;

  /// Copies what the policy remembers when it acts at a step.
  void add_memory(std::int64_t step);
  /// Copies what the policy said at a step.
  void add_policy_columns(std::int64_t step, const RecordBatch& said);
  /// Copies info numbers, a row an env.
  void add_info(std::int64_t step, const std::vector<double>& numbers);

  /// Env `env` is in this episode from the fragment's first step on.
  void start(int env, std::int64_t episode) { open_[at(env)] = {.episode = episode}; }
  /// The episode of an env ended with step `step`, seeing row `env` of `final_observations`; the
  /// next step is in episode `next_episode`.
  void end_episode(int env, std::int64_t step, Ending ending, const Rows& final_observations,
                   std::int64_t next_episode);
  /// An env whose episode ended with a step takes no more steps in this fragment.
  void stop(int env) { open_[at(env)].stopped = true; }
  /// What a stopped env shows while others take a step.
  void stay(int env, std::int64_t step);
  /// Cuts the episodes that go on, and hands over the first `steps` steps.
  PolicySteps finish(std::int64_t steps);

  /// The observations that segments ended with, to be judged: rows of the finished bootstrap.
  [[nodiscard]] static Rows bootstrap_rows(const SpaceLayout& layout, PolicySteps& steps);

 private:
  /// The segment that an env is in.
  struct Open {
    std::int64_t episode = 0;
    std::int64_t first_step = 0;
    bool stopped = false;
  };

  static std::size_t at(int env) { return static_cast<std::size_t>(env); }
  void copy_column(std::int64_t step, std::size_t to, const std::byte* from);
  void end_segment(int env, std::int64_t end_step, Ending ending, const Rows& from,
                   std::int64_t from_row);
  void grow_bootstrap(std::int64_t rows);
  void allocate(std::int64_t steps);
  void drop_idle_rows();

  Shape shape_;
  PolicySteps steps_;
  Rows observations_;
  ColumnView<float> rewards_;
  std::vector<ColumnView<double>> info_;
  std::vector<std::size_t> policy_columns_;  ///< where the policy's columns lie among ours
  std::vector<std::size_t> memory_columns_;  ///< and those of its memory
  Rows bootstrap_;
  std::int64_t bootstrap_rows_ = 0;
  std::vector<Open> open_;  ///< one an env
};

}  // namespace knurl
