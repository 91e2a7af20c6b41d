#include "knurl/core/base/file.h"

#include <cerrno>
#include <cstring>
#include <fstream>
#include <sstream>

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include "knurl/core/base/error.h"

namespace knurl {
namespace {

[[noreturn]] void fail_io(const std::filesystem::path& path, std::string_view what) {
  fail(ErrorKind::io, "{}: {}: {}", path.string(), what, std::strerror(errno));
}

/// A file descriptor that closes itself.
class Descriptor {
 public:
  Descriptor(const std::filesystem::path& path, int flags)
      : fd_(::open(path.c_str(), flags | O_CLOEXEC, 0666)) {
    if (fd_ < 0) fail_io(path, "cannot be opened");
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  ~Descriptor() { ::close(fd_); }
  [[nodiscard]] int get() const { return fd_; }

 private:
  int fd_;
};

}  // namespace

std::string read_text_file(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) fail_io(path, "cannot be read");
  std::ostringstream text;
  text << file.rdbuf();
  return std::move(text).str();
}

void write_file(const std::filesystem::path& path, std::span<const std::byte> bytes) {
  const Descriptor descriptor(path, O_WRONLY | O_CREAT | O_TRUNC);
  while (!bytes.empty()) {
    const ssize_t written = ::write(descriptor.get(), bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) fail_io(path, "cannot be written");
    bytes = bytes.subspan(static_cast<std::size_t>(written));
  }
  if (::fsync(descriptor.get()) != 0) fail_io(path, "cannot be flushed");
}

void append_to_file(const std::filesystem::path& path, std::string_view bytes) {
  std::ofstream file(path, std::ios::binary | std::ios::app);
  file << bytes << std::flush;
  if (!file) fail_io(path, "cannot be written");
}

void flush_directory(const std::filesystem::path& directory) {
  const Descriptor descriptor(directory, O_RDONLY | O_DIRECTORY);
  if (::fsync(descriptor.get()) != 0) fail_io(directory, "cannot be flushed");
}

void replace_text_file(const std::filesystem::path& path, std::string_view text) {
  const std::filesystem::path beside = path.string() + fmt::format(".new-{}", ::getpid());
  try {
    write_file(beside, std::as_bytes(std::span(text)));
    if (::rename(beside.c_str(), path.c_str()) != 0) fail_io(path, "cannot be replaced");
  } catch (...) {
    ::unlink(beside.c_str());
    throw;
  }
}

FileLock::FileLock(const std::filesystem::path& path, std::string_view what)
    : fd_(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666)) {
  if (fd_ < 0) fail_io(path, "cannot be opened");
  if (::flock(fd_, LOCK_EX | LOCK_NB) != 0) {
    const int reason = errno;
    ::close(fd_);
    errno = reason;
    if (reason == EWOULDBLOCK) fail(ErrorKind::io, "{} is in use by another process", what);
    fail_io(path, "cannot be locked");
  }
}

FileLock::~FileLock() {
  ::close(fd_);
}

}  // namespace knurl
