#pragma once

#include <memory>
#include <string_view>

#include "knurl/core/config/value.h"
#include "knurl/envs/env.h"

namespace knurl::detail {

/// make_env for callers that name the env themselves: lets through what its constructor throws.
std::unique_ptr<Env> make_unnamed(std::string_view name, const ConfigValue& config);

}  // namespace knurl::detail
