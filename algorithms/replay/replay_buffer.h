#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "knurl/algorithms/replay/sum_tree.h"
#include "knurl/core/base/rng.h"
#include "knurl/core/checkpoint/checkpoint.h"
#include "knurl/core/data/record_batch.h"

namespace knurl {

/// Prioritized replay (Schaul et al. 2016, section 3.3): rows are drawn with chance
/// priority^alpha / sum, priority = |error| + epsilon.
struct PriorityOptions {
  double alpha = 0.6;
  double epsilon = 1e-6;
};

struct ReplayOptions {
  std::int64_t capacity = 50'000;                            ///< rows
  std::optional<PriorityOptions> priorities = std::nullopt;  ///< nothing: all rows alike
};

/// The last `capacity` rows that were added, and draws from them with replacement. Not thread-safe.
class ReplayBuffer {
 public:
  ReplayBuffer(std::vector<ColumnSpec> columns, ReplayOptions options);

  [[nodiscard]] std::int64_t size() const { return size_; }
  [[nodiscard]] std::int64_t capacity() const { return rows_.rows(); }
  /// Rows that were ever added.
  [[nodiscard]] std::int64_t added() const { return added_; }

  /// The row that takes the place of the oldest, to be written in full; it has the largest priority
  /// that any row had.
  std::int64_t append();
  /// The rows, those beyond size() not yet written.
  [[nodiscard]] RecordBatch& rows() { return rows_; }
  [[nodiscard]] const RecordBatch& rows() const { return rows_; }

  /// Draws as many rows as `out` has. Throws std::logic_error where there are none.
  void draw(Rng& rng, std::span<std::int32_t> out) const;
  /// What makes up for drawing rows unlike: (size * chance)^-beta, over the largest that any row
  /// has; 1 without priorities.
  void importance_weights(std::span<const std::int32_t> rows, double beta,
                          std::span<float> out) const;
  /// New errors of drawn rows; of a row drawn twice the last counts. Nothing without priorities.
  void update_priorities(std::span<const std::int32_t> rows, std::span<const float> errors);
  /// A row's chance to be drawn.
  [[nodiscard]] double chance(std::int64_t row) const;

  /// Everything, as the file `name` and, with priorities, another beside it.
  void save(CheckpointData& out, const std::string& name) const;
  /// Throws Error(checkpoint) where it is another buffer's.
  void load(const CheckpointData& in, const std::string& name);

 private:
  RecordBatch rows_;
  ReplayOptions options_;
  std::int64_t size_ = 0;
  std::int64_t added_ = 0;
  std::optional<SumTree> tree_;
  double largest_ = 1.0;  ///< priority^alpha, of all that ever were
};

}  // namespace knurl
