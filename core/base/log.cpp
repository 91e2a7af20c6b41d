#include "knurl/core/base/log.h"

#include <atomic>
#include <cstdio>
#include <mutex>
#include <set>

#include "knurl/core/base/enum_names.h"

namespace knurl {
namespace {

std::atomic<LogLevel> current_level = LogLevel::warning;

}  // namespace

void set_log_level(LogLevel level) {
  current_level = level;
}
LogLevel log_level() {
  return current_level;
}

void log_message(LogLevel level, std::string_view text) {
  const std::string line = fmt::format("knurl: {}: {}\n", name_of(level), text);
  std::fwrite(line.data(), 1, line.size(), stderr);
}

void warn_once(const std::string& text) {
  static std::mutex mutex;
  static std::set<std::string> said;
  const std::lock_guard lock(mutex);
  if (said.insert(text).second) log(LogLevel::warning, "{}", text);
}

}  // namespace knurl
