#pragma once

#include <chrono>

namespace knurl {

/// Where a component takes the time from, so that tests can give it theirs.
class Clock {
 public:
  using Duration = std::chrono::nanoseconds;

  virtual ~Clock() = default;
  /// Time since an arbitrary start; never goes back.
  [[nodiscard]] virtual Duration now() const = 0;
};

/// The machine's monotonic clock.
class SteadyClock final : public Clock {
 public:
  [[nodiscard]] Duration now() const override {
    return std::chrono::steady_clock::now().time_since_epoch();
  }
};

/// A clock that stands still until it is told otherwise.
class ManualClock final : public Clock {
 public:
  [[nodiscard]] Duration now() const override { return now_; }
  void advance(Duration by) { now_ += by; }

 private:
  Duration now_{0};
};

/// Seconds as a number, as results report them.
inline double seconds(Clock::Duration duration) {
  return std::chrono::duration<double>(duration).count();
}

}  // namespace knurl
