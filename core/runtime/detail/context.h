#pragma once

#include <compare>
#include <cstdint>
#include <memory>
#include <stop_token>
#include <thread>

#include "knurl/core/runtime/detail/work.h"

namespace knurl::runtime::detail {

class Core;

/// Whose calls keep their order: one task, one actor, or one thread that is neither.
struct CallerId {
  std::uint64_t number = 0;  ///< of a task or an actor; 0 for other threads
  std::thread::id thread;

  auto operator<=>(const CallerId&) const = default;
};

/// What a thread of the runtime is doing.
struct Context {
  std::shared_ptr<Core> core;
  std::uint64_t number = 0;  ///< of the running task or the actor
  Cpus cpus = 0;             ///< held by it
  std::stop_token stop = {};
};

/// The calling thread's; null in threads that are not the runtime's.
Context* current_context();
CallerId current_caller();

/// Makes a context the calling thread's.
class ContextScope {
 public:
  explicit ContextScope(Context& context);
  ContextScope(const ContextScope&) = delete;
  ContextScope& operator=(const ContextScope&) = delete;
  ~ContextScope();
};

}  // namespace knurl::runtime::detail
