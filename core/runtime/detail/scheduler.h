#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "knurl/core/runtime/detail/object.h"

namespace knurl::runtime::detail {

/// "1.5 CPUs" as the scheduler counts; throws Error(config), naming `who`, when it is no amount.
Cpus cpus_of(double num_cpus, const std::string& who);

/// Work that waits for CPUs.
struct CpuRequest {
  Cpus cpus = 0;
  /// What fails when `start` throws; a request whose subject has settled is dropped.
  std::shared_ptr<Object> subject;
  /// Called once the CPUs are taken, by the thread that set them free; must not block. Whoever does
  /// the work releases them.
  std::function<void()> start;
};

/// Shares the CPUs out among requests: oldest first among those that fit. Safe from any thread.
class Scheduler {
 public:
  explicit Scheduler(Cpus capacity) : capacity_(capacity), available_(capacity) {}

  /// Throws Error(config), naming `who`, when there are not so many CPUs in all.
  void require(Cpus cpus, const std::string& who) const;

  /// False, and no effect, when closed.
  bool submit(CpuRequest request);
  /// Gives CPUs back, for good or while their holder is blocked.
  void release(Cpus cpus);
  /// Takes CPUs back after a blockade: at once, so that for a while more than all may be taken.
  void reacquire(Cpus cpus);

  /// Starts nothing more; returns the subjects of all that waits.
  std::vector<std::shared_ptr<Object>> close();

 private:
  struct Queued {
    std::uint64_t number;
    CpuRequest request;
  };

  void start_what_fits();
  std::optional<CpuRequest> take_next();

  const Cpus capacity_;
  std::mutex mutex_;  // guards what follows
  Cpus available_;
  bool closed_ = false;
  std::uint64_t next_number_ = 0;
  std::map<Cpus, std::deque<Queued>> queues_;  // by size; no queue is empty
};

}  // namespace knurl::runtime::detail
