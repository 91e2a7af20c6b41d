#pragma once

#include <string_view>

#include "knurl/core/runtime/detail/context.h"
#include "knurl/core/runtime/detail/mailbox.h"

namespace knurl::runtime::detail {

/// Does the work of a call in this thread and settles it, unless it has settled before. Nothing
/// that the user's code throws comes out. `who` stands before the call's name in messages.
void execute(const Message& message, Instance& instance, Context& context, std::string_view who);

}  // namespace knurl::runtime::detail
