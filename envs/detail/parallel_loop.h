#pragma once

#include <functional>
#include <memory>

namespace knurl::detail {

/// Loops whose turns share the threads of one TBB arena.
class ParallelLoop {
 public:
  explicit ParallelLoop(int num_threads);
  ~ParallelLoop();

  /// Calls `body` with 0, 1, … n - 1 in any order and waits for all. A turn that itself waits in
  /// TBB is not given another turn to do meanwhile. `body` must not throw.
  void run(int n, const std::function<void(int)>& body);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace knurl::detail
