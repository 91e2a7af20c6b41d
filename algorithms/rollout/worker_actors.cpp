#include "knurl/algorithms/rollout/worker_actors.h"

#include <mutex>

#include <fmt/ranges.h>

#include "knurl/core/base/log.h"

namespace knurl {
namespace {

std::shared_ptr<runtime::ScopedRuntime> share_runtime() {
  static std::mutex mutex;
  static std::weak_ptr<runtime::ScopedRuntime> shared;
  const std::lock_guard lock(mutex);
  std::shared_ptr<runtime::ScopedRuntime> held = shared.lock();
  if (!held && !runtime::active()) {
    held = std::make_shared<runtime::ScopedRuntime>(runtime::init());
    shared = held;
  }
  return held;
}

}  // namespace

WorkerRuntime::WorkerRuntime() : shared_(share_runtime()), runtime_(runtime::current_runtime()) {}

void warn_of_silence(const std::string& what, const std::vector<std::ptrdiff_t>& workers,
                     double seconds) {
  log(LogLevel::warning, "{} {} has not reported for {:.10g} s; waiting on", what,
      fmt::join(workers, ", "), seconds);
}

}  // namespace knurl
