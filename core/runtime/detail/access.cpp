#include "knurl/core/runtime/detail/access.h"

#include "knurl/core/runtime/detail/active.h"
#include "knurl/core/runtime/detail/core.h"

namespace knurl::runtime::detail {
namespace {

constexpr std::uint64_t kEmpty = 0;  // numbers of things start at 1

}  // namespace

void Access::refuse_empty() {
  fail(ErrorKind::actor, "an empty ObjectRef or ActorHandle refers to nothing");
}

void save_claim(ByteWriter& out, const Claim& claim) {
  if (!claim) return write(out, kEmpty);
  const auto core = current_core();
  const std::uint64_t number = claim->number(core->next_number());
  core->objects().add(number, claim.object());
  out.keep(std::make_shared<Claim>(claim));
  write(out, number);
}

void save_claim(ByteWriter& out, const ActorClaim& claim) {
  if (!claim) return write(out, kEmpty);
  current_core()->handles().add(claim->number(), claim);
  out.keep(claim);
  write(out, claim->number());
}

Claim load_object_claim(ByteReader& in) {
  const auto number = read<std::uint64_t>(in);
  if (number == kEmpty) return {};
  auto object = current_core()->objects().find(number);
  if (!object) fail(ErrorKind::io, "a message refers to object {}, which is gone", number);
  return Claim(std::move(object));
}

ActorClaim load_actor_claim(ByteReader& in) {
  const auto number = read<std::uint64_t>(in);
  if (number == kEmpty) return {};
  auto actor = current_core()->handles().find(number);
  if (!actor) fail(ErrorKind::io, "a message refers to actor {}, which is gone", number);
  return actor;
}

}  // namespace knurl::runtime::detail
