#pragma once

namespace knurl::cli {

/// Exit codes of the command line.
enum ExitCode : int {
  kSuccess = 0,
  kFailure = 1,        ///< something went wrong while running
  kUsage = 2,          ///< a command line, config file or option that cannot mean anything
  kBadCheckpoint = 3,  ///< a checkpoint is damaged, foreign or newer
  // 128 + a signal's number: 129 hangup, 130 Ctrl-C, 143 SIGTERM; a checkpoint was written
};

/// The `knurl` command. A program with envs, algorithms or models of its own registers them and
/// then calls this from its main.
int run(int argc, const char* const* argv);

}  // namespace knurl::cli
