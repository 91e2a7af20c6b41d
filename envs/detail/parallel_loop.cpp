#include "knurl/envs/detail/parallel_loop.h"

#include <atomic>

#include <oneapi/tbb/parallel_for.h>
#include <oneapi/tbb/task_arena.h>

namespace knurl::detail {

struct ParallelLoop::State {
  oneapi::tbb::task_arena arena;
  std::atomic<int> handed_over = 0;
};

ParallelLoop::ParallelLoop(int num_threads)
    : state_(std::make_unique<State>(oneapi::tbb::task_arena(num_threads))) {}

ParallelLoop::~ParallelLoop() = default;

void ParallelLoop::run(int n, const std::function<void(int)>& body) {
  // What the caller wrote is there for every turn, and the other way round. TBB sees to that; it is
  // said again in words that the thread sanitizer understands, which cannot look into TBB.
  std::atomic<int>& handed_over = state_->handed_over;
  handed_over.store(0, std::memory_order_release);
  state_->arena.execute([&] {
    oneapi::tbb::parallel_for(0, n, [&](int i) {
      (void)handed_over.load(std::memory_order_acquire);
      oneapi::tbb::this_task_arena::isolate([&] { body(i); });
      handed_over.fetch_add(1, std::memory_order_release);
    });
  });
  (void)handed_over.load(std::memory_order_acquire);
}

}  // namespace knurl::detail
