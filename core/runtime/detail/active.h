#pragma once

#include <memory>

#include "knurl/core/runtime/options.h"

/// Which runtime is there: the one piece of global state.
namespace knurl::runtime::detail {

class Core;

/// Makes a new runtime the process's. Throws Error(actor) when there is one already.
std::shared_ptr<Core> activate(const InitOptions& options);

/// Ends the process's runtime, and only then makes room for the next.
void deactivate(Core& core);

/// The runtime that the calling thread works for, or else the process's; null when there is none.
std::shared_ptr<Core> find_core();

/// The same. Throws Error(actor) when there is none.
std::shared_ptr<Core> current_core();

}  // namespace knurl::runtime::detail
