#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <stop_token>

#include <zmq.hpp>

#include "knurl/core/runtime/detail/actor.h"
#include "knurl/core/runtime/detail/lookup_table.h"
#include "knurl/core/runtime/detail/object.h"
#include "knurl/core/runtime/detail/scheduler.h"
#include "knurl/core/runtime/detail/thread_group.h"
#include "knurl/core/runtime/detail/worker_pool.h"
#include "knurl/core/runtime/options.h"

namespace knurl::runtime::detail {

/// What one runtime is made of. Lives until its last thread and handle go; works until `shut_down`.
/// Safe from any thread.
class Core : public std::enable_shared_from_this<Core> {
 public:
  /// Throws Error(config) for options that cannot be.
  explicit Core(const InitOptions& options);

  /// Drops what has not begun, asks what runs to stop, waits for it as long as the options say, and
  /// leaves behind what has not ended then.
  void shut_down();
  /// Ends the waits, once nothing more will begin.
  [[nodiscard]] std::stop_token ending() const { return ending_.get_token(); }
  /// Throws Error(actor) once the shutdown has begun.
  void require_running() const;

  /// Throws Error(config) when the task asks for more than there is.
  Claim submit_task(Work work);
  /// Throws Error(config) for options that cannot be.
  ActorClaim start_actor(Work construction, const ActorOptions& options);

  Scheduler& scheduler() { return scheduler_; }
  ThreadGroup& threads() { return threads_; }
  zmq::context_t& sockets() { return sockets_; }
  /// Unique in this runtime; from 1.
  std::uint64_t next_number() { return next_number_.fetch_add(1) + 1; }
  [[nodiscard]] bool serializes() const { return serializes_; }

  /// The objects and actor handles that messages refer to.
  LookupTable<Object>& objects() { return objects_; }
  LookupTable<Actor>& handles() { return handles_; }

 private:
  void start_when_ready(const std::vector<std::shared_ptr<Object>>& dependencies,
                        CpuRequest request);
  void start_thread(const std::shared_ptr<Actor>& actor);

  const bool serializes_;
  const std::chrono::nanoseconds shutdown_timeout_;
  std::atomic<bool> closed_ = false;  // nothing new is accepted
  std::stop_source ending_;
  std::atomic<std::uint64_t> next_number_ = 0;
  zmq::context_t sockets_{0};  // no I/O thread: nothing leaves the process
  Scheduler scheduler_;
  WorkerPool workers_;
  LookupTable<Actor> actors_;
  LookupTable<Object> objects_;
  LookupTable<Actor> handles_;
  ThreadGroup threads_;
};

/// Why work has failed that the end of its runtime left undone.
Failure dropped_at_end(const Object& work);
Failure stopped_at_end(const Object& work);
Failure ended_with_runtime(const Actor& actor);

}  // namespace knurl::runtime::detail
