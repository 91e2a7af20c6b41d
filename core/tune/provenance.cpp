#include "knurl/core/tune/provenance.h"

#include <algorithm>
#include <cctype>
#include <fstream>
#include <string_view>

#include <fmt/format.h>
#include <sched.h>
#include <sys/utsname.h>

namespace knurl::tune {
namespace {

namespace fs = std::filesystem;

/// What follows `start` in the first line of a file that begins with it; empty where none does.
std::string line_after(const fs::path& file, std::string_view start) {
  std::ifstream lines(file);
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with(start)) return line.substr(start.size());
  }
  return "";
}

std::string first_line(const fs::path& file) {
  return line_after(file, "");
}

std::string without(std::string text, char quote) {
  std::erase(text, quote);
  return text;
}

bool is_hash(std::string_view text) {
  return text.size() >= 40 &&
         std::ranges::all_of(text, [](unsigned char c) { return std::isxdigit(c) != 0; });
}

/// The commit that a reference such as "refs/heads/main" stands for: in a file of its own, or
/// packed with others as "<commit> <reference>".
std::string commit_of(const fs::path& git, const std::string& reference) {
  const std::string loose = first_line(git / reference);
  if (is_hash(loose)) return loose;
  std::ifstream lines(git / "packed-refs");
  for (std::string line; std::getline(lines, line);) {
    const std::size_t space = line.find(' ');
    if (space != std::string::npos && line.substr(space + 1) == reference) {
      return line.substr(0, space);
    }
  }
  return "";
}

/// What is checked out by ".git": a directory, or of a worktree a file that names one.
std::optional<GitCommit> checked_out(const fs::path& repository) {
  const fs::path entry = repository / ".git";
  const fs::path git = fs::is_directory(entry) ? entry : repository / line_after(entry, "gitdir: ");
  const std::string head = first_line(git / "HEAD");
  constexpr std::string_view kReference = "ref: ";
  constexpr std::string_view kBranch = "refs/heads/";
  GitCommit out{.repository = repository};
  if (head.starts_with(kReference)) {
    // worktrees share their references
    const std::string common = first_line(git / "commondir");
    const std::string reference = head.substr(kReference.size());
    out.commit = commit_of(common.empty() ? git : git / common, reference);
    if (reference.starts_with(kBranch)) out.branch = reference.substr(kBranch.size());
  } else {
    out.commit = head;
  }
  return is_hash(out.commit) ? std::optional(out) : std::nullopt;
}

}  // namespace

std::optional<GitCommit> git_commit_of(const fs::path& directory) {
  std::error_code problem;
  fs::path at = fs::canonical(directory, problem);
  while (!problem && !fs::exists(at / ".git", problem)) {
    if (!at.has_relative_path()) return std::nullopt;
    at = at.parent_path();
  }
  return problem ? std::nullopt : checked_out(at);
}

std::string compiler_version() {
#ifdef __clang__
  return fmt::format("clang {}", __clang_version__);
#else
  return fmt::format("g++ {}.{}.{}", __GNUC__, __GNUC_MINOR__, __GNUC_PATCHLEVEL__);
#endif
}

Machine this_machine() {
  Machine out;
  utsname kernel = {};
  if (::uname(&kernel) == 0) {
    out.system = fmt::format("{} {} {}", kernel.sysname, kernel.release, kernel.machine);
  }
  out.distribution = without(line_after("/etc/os-release", "PRETTY_NAME="), '"');
  out.cpu = line_after("/proc/cpuinfo", "model name\t: ");
  cpu_set_t usable = {};
  if (::sched_getaffinity(0, sizeof(usable), &usable) == 0) out.num_cpus = CPU_COUNT(&usable);
  return out;
}

}  // namespace knurl::tune
