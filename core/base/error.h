#pragma once

#include <array>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>

#include <fmt/format.h>

namespace knurl {

/// What kind of thing went wrong. The command line turns each kind into an exit code.
enum class ErrorKind {
  config,      ///< a file, an option or a command line that cannot mean anything
  env,         ///< an environment broke its contract or threw
  actor,       ///< a task, an actor or an object could not deliver
  checkpoint,  ///< a checkpoint is damaged, truncated, foreign or of another format
  io,          ///< a file or directory could not be read or written
};

constexpr auto names(ErrorKind) {
  return std::array{std::pair{ErrorKind::config, "config"}, std::pair{ErrorKind::env, "env"},
                    std::pair{ErrorKind::actor, "actor"},
                    std::pair{ErrorKind::checkpoint, "checkpoint"}, std::pair{ErrorKind::io, "io"}};
}

/// The one exception type of knurl. The message has the place, the value and the rule.
class Error : public std::runtime_error {
 public:
  Error(ErrorKind kind, const std::string& message) : std::runtime_error(message), kind_(kind) {}

  [[nodiscard]] ErrorKind kind() const { return kind_; }

 private:
  ErrorKind kind_;
};

/// Throws an Error whose message is formatted as by fmt::format.
template <class... Args>
[[noreturn]] void fail(ErrorKind kind, fmt::format_string<Args...> format, Args&&... args) {
  throw Error(kind, fmt::format(format, std::forward<Args>(args)...));
}

/// A C++ symbol as it is written in source.
std::string demangle(const char* symbol);

/// The text of the exception being handled, also for types that are no std::exception.
/// Call inside a catch block only.
std::string current_exception_text();

}  // namespace knurl
