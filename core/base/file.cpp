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

}  // namespace

std::string read_text_file(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) fail_io(path, "cannot be read");
  std::ostringstream text;
  text << file.rdbuf();
  return std::move(text).str();
}

void replace_text_file(const std::filesystem::path& path, std::string_view text) {
  const std::filesystem::path beside = path.string() + fmt::format(".new-{}", ::getpid());
  const int fd = ::open(beside.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  if (fd < 0) fail_io(path, "cannot be written");
  bool good = true;
  while (good && !text.empty()) {
    const ssize_t written = ::write(fd, text.data(), text.size());
    if (written < 0 && errno == EINTR) continue;
    good = written >= 0;
    if (good) text.remove_prefix(static_cast<std::size_t>(written));
  }
  good = good && ::fsync(fd) == 0;
  good = ::close(fd) == 0 && good;
  good = good && ::rename(beside.c_str(), path.c_str()) == 0;
  if (!good) {
    const int reason = errno;
    ::unlink(beside.c_str());
    errno = reason;
    fail_io(path, "cannot be written");
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
