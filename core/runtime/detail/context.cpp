#include "knurl/core/runtime/detail/context.h"

namespace knurl::runtime::detail {
namespace {

thread_local Context* context_of_thread = nullptr;

}  // namespace

Context* current_context() {
  return context_of_thread;
}

CallerId current_caller() {
  if (context_of_thread != nullptr) return {.number = context_of_thread->number, .thread = {}};
  return {.number = 0, .thread = std::this_thread::get_id()};
}

ContextScope::ContextScope(Context& context) {
  context_of_thread = &context;
}

ContextScope::~ContextScope() {
  context_of_thread = nullptr;
}

}  // namespace knurl::runtime::detail
