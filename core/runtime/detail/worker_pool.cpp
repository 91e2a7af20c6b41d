#include "knurl/core/runtime/detail/worker_pool.h"

#include <utility>

#include "knurl/core/runtime/detail/context.h"
#include "knurl/core/runtime/detail/core.h"
#include "knurl/core/runtime/detail/execute.h"

namespace knurl::runtime::detail {

void WorkerPool::run(Core& core, const std::shared_ptr<Object>& task) {
  std::shared_ptr<Worker> worker;
  {
    const std::lock_guard lock(mutex_);
    if (!idle_.empty()) {
      worker = std::move(idle_.back());
      idle_.pop_back();
    }
  }
  if (!worker) worker = hire(core);
  if (!worker->mailbox.send(task)) task->fail(dropped_at_end(*task));
}

std::shared_ptr<WorkerPool::Worker> WorkerPool::hire(Core& core) {
  auto worker = std::make_shared<Worker>(core.sockets(), core.next_number());
  {
    const std::lock_guard lock(mutex_);
    if (closed_) fail(ErrorKind::actor, "the runtime is ending and runs no more tasks");
    workers_.insert(worker);
  }
  try {
    core.threads().start("a task's thread",
                         [this, keep = core.shared_from_this(), worker] { work(keep, worker); });
  } catch (...) {
    const std::lock_guard lock(mutex_);
    workers_.erase(worker);
    throw;
  }
  return worker;
}

/// A worker's life.
void WorkerPool::work(const std::shared_ptr<Core>& core, const std::shared_ptr<Worker>& worker) {
  Context context{.core = core, .stop = core->ending()};
  const ContextScope scope(context);
  bool stays = true;
  while (stays) {
    const std::optional<Message> message = worker->mailbox.receive();
    if (!message || !begin(*worker, message->call)) break;
    context.number = core->next_number();
    context.cpus = message->call->cpus();
    Instance none;
    execute(*message, none, context, "");
    stays = stay(worker);
    core->scheduler().release(context.cpus);
  }
  for (const auto& task : worker->mailbox.close()) task->fail(dropped_at_end(*task));
}

/// The worker is about to run a task; false when the pool has closed: the task has failed then.
bool WorkerPool::begin(Worker& worker, const std::shared_ptr<Object>& task) {
  {
    const std::lock_guard lock(mutex_);
    worker.running = task;
    if (!closed_) return true;
  }
  task->fail(dropped_at_end(*task));
  return false;
}

/// The worker is idle; false when there are enough of its kind.
bool WorkerPool::stay(const std::shared_ptr<Worker>& worker) {
  std::shared_ptr<Object> done;  // outlives the lock
  const std::lock_guard lock(mutex_);
  done.swap(worker->running);
  if (idle_.size() >= most_idle_) {
    workers_.erase(worker);
    return false;
  }
  idle_.push_back(worker);
  return true;
}

void WorkerPool::close() {
  std::set<std::shared_ptr<Worker>> workers;
  std::vector<std::shared_ptr<Object>> running;
  {
    const std::lock_guard lock(mutex_);
    closed_ = true;
    workers = workers_;
    for (const auto& worker : workers) {
      if (worker->running) running.push_back(worker->running);
    }
  }
  for (const auto& task : running) task->interrupt(stopped_at_end(*task));
  for (const auto& worker : workers) worker->mailbox.send_end();
}

}  // namespace knurl::runtime::detail
