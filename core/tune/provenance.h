#pragma once

#include <filesystem>
#include <optional>
#include <string>

namespace knurl::tune {

/// The commit that a directory's files are of.
struct GitCommit {
  std::filesystem::path repository = {};
  std::string commit = {};  ///< hexadecimal
  std::string branch = {};  ///< empty where none is checked out

  bool operator==(const GitCommit&) const = default;
};

/// What is checked out in the git repository that a directory lies in, read from its files: git
/// itself is not needed, and whether files were changed since is not known. Nothing where there is
/// no repository, or no commit in it.
std::optional<GitCommit> git_commit_of(const std::filesystem::path& directory);

/// The compiler that knurl was built with: "g++ 12.2.0".
std::string compiler_version();

/// The machine that this process runs on.
struct Machine {
  std::string system = {};        ///< kernel: "Linux 6.1.0 x86_64"
  std::string distribution = {};  ///< "Debian GNU/Linux 12 (bookworm)"; empty where unknown
  std::string cpu = {};           ///< the CPU's own name; empty where unknown
  int num_cpus = 0;               ///< that this process may use
};
Machine this_machine();

}  // namespace knurl::tune
