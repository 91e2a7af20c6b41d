#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "knurl/core/base/check.h"
#include "knurl/core/base/rng.h"
#include "knurl/core/data/record_batch.h"
#include "knurl/core/spaces/layout.h"
#include "knurl/models/exploration/exploration.h"
#include "knurl/models/weights.h"

namespace knurl {

/// What a policy sees: rows of observations, for each row its env's stream for exploring, and what
/// it remembers of the row's episode.
struct PolicyInput {
  ConstRows observations;
  std::int64_t rows = 0;
  std::span<Rng> rngs = {};
  /// Columns memory_columns(), at least so many rows; may be null where there are none.
  RecordBatch* memory = nullptr;
};

/// What a policy says, row for row. Lives in the policy until its next act.
struct PolicyOutput {
  /// The columns that output_columns() names. "actions" is what the policy means: its
  /// log-probability and its gradient belong to it.
  const RecordBatch* columns = nullptr;
  /// The same actions as values of the env's action space.
  ConstRows env_actions;
};

/// From observations to actions, in batches. The same object serves training, evaluation and
/// serving. A row's result has the same bits whatever the batch's size and the row's place in it.
/// Not thread-safe.
class Policy {
 public:
  virtual ~Policy() = default;

  /// What act returns beside the env's actions; RLlib's names (actions, action_logp,
  /// action_dist_inputs, vf_preds).
  [[nodiscard]] virtual std::vector<ColumnSpec> output_columns() const = 0;

  /// What the policy remembers of an episode from one step to the next, float32 columns: the state
  /// of a recurrent net ("state_in_0", "state_in_1"), "prev_actions" as numbers (one-hot choices),
  /// "prev_rewards". All 0 at the start of an episode: before it there is no action.
  [[nodiscard]] virtual std::vector<ColumnSpec> memory_columns() const { return {}; }

  /// Chooses an action for each of input.rows rows. input.rngs has at least as many streams; each
  /// row draws from its own. input.memory is read, and then holds what the next step of each row is
  /// to read; but rewards, which the caller writes. Throws Error(env) for an observation that the
  /// model cannot take.
  virtual PolicyOutput act(const PolicyInput& input) = 0;

  [[nodiscard]] virtual bool has_values() const { return false; }
  /// Estimates the values of input.rows observations into `out` [rows]; memory is only read. Throws
  /// std::logic_error where has_values() is false.
  virtual void values(const PolicyInput& /*input*/, std::span<float> /*out*/) {
    check(false, "this policy has values");
  }

  [[nodiscard]] virtual const Weights& weights() const = 0;
  /// Throws Error(config) where the tensors are another model's.
  virtual void set_weights(const Weights& weights) = 0;

  [[nodiscard]] virtual Exploration& exploration() = 0;

  /// The model as a table of layers, shapes and parameters; `part` shows one part: "base_model",
  /// "value", "q_value_head". Throws Error(config) where there is none of this name.
  [[nodiscard]] virtual std::string summary(const std::string& part) const = 0;
  [[nodiscard]] std::string summary() const { return summary(""); }
};

}  // namespace knurl
