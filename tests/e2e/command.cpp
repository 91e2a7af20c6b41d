#include "command.h"

#include <cstdlib>
#include <fstream>
#include <sstream>
#include <stdexcept>
#include <thread>

#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

namespace knurl::e2e {
namespace {

namespace fs = std::filesystem;

std::vector<char*> pointers(std::vector<std::string>& strings) {
  std::vector<char*> out;
  for (std::string& string : strings) out.push_back(string.data());
  out.push_back(nullptr);
  return out;
}

}  // namespace

std::string knurl_binary() {
  return KNURL_BINARY;
}

Process::Process(std::vector<std::string> command, const fs::path& directory,
                 const std::vector<std::string>& environment)
    : out_(files_ / "out"), err_(files_ / "err") {
  pid_ = ::fork();
  if (pid_ != 0) return;
  if (::chdir(directory.c_str()) != 0) ::_exit(126);
  const int out = ::open(out_.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
  const int err = ::open(err_.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
  const int in = ::open("/dev/null", O_RDONLY);
  ::dup2(in, 0);
  ::dup2(out, 1);
  ::dup2(err, 2);
  for (const std::string& variable : environment) {
    const std::size_t equals = variable.find('=');
    ::setenv(variable.substr(0, equals).c_str(), variable.substr(equals + 1).c_str(), 1);
  }
  const std::vector<char*> arguments = pointers(command);
  ::execvp(arguments[0], arguments.data());
  ::_exit(127);
}

Process::~Process() {
  if (!status_) {
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
  }
}

void Process::send(int signal) const {
  ::kill(pid_, signal);
}

bool Process::wait_for_output(const std::string& text, std::chrono::milliseconds timeout) {
  const auto deadline = std::chrono::steady_clock::now() + timeout;
  while (std::chrono::steady_clock::now() < deadline) {
    if (read_file(out_).find(text) != std::string::npos) return true;
    int status = 0;
    if (::waitpid(pid_, &status, WNOHANG) == pid_) {
      status_ = status;
      return false;
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
  return false;
}

Finished Process::wait() {
  int status = 0;
  if (status_) {
    status = *status_;
  } else {
    ::waitpid(pid_, &status, 0);
    status_ = status;
  }
  const int code = WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
  return {.exit_code = code, .out = read_file(out_), .err = read_file(err_)};
}

Finished knurl(const std::vector<std::string>& arguments, const fs::path& directory,
               const std::vector<std::string>& environment) {
  std::vector<std::string> command{knurl_binary()};
  command.insert(command.end(), arguments.begin(), arguments.end());
  return Process(std::move(command), directory, environment).wait();
}

fs::path only_trial(const fs::path& results) {
  std::vector<fs::path> trials;
  for (const auto& experiment : fs::directory_iterator(results)) {
    for (const auto& trial : fs::directory_iterator(experiment.path())) {
      trials.push_back(trial.path());
    }
  }
  if (trials.size() != 1) throw std::runtime_error("not exactly one trial in " + results.string());
  return trials.front();
}

std::string read_file(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

void write_file(const fs::path& path, const std::string& text) {
  std::ofstream(path, std::ios::binary) << text;
}

}  // namespace knurl::e2e
