#pragma once

#include <memory>
#include <type_traits>
#include <utility>

#include "knurl/core/runtime/detail/access.h"
#include "knurl/core/runtime/detail/api.h"
#include "knurl/core/runtime/detail/operations.h"
#include "knurl/core/runtime/object_ref.h"

namespace knurl::runtime {

/// Calls methods of an actor of class `T`. A copy is another handle to the same actor; the actor
/// ends, after its queued calls, when its last handle goes. May be an argument, or part of one.
/// Calls are safe from any thread.
template <class T>
class ActorHandle {
 public:
  /// Has no actor.
  ActorHandle() = default;

  explicit operator bool() const { return claim_ != nullptr; }
  /// Both have the same actor, or both none.
  bool operator==(const ActorHandle&) const = default;

  /// Queues a call of `Method` and returns at once. Arguments are values that convert to the
  /// parameters' types, or ObjectRefs of exactly these: the call then starts when they are there,
  /// and fails when one has failed. Calls from one task, actor or thread run in its order, one at a
  /// time; of several callers' calls any may come first. A method that waits for a call of its own
  /// actor waits in vain. What the method throws, or why the actor
  /// is dead, reaches the `get` of the result. Throws PendingCallsError if the actor has a limit,
  /// and Error(actor) if the handle is empty. Of an overloaded method, cast the one that is meant.
  template <auto Method, class... Argument>
  auto call(Argument&&... argument) const {
    static_assert(std::is_member_function_pointer_v<decltype(Method)>,
                  "call<&Class::method>(arguments…)");
    using Operation = detail::MethodOperation<T, Method>;
    using Call = typename Operation::Call;
    return detail::Access::make<detail::ResultRef<typename Call::Result>>(detail::submit_call(
        detail::Access::claim(*this),
        {.operation = &Operation::kOperation,
         .arguments = detail::arguments_for<Call>(std::forward<Argument>(argument)...)}));
  }

  /// For messages within a runtime, not for files. Throws Error(actor) where there is no runtime.
  void save(ByteWriter& out) const { detail::save_claim(out, claim_); }
  static ActorHandle load(ByteReader& in) { return ActorHandle(detail::load_actor_claim(in)); }

 private:
  friend struct detail::Access;
  explicit ActorHandle(detail::ActorClaim claim) : claim_(std::move(claim)) {}

  detail::ActorClaim claim_;
};

}  // namespace knurl::runtime
