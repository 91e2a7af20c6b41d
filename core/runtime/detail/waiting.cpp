#include "knurl/core/runtime/detail/waiting.h"

#include <atomic>
#include <condition_variable>
#include <mutex>
#include <utility>

#include "knurl/core/base/clock.h"
#include "knurl/core/runtime/detail/core.h"
#include "knurl/core/runtime/detail/spin.h"
#include "knurl/core/runtime/errors.h"

namespace knurl::runtime::detail {
namespace {

using Deadline = std::optional<std::chrono::steady_clock::time_point>;

/// Longer timeouts are none: the clock could not count them.
constexpr auto kLongestTimeout = std::chrono::hours(24 * 365);

Deadline deadline_of(Timeout timeout) {
  if (!timeout || *timeout > kLongestTimeout) return std::nullopt;
  if (timeout->count() < 0) {
    fail(ErrorKind::config, "timeout = {} s: must not be negative", seconds(*timeout));
  }
  return std::chrono::steady_clock::now() + *timeout;
}

/// Counts settled objects for one waiting thread.
class Waiter final : public Listener {
 public:
  explicit Waiter(WaitGoal goal) : goal_(goal) {}

  void on_settled(const Object& object) noexcept override {
    {
      const std::lock_guard lock(mutex_);
      ++num_settled_;
      const bool ends =
          object.failure() != nullptr && goal_.failures == WaitGoal::Failures::end_the_wait;
      if (num_settled_ < goal_.num_settled && !ends) return;
      reached_ = true;
    }
    wake_.notify_all();
  }

  [[nodiscard]] bool reached() const { return reached_; }

  /// Blocks until the goal is reached; false at the deadline, or when asked to stop.
  bool block(const std::stop_token& stop, Deadline deadline) {
    if (spin_until([&] { return reached_ || stop.stop_requested(); })) return reached_;
    std::unique_lock lock(mutex_);
    if (!deadline) return wake_.wait(lock, stop, [&] { return reached(); });
    return wake_.wait_until(lock, stop, *deadline, [&] { return reached(); });
  }

 private:
  const WaitGoal goal_;
  std::atomic<bool> reached_ = false;
  std::mutex mutex_;  // guards what follows
  std::condition_variable_any wake_;
  std::size_t num_settled_ = 0;
};

/// The calling task's CPUs are free as long as this lives.
class CpusFreed {
 public:
  CpusFreed() : context_(current_context()) {
    if (holds_cpus()) context_->core->scheduler().release(context_->cpus);
  }
  CpusFreed(const CpusFreed&) = delete;
  CpusFreed& operator=(const CpusFreed&) = delete;
  ~CpusFreed() {
    if (holds_cpus()) context_->core->scheduler().reacquire(context_->cpus);
  }

 private:
  [[nodiscard]] bool holds_cpus() const { return context_ != nullptr && context_->cpus > 0; }

  Context* const context_;
};

/// Runs an action at the last of several objects, or at the first that fails.
class Countdown final : public Listener {
 public:
  Countdown(std::size_t num_objects, std::function<void()> action)
      : num_missing_(num_objects), action_(std::move(action)) {}

  void on_settled(const Object& object) noexcept override {
    const bool last = num_missing_.fetch_sub(1) == 1;
    if (!last && object.failure() == nullptr) return;
    if (!fired_.exchange(true)) std::exchange(action_, nullptr)();
  }

 private:
  std::atomic<std::size_t> num_missing_;
  std::atomic<bool> fired_ = false;
  std::function<void()> action_;
};

}  // namespace

bool wait_for(Core& core, std::span<Object* const> objects, WaitGoal goal, Timeout timeout) {
  const Deadline deadline = deadline_of(timeout);
  const auto waiter = std::make_shared<Waiter>(goal);
  for (Object* const object : objects) {
    if (!object->listen(waiter)) waiter->on_settled(*object);
  }

  const Context* const context = current_context();
  const std::stop_token stop = context != nullptr ? context->stop : core.ending();
  bool reached = waiter->reached();
  if (!reached && timeout != std::chrono::nanoseconds::zero()) {
    const CpusFreed freed;
    reached = waiter->block(stop, deadline);
  }
  for (Object* const object : objects) object->forget(waiter.get());
  if (!reached && core.ending().stop_requested()) {
    throw CancelledError("a wait was ended: the runtime has ended");
  }
  if (!reached && stop.stop_requested()) {
    throw CancelledError("a wait was ended: the task or call that waits was cancelled");
  }
  return reached;
}

void after_all(const std::vector<std::shared_ptr<Object>>& objects, std::function<void()> action) {
  if (objects.empty()) return action();
  const auto countdown = std::make_shared<Countdown>(objects.size(), std::move(action));
  for (const auto& object : objects) {
    if (!object->listen(countdown)) countdown->on_settled(*object);
  }
}

}  // namespace knurl::runtime::detail
