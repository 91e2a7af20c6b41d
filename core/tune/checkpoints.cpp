#include "knurl/core/tune/checkpoints.h"

#include <algorithm>
#include <fstream>
#include <limits>

namespace knurl::tune {
TrialCheckpoints::TrialCheckpoints(std::filesystem::path trial, CheckpointOptions options,
                                   MetricNames names)
    : trial_(std::move(trial)), options_(std::move(options)), names_(std::move(names)) {
  remove_unfinished_checkpoints(trial_);
  for (auto& [iteration, directory] : list_checkpoints(trial_)) {
    checkpoints_[iteration] = std::move(directory);
  }
  if (checkpoints_.empty()) return;
  std::ifstream lines(trial_ / "result.json");
  for (std::string line; std::getline(lines, line);) {
    std::optional<Result> result = numbers_of_json(line);
    const auto number = result ? result->number("training_iteration") : std::nullopt;
    const auto iteration = static_cast<std::int64_t>(number.value_or(-1.0));
    if (checkpoints_.contains(iteration)) results_[iteration] = std::move(*result);
  }
}

std::filesystem::path TrialCheckpoints::write(const CheckpointData& state, std::int64_t iteration,
                                              const Result& result) {
  const std::filesystem::path directory = trial_ / checkpoint_name(iteration);
  write_checkpoint(directory, state);
  checkpoints_[iteration] = directory;
  results_[iteration] = result;
  delete_surplus();
  return directory;
}

std::optional<double> TrialCheckpoints::score(std::int64_t iteration,
                                              const std::string& metric) const {
  const auto found = results_.find(iteration);
  if (found == results_.end()) return std::nullopt;
  return found->second.number(names_.canonical(metric));
}

std::optional<std::int64_t> TrialCheckpoints::best_iteration(const std::string& metric,
                                                             ScoreOrder order) const {
  std::optional<std::int64_t> best;
  std::optional<double> best_score;
  for (const auto& [iteration, directory] : checkpoints_) {
    const std::optional<double> value = score(iteration, metric);
    if (!value) continue;
    const bool better =
        !best_score || (order == ScoreOrder::max ? *value >= *best_score : *value <= *best_score);
    if (better) {
      best = iteration;
      best_score = value;
    }
  }
  return best;
}

std::optional<std::filesystem::path> TrialCheckpoints::best(const std::string& metric,
                                                            ScoreOrder order) const {
  const auto iteration = best_iteration(metric, order);
  return iteration ? std::optional(checkpoints_.at(*iteration)) : std::nullopt;
}

std::optional<std::filesystem::path> TrialCheckpoints::last() const {
  return checkpoints_.empty() ? std::nullopt : std::optional(checkpoints_.rbegin()->second);
}

void TrialCheckpoints::cut(std::int64_t last_iteration) {
  for (auto it = checkpoints_.upper_bound(last_iteration); it != checkpoints_.end();) {
    std::filesystem::remove_all(it->second);
    results_.erase(it->first);
    it = checkpoints_.erase(it);
  }
}

/// Deletes the worst until num_to_keep are left, but neither the last nor the best.
void TrialCheckpoints::delete_surplus() {
  if (!options_.num_to_keep.value()) return;
  const auto keep = static_cast<std::size_t>(*options_.num_to_keep.value());
  const std::string& metric = *options_.checkpoint_score_attribute;
  const bool high_is_good = options_.checkpoint_score_order.value() == ScoreOrder::max;
  const std::optional<std::int64_t> best = best_iteration(metric, options_.checkpoint_score_order);
  std::vector<std::pair<double, std::int64_t>> candidates;  // worst first; no score is worst
  for (const auto& [iteration, directory] : checkpoints_) {
    if (iteration == checkpoints_.rbegin()->first || iteration == best) continue;
    const std::optional<double> value = score(iteration, metric);
    const double rank =
        value ? (high_is_good ? *value : -*value) : -std::numeric_limits<double>::infinity();
    candidates.emplace_back(rank, iteration);
  }
  std::ranges::sort(candidates);
  for (const auto& [rank, iteration] : candidates) {
    if (checkpoints_.size() <= keep) break;
    std::filesystem::remove_all(checkpoints_.at(iteration));
    checkpoints_.erase(iteration);
    results_.erase(iteration);
  }
}

}  // namespace knurl::tune
