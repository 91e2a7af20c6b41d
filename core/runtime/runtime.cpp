#include "knurl/core/runtime/runtime.h"

#include "knurl/core/runtime/detail/active.h"
#include "knurl/core/runtime/detail/context.h"

namespace knurl::runtime {

void Runtime::get(const ObjectRef<void>& ref, Timeout timeout) const {
  detail::await_value(*core_, ref, timeout);
}

void Runtime::get(const std::vector<ObjectRef<void>>& refs, Timeout timeout) const {
  detail::await_values(*core_, detail::objects_of(refs), timeout);
}

ScopedRuntime::~ScopedRuntime() {
  if (held_) detail::deactivate(*held_);
}

ScopedRuntime init(InitOptions options) {
  return ScopedRuntime(detail::activate(options));
}

Runtime current_runtime() {
  return Runtime(detail::current_core());
}

std::optional<Runtime> active() {
  auto core = detail::find_core();
  if (!core) return std::nullopt;
  return Runtime(std::move(core));
}

std::stop_token stop_token() {
  const detail::Context* const context = detail::current_context();
  return context != nullptr ? context->stop : std::stop_token();
}

}  // namespace knurl::runtime
