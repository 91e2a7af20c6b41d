#pragma once

#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "knurl/core/runtime/detail/access.h"
#include "knurl/core/runtime/detail/work.h"
#include "knurl/core/runtime/options.h"

/// What the templates of the public headers call: everything here is as the public member says.
namespace knurl::runtime::detail {

class Core;

Claim put(Core& core, std::unique_ptr<Box> value);
Claim submit_task(Core& core, Work work, TaskOptions options);
ActorClaim start_actor(Core& core, Work construction, ActorOptions options,
                       std::string_view class_name);
Claim submit_call(const ActorClaim& actor, Work work);

/// Returns when all have a value.
void await_values(Core& core, std::span<Object* const> objects, Timeout timeout);
/// Which of the objects count as ready.
std::vector<bool> wait(Core& core, std::span<Object* const> objects, WaitOptions options);

void cancel(Object& object);
void kill(Actor& actor);

}  // namespace knurl::runtime::detail
