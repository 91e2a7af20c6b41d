#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "knurl/core/data/record_batch.h"
#include "knurl/envs/vector_env.h"

namespace knurl {

/// How a run of consecutive steps ended.
enum class Ending : std::uint8_t {
  terminated,  ///< the task ended: nothing follows
  truncated,   ///< a time limit: the task would have gone on
  cut,         ///< the fragment ended, the episode goes on
};

/// Consecutive steps of one agent in one episode, as rows of a fragment.
struct Segment {
  int env = 0;  ///< index in the whole run
  int agent = 0;
  std::int64_t episode = 0;
  std::int64_t first_row = 0;
  std::int64_t length = 0;
  std::int64_t row_stride = 1;  ///< rows from one step to the next
  Ending ending = Ending::cut;
  /// Row of the bootstrap batch with the observation after the last step.
  std::int64_t bootstrap_row = 0;

  [[nodiscard]] std::int64_t row(std::int64_t step) const { return first_row + step * row_stride; }
};

/// The steps that one policy took. Columns: its observations ("obs" or "obs/<leaf>"), what it put
/// out (actions, …), what it remembered when it acted (Policy::memory_columns), "rewards" (float32)
/// and "info/<name>" (float64).
struct PolicySteps {
  std::string policy_id = "default_policy";
  RecordBatch columns = {};
  /// The observations that segments ended with, what the policy remembered there, and "vf_preds"
  /// where the policy has values.
  RecordBatch bootstrap = {};
  std::vector<Segment> segments = {};
};

/// Where a worker's time went, in seconds, over so many steps of all its envs together.
struct SampleTimes {
  std::int64_t steps = 0;
  double inference = 0.0;
  double env = 0.0;
  double total = 0.0;  ///< of the whole fragment
};

/// What one worker reports.
struct Fragment {
  std::vector<PolicySteps> policies = {};
  std::vector<EpisodeSummary> episodes = {};  ///< that ended in it
  std::int64_t env_steps = 0;
  std::int64_t weights_version = 0;  ///< of the weights that acted
  SampleTimes times = {};
};

/// A segment of one of several fragments.
struct SegmentPlace {
  std::size_t fragment = 0;
  const Segment* segment = nullptr;
};

/// The segments of a policy's steps by env, then by time, where fragments come in the order in
/// which they were sampled: an order that does not depend on how many workers shared the envs.
std::vector<SegmentPlace> in_order(const std::vector<Fragment>& fragments, std::size_t policy = 0);

}  // namespace knurl
