#pragma once

#include <chrono>
#include <functional>
#include <mutex>
#include <optional>
#include <thread>

namespace knurl::tune {

/// Turns Ctrl-C (SIGINT), SIGTERM and a terminal that goes away (SIGHUP) into a request to stop
/// after the running iteration. Where that takes too long, runs an emergency action and ends the
/// process; a second signal ends it at once. A signal that the process was started to ignore, as by
/// nohup, stays ignored. Make one before any other thread, in main: it blocks the signals for all
/// threads that come after.
class Interrupt {
 public:
  /// The process ends `patience` after a signal at the latest.
  explicit Interrupt(std::chrono::milliseconds patience = std::chrono::seconds(5));
  Interrupt(const Interrupt&) = delete;
  Interrupt& operator=(const Interrupt&) = delete;
  ~Interrupt();

  /// The signal that asked to stop, if one did.
  [[nodiscard]] std::optional<int> signal() const;

  /// What to do when patience is over; runs in a thread of its own. Replaces the last one.
  void set_emergency(std::function<void()> action);

 private:
  void watch();

  std::chrono::milliseconds patience_;
  mutable std::mutex mutex_;
  std::optional<int> signal_;
  std::function<void()> emergency_;
  bool over_ = false;
  std::jthread watcher_;
};

}  // namespace knurl::tune
