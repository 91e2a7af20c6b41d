#pragma once

#include <memory>
#include <utility>

#include "knurl/core/base/bytes.h"
#include "knurl/core/runtime/detail/object.h"

namespace knurl::runtime::detail {

class Actor;

/// A handle's hold on an actor. When the last one goes, the actor ends after its queued calls.
using ActorClaim = std::shared_ptr<Actor>;

/// Lets the runtime's own code into refs and handles.
struct Access {
  template <class Holder>
  static Holder make(auto claim) {
    return Holder(std::move(claim));
  }
  /// Throws Error(actor) for an empty ref or handle.
  static const auto& claim(const auto& holder) {
    if (!holder.claim_) refuse_empty();
    return holder.claim_;
  }

 private:
  [[noreturn]] static void refuse_empty();
};

/// Claims in messages: a number, under which the receiver finds the same object or actor. Throw
/// Error(actor) where there is no runtime, and Error(io) for a number that means nothing.
void save_claim(ByteWriter& out, const Claim& claim);
void save_claim(ByteWriter& out, const ActorClaim& claim);
Claim load_object_claim(ByteReader& in);
ActorClaim load_actor_claim(ByteReader& in);

}  // namespace knurl::runtime::detail
