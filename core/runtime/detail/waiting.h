#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "knurl/core/runtime/detail/context.h"
#include "knurl/core/runtime/detail/object.h"
#include "knurl/core/runtime/options.h"

namespace knurl::runtime::detail {

/// What ends a wait for several objects.
struct WaitGoal {
  std::size_t num_settled = 0;
  enum class Failures { count_as_settled, end_the_wait } failures = Failures::count_as_settled;
};

/// Blocks until the goal is reached; false when the timeout passes first. A task or actor gives its
/// CPUs back meanwhile. Throws CancelledError when the calling task is cancelled or the runtime
/// ends, and Error(config) for a negative timeout.
bool wait_for(Core& core, std::span<Object* const> objects, WaitGoal goal, Timeout timeout);

/// Calls `action` once, when all objects have settled or one has failed: at once, or in the thread
/// that settles the decisive one. `action` must not block or throw.
void after_all(const std::vector<std::shared_ptr<Object>>& objects, std::function<void()> action);

}  // namespace knurl::runtime::detail
