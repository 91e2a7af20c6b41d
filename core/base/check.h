#pragma once

#include <source_location>
#include <stdexcept>
#include <string_view>

#include <fmt/format.h>

namespace knurl {

/// Guards an invariant of knurl itself: throws std::logic_error with the place when it is broken.
/// A user's mistake is never reported this way; see Error.
inline void check(bool holds, std::string_view what,
                  std::source_location where = std::source_location::current()) {
  if (holds) return;
  throw std::logic_error(
      fmt::format("{}:{}: broken invariant: {}", where.file_name(), where.line(), what));
}

}  // namespace knurl
