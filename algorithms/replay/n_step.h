#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <vector>

#include "knurl/algorithms/rollout/fragment.h"
#include "knurl/core/spaces/layout.h"

namespace knurl {

/// Folds steps into transitions over n of them (Sutton and Barto 2018, equation 7.1): observation
/// and action of the first, the discounted sum of rewards, gamma^k after k of them, and the
/// observation seen then. k = n but before an ending, where it is what is left. `discounts` is 0
/// where that observation is terminal: nothing is to be expected after it. Steps whose n-th
/// successor is not there yet wait for the next fragment.
class NStepFolder {
 public:
  NStepFolder(int n, double gamma, SpaceLayout observations);

  /// The columns of a transition: obs, new_obs, actions (int64), rewards and discounts (float32).
  [[nodiscard]] const std::vector<ColumnSpec>& columns() const { return columns_; }

  /// Where the next transition goes: a row of a batch with these columns.
  struct Place {
    RecordBatch* batch = nullptr;
    std::int64_t row = 0;
  };
  /// Folds the steps of some fragments, env by env in order of time, and asks `next` for a place
  /// for each transition.
  void add(const std::vector<Fragment>& fragments, const std::function<Place()>& next);

  /// Forgets the steps that wait: those after them were lost.
  void forget_waiting() { waiting_.clear(); }

  /// The steps that wait.
  void save(ByteWriter& out) const;
  void load(ByteReader& in);

 private:
  /// Steps of one env, oldest first: a ring of n rows of obs, actions and rewards.
  struct Waiting {
    RecordBatch steps;
    std::int64_t first = 0;
    std::int64_t count = 0;
  };

  void add_segment(const PolicySteps& steps, const Segment& segment,
                   const std::function<Place()>& next);
  /// Folds the oldest waiting step, after which `after` was seen; `terminal` ends it.
  void fold(Waiting& waiting, const ConstRow& after, bool terminal,
            const std::function<Place()>& next) const;
  Waiting& waiting_of(int env);

  std::int64_t n_;
  double gamma_;
  SpaceLayout observations_;
  std::vector<ColumnSpec> columns_;
  std::map<int, Waiting> waiting_;
};

}  // namespace knurl
