#pragma once

#include <string>

#include "knurl/core/metrics/result.h"

namespace knurl {

/// A result as a JSON object that keeps the types of its values, for checkpoints.
std::string typed_json(const Result& result);

/// The result that typed_json wrote. Throws an nlohmann::json::exception where it is none.
Result result_of_typed_json(const std::string& text);

}  // namespace knurl
