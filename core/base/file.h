#pragma once

#include <cstddef>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>

namespace knurl {

/// The text of a file. Throws Error(io) with path and reason.
std::string read_text_file(const std::filesystem::path& path);

/// Writes a file and flushes it to the disk. Throws Error(io) with path and reason.
void write_file(const std::filesystem::path& path, std::span<const std::byte> bytes);

/// Adds to the end of a file, which is made where it is missing. Throws Error(io) with path and
/// reason.
void append_to_file(const std::filesystem::path& path, std::string_view bytes);

/// Flushes to the disk what was created, renamed or removed in a directory.
void flush_directory(const std::filesystem::path& directory);

/// Replaces a file in one step: written beside, flushed, renamed. Throws Error(io) with path and
/// reason; the old file is then still there.
void replace_text_file(const std::filesystem::path& path, std::string_view text);

/// A lock that one process at a time can hold, released when this or the process ends.
class FileLock {
 public:
  /// Throws Error(io) saying `what` is in use where another process holds it.
  FileLock(const std::filesystem::path& path, std::string_view what);
  FileLock(const FileLock&) = delete;
  FileLock& operator=(const FileLock&) = delete;
  ~FileLock();

 private:
  int fd_;
};

}  // namespace knurl
