#pragma once

#include <memory>
#include <mutex>
#include <set>
#include <vector>

#include "knurl/core/runtime/detail/mailbox.h"

namespace knurl::runtime::detail {

class Core;

/// The threads that run tasks: hired when there is a task and no idle one, so that there are as
/// many as tasks that run or are blocked. Safe from any thread.
class WorkerPool {
 public:
  /// Workers beyond `most_idle` leave when they have nothing to do.
  explicit WorkerPool(std::size_t most_idle) : most_idle_(most_idle) {}

  /// Hands a task whose CPUs are taken to a worker. Throws Error(actor) when none can be hired.
  void run(Core& core, const std::shared_ptr<Object>& task);

  /// Interrupts what runs, lets the workers leave and hires no more.
  void close();

 private:
  struct Worker {
    Worker(zmq::context_t& context, std::uint64_t number) : mailbox(context, number) {}
    Mailbox mailbox;
    std::shared_ptr<Object> running;  // the pool's lock guards it
  };

  std::shared_ptr<Worker> hire(Core& core);
  void work(const std::shared_ptr<Core>& core, const std::shared_ptr<Worker>& worker);
  bool begin(Worker& worker, const std::shared_ptr<Object>& task);
  bool stay(const std::shared_ptr<Worker>& worker);

  const std::size_t most_idle_;
  std::mutex mutex_;  // guards what follows
  bool closed_ = false;
  std::set<std::shared_ptr<Worker>> workers_;
  std::vector<std::shared_ptr<Worker>> idle_;
};

}  // namespace knurl::runtime::detail
