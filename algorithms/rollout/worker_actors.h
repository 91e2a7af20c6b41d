#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "knurl/core/runtime/runtime.h"

namespace knurl {

/// Where workers live: the active runtime, or where there is none, one that all who ask share and
/// that ends with the last of them.
class WorkerRuntime {
 public:
  WorkerRuntime();
  [[nodiscard]] const runtime::Runtime& get() const { return runtime_; }

 private:
  std::shared_ptr<runtime::ScopedRuntime> shared_;  ///< null where somebody else's is used
  runtime::Runtime runtime_;
};

/// Says which workers have not reported for so long.
void warn_of_silence(const std::string& what, const std::vector<std::ptrdiff_t>& workers,
                     double seconds);

/// Waits until all workers have reported, or throws what the first that fails throws. A worker that
/// hangs throws nothing: each time `patience` passes, a warning names who is waited for. `what` is
/// what they are: "rollout worker".
template <class T>
void wait_for_reports(const runtime::Runtime& runtime,
                      const std::vector<runtime::ObjectRef<T>>& refs,
                      std::chrono::nanoseconds patience, const std::string& what) {
  double waited = 0.0;
  for (auto pending = refs; !pending.empty();) {
    auto next = runtime.wait(pending, {.timeout = patience});
    for (const auto& ref : next.ready) runtime.get(ref);
    if (next.ready.empty()) {
      waited += std::chrono::duration<double>(patience).count();
      std::vector<std::ptrdiff_t> who;
      for (const auto& ref : next.pending) {
        who.push_back(std::ranges::find(refs, ref) - refs.begin() + 1);  // the driver's would be 0
      }
      warn_of_silence(what, who, waited);
    }
    pending = std::move(next.pending);
  }
}

/// Seconds as an option gives them.
inline std::chrono::nanoseconds patience_of(double seconds) {
  return std::chrono::nanoseconds(static_cast<std::int64_t>(1e9 * seconds));
}

}  // namespace knurl
