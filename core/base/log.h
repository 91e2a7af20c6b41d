#pragma once

#include <array>
#include <string>
#include <string_view>
#include <utility>

#include <fmt/format.h>

namespace knurl {

enum class LogLevel { error, warning, info, debug };
constexpr auto names(LogLevel) {
  return std::array{std::pair{LogLevel::error, "error"}, std::pair{LogLevel::warning, "warning"},
                    std::pair{LogLevel::info, "info"}, std::pair{LogLevel::debug, "debug"}};
}

/// Messages above this level are dropped. Starts at `warning`. Safe from any thread.
void set_log_level(LogLevel level);
LogLevel log_level();

/// Writes "knurl: warning: text" to standard error in one piece. Safe from any thread.
void log_message(LogLevel level, std::string_view text);

template <class... Args>
void log(LogLevel level, fmt::format_string<Args...> format, Args&&... args) {
  if (level <= log_level()) log_message(level, fmt::format(format, std::forward<Args>(args)...));
}

/// Warns with this text once in the life of the process, however often it is asked to.
void warn_once(const std::string& text);

}  // namespace knurl
