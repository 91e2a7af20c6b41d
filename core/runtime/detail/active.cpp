#include "knurl/core/runtime/detail/active.h"

#include <mutex>

#include "knurl/core/runtime/detail/context.h"
#include "knurl/core/runtime/detail/core.h"

namespace knurl::runtime::detail {
namespace {

struct Active {
  std::mutex mutex;
  std::shared_ptr<Core> core;
};

Active& active() {
  static Active only;
  return only;
}

}  // namespace

std::shared_ptr<Core> activate(const InitOptions& options) {
  const std::lock_guard lock(active().mutex);
  if (active().core) {
    fail(ErrorKind::actor,
         "init: a runtime is active: a process has one at a time, which ends with the scope that "
         "holds what init returned; knurl::current_runtime() gives it");
  }
  active().core = std::make_shared<Core>(options);
  return active().core;
}

void deactivate(Core& core) {
  core.shut_down();
  const std::lock_guard lock(active().mutex);
  active().core.reset();
}

std::shared_ptr<Core> find_core() {
  if (const Context* const context = current_context()) return context->core;
  const std::lock_guard lock(active().mutex);
  return active().core;
}

std::shared_ptr<Core> current_core() {
  std::shared_ptr<Core> core = find_core();
  if (!core) fail(ErrorKind::actor, "there is no runtime: call knurl::init first");
  return core;
}

}  // namespace knurl::runtime::detail
