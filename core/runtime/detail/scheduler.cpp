#include "knurl/core/runtime/detail/scheduler.h"

#include <cmath>

namespace knurl::runtime::detail {
namespace {

constexpr double kStepsPerCpu = 10'000.0;
constexpr double kMostCpus = 1e9;

}  // namespace

Cpus cpus_of(double num_cpus, const std::string& who) {
  if (!(num_cpus >= 0.0 && num_cpus <= kMostCpus)) {
    fail(ErrorKind::config, "{}: num_cpus = {}: must be in [0, {}]", who, num_cpus, kMostCpus);
  }
  return static_cast<Cpus>(std::llround(num_cpus * kStepsPerCpu));
}

void Scheduler::require(Cpus cpus, const std::string& who) const {
  if (cpus <= capacity_) return;
  fail(ErrorKind::config, "{}: num_cpus = {}: the runtime has {}", who,
       static_cast<double>(cpus) / kStepsPerCpu, static_cast<double>(capacity_) / kStepsPerCpu);
}

bool Scheduler::submit(CpuRequest request) {
  {
    const std::lock_guard lock(mutex_);
    if (closed_) return false;
    auto& queue = queues_[request.cpus];
    queue.push_back({next_number_++, std::move(request)});
  }
  start_what_fits();
  return true;
}

void Scheduler::release(Cpus cpus) {
  {
    const std::lock_guard lock(mutex_);
    available_ += cpus;
  }
  start_what_fits();
}

void Scheduler::reacquire(Cpus cpus) {
  const std::lock_guard lock(mutex_);
  available_ -= cpus;
}

void Scheduler::start_what_fits() {
  while (std::optional<CpuRequest> request = take_next()) {
    if (!request->subject->settled()) {
      try {
        request->start();
        continue;
      } catch (...) {
        request->subject->fail(current_failure(request->subject->name()));
      }
    }
    reacquire(-request->cpus);  // nobody works on it
  }
}

/// Takes the CPUs of the oldest request that fits.
std::optional<CpuRequest> Scheduler::take_next() {
  const std::lock_guard lock(mutex_);
  auto oldest = queues_.end();
  for (auto queue = queues_.begin(); queue != queues_.end(); ++queue) {
    if (queue->first > 0 && queue->first > available_) break;
    if (oldest == queues_.end() || queue->second.front().number < oldest->second.front().number) {
      oldest = queue;
    }
  }
  if (oldest == queues_.end()) return std::nullopt;
  CpuRequest request = std::move(oldest->second.front().request);
  oldest->second.pop_front();
  if (oldest->second.empty()) queues_.erase(oldest);
  available_ -= request.cpus;
  return request;
}

std::vector<std::shared_ptr<Object>> Scheduler::close() {
  std::map<Cpus, std::deque<Queued>> queues;
  {
    const std::lock_guard lock(mutex_);
    closed_ = true;
    queues.swap(queues_);
  }
  std::vector<std::shared_ptr<Object>> subjects;
  for (auto& [cpus, queue] : queues) {
    for (Queued& queued : queue) subjects.push_back(std::move(queued.request.subject));
  }
  return subjects;
}

}  // namespace knurl::runtime::detail
