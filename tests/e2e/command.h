#pragma once

#include <chrono>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "scratch.h"

namespace knurl::e2e {

/// What a finished process left.
struct Finished {
  int exit_code = 0;  ///< 128 + signal where one ended it
  std::string out;
  std::string err;
};

/// Runs the built `knurl` with these arguments in a directory, without a terminal. `environment`
/// holds NAME=value additions.
Finished knurl(const std::vector<std::string>& arguments, const std::filesystem::path& directory,
               const std::vector<std::string>& environment = {});

/// A process that can be sent signals. Killed when it goes out of scope.
class Process {
 public:
  Process(std::vector<std::string> command, const std::filesystem::path& directory,
          const std::vector<std::string>& environment = {});
  Process(const Process&) = delete;
  Process& operator=(const Process&) = delete;
  ~Process();

  void send(int signal) const;
  /// Waits until the file of the process's standard output contains a text. False where it ended
  /// before, or after the timeout.
  bool wait_for_output(const std::string& text, std::chrono::milliseconds timeout);
  Finished wait();

 private:
  int pid_ = -1;
  Scratch files_;
  std::filesystem::path out_;
  std::filesystem::path err_;
  std::optional<int> status_;
};

/// The built `knurl`.
std::string knurl_binary();

/// The only trial directory below a results directory.
std::filesystem::path only_trial(const std::filesystem::path& results);

std::string read_file(const std::filesystem::path& path);
void write_file(const std::filesystem::path& path, const std::string& text);

}  // namespace knurl::e2e
