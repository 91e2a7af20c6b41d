#pragma once

#include <array>
#include <cstddef>
#include <filesystem>
#include <optional>
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

/// A file that messages go to beside standard error. When it would outgrow `max_bytes` it becomes
/// "<path>.1", that "<path>.2", and so on up to `old_files`; the oldest is dropped.
struct LogFile {
  std::filesystem::path path = {};
  std::size_t max_bytes = std::size_t{1} << 20;
  int old_files = 3;
};

/// Messages up to `info` go to this file from now on, whatever the level, with the time (UTC)
/// before them; or to none. It is made with the first message. Where it cannot be written, that is
/// said once and nothing else happens. Safe from any thread.
void set_log_file(std::optional<LogFile> file);

/// Whether a message of this level goes anywhere.
bool is_logged(LogLevel level);

/// Writes "knurl: warning: text" to standard error in one piece, and to the log file if there is
/// one. Safe from any thread.
void log_message(LogLevel level, std::string_view text);

template <class... Args>
void log(LogLevel level, fmt::format_string<Args...> format, Args&&... args) {
  if (is_logged(level)) log_message(level, fmt::format(format, std::forward<Args>(args)...));
}

/// Warns with this text once in the life of the process, however often it is asked to.
void warn_once(const std::string& text);

}  // namespace knurl
