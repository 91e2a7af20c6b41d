#include "knurl/core/base/log.h"

#include <atomic>
#include <chrono>
#include <cstdio>
#include <mutex>
#include <set>

#include <fmt/chrono.h>

#include "knurl/core/base/enum_names.h"
#include "knurl/core/base/error.h"
#include "knurl/core/base/file.h"

namespace knurl {
namespace {

namespace fs = std::filesystem;

constexpr LogLevel kFileLevel = LogLevel::info;

std::atomic<LogLevel> current_level = LogLevel::warning;
std::atomic<bool> has_file = false;

/// The file and who guards it; never destroyed, because threads may log until the process ends.
struct GuardedFile {
  std::mutex mutex;
  std::optional<LogFile> file;
};
GuardedFile& guarded_file() {
  static auto& guarded = *new GuardedFile;
  return guarded;
}

void print(LogLevel level, std::string_view text) {
  const std::string line = fmt::format("knurl: {}: {}\n", name_of(level), text);
  std::fwrite(line.data(), 1, line.size(), stderr);
}

fs::path old_file(const LogFile& file, int number) {
  return number == 0 ? file.path : fs::path(fmt::format("{}.{}", file.path.string(), number));
}

/// Makes room for a line: every file becomes the next older one.
void rotate_if_full(const LogFile& file, std::size_t line_bytes) {
  std::error_code missing;
  const std::uintmax_t bytes = fs::file_size(file.path, missing);
  if (missing || bytes == 0 || bytes + line_bytes <= file.max_bytes) return;
  for (int number = file.old_files; number > 0; --number) {
    const fs::path younger = old_file(file, number - 1);
    if (fs::exists(younger)) fs::rename(younger, old_file(file, number));
  }
  fs::remove(file.path);  // there only where no old files are kept
}

void write_to_file(LogLevel level, std::string_view text) {
  GuardedFile& guarded = guarded_file();
  const std::lock_guard lock(guarded.mutex);
  if (!guarded.file) return;
  const auto now = std::chrono::system_clock::to_time_t(std::chrono::system_clock::now());
  const std::string line =
      fmt::format("{:%Y-%m-%dT%H:%M:%SZ} {}: {}\n", fmt::gmtime(now), name_of(level), text);
  try {
    rotate_if_full(*guarded.file, line.size());
    append_to_file(guarded.file->path, line);
  } catch (const std::exception& error) {
    print(LogLevel::warning, fmt::format("{}; messages go to standard error only", error.what()));
    guarded.file.reset();
    has_file = false;
  }
}

}  // namespace

void set_log_level(LogLevel level) {
  current_level = level;
}
LogLevel log_level() {
  return current_level;
}

void set_log_file(std::optional<LogFile> file) {
  GuardedFile& guarded = guarded_file();
  const std::lock_guard lock(guarded.mutex);
  guarded.file = std::move(file);
  has_file = guarded.file.has_value();
}

bool is_logged(LogLevel level) {
  return level <= current_level || (has_file && level <= kFileLevel);
}

void log_message(LogLevel level, std::string_view text) {
  if (level <= current_level) print(level, text);
  if (has_file && level <= kFileLevel) write_to_file(level, text);
}

void warn_once(const std::string& text) {
  static std::mutex mutex;
  static std::set<std::string> said;
  const std::lock_guard lock(mutex);
  if (said.insert(text).second) log(LogLevel::warning, "{}", text);
}

}  // namespace knurl
