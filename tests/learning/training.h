#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "row.h"

namespace knurl::learning {

/// How rows are trained.
struct TrainingOptions {
  std::string knurl;           ///< path of the command
  std::filesystem::path root;  ///< of the repository
  int seeds = 3;               ///< 1, 2, …
  int jobs = 1;                ///< seeds that train at a time
};

/// Trains rows through the command line, as users do, and evaluates each seed's last checkpoint
/// greedily for 100 episodes. Calls `on_row` with each row as soon as its last seed is there, one
/// call at a time. Throws what a command or a call threw, after those that run have ended.
void train_rows(const std::vector<Row>& rows, const TrainingOptions& options,
                const std::function<void(const Row&, const RowResult&)>& on_row);

/// "AMD EPYC 9R14, 2 cores"
std::string machine();

}  // namespace knurl::learning
