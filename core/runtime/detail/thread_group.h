#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

namespace knurl::runtime::detail {

/// Threads that are joined once their work has ended, and left behind when it does not end. Safe
/// from any thread.
class ThreadGroup {
 public:
  /// Runs `body`, which must not throw and must keep the group alive, in a new thread. Throws
  /// Error(actor) when there can be no more threads.
  void start(std::string name, std::function<void()> body);

  /// Joins all threads and starts no more. Those that still run at the deadline are detached.
  /// Returns their names.
  std::vector<std::string> join_all(std::chrono::steady_clock::time_point deadline);

 private:
  struct Named {
    std::string name;
    std::thread thread;
  };

  void end(std::uint64_t id);

  std::mutex mutex_;
  std::condition_variable ended_some_;
  bool closed_ = false;
  std::uint64_t next_id_ = 0;
  std::map<std::uint64_t, Named> running_;
  std::vector<std::thread> ended_;
};

}  // namespace knurl::runtime::detail
