#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "curve.h"
#include "knurl/core/config/fields.h"

namespace knurl::learning {

/// What counts of a trained policy: a mean over greedy episodes, or in a finite env the exact
/// expected return of its greedy policy, by dynamic programming.
enum class Metric { reward_mean, length_mean, exact_value };
constexpr auto names(Metric) {
  return std::array{std::pair{Metric::reward_mean, "reward_mean"},
                    std::pair{Metric::length_mean, "length_mean"},
                    std::pair{Metric::exact_value, "exact_value"}};
}

/// A row of bars.yaml: what has to be learnt.
struct Bar {
  Opt<std::string> config = {};
  Opt<std::int64_t> env_steps = {};
  Opt<Metric> metric = Default{Metric::reward_mean};
  Opt<int> episodes = Default{100};
  Opt<std::optional<double>> at_least = {};
  Opt<std::optional<double>> at_most = {};
  Opt<bool> slow = Default{false};

  static void fields(auto& self, auto&& field) {
    field("config", self.config, "the config file, of one experiment");
    field("env_steps", self.env_steps, "env steps that may be used");
    field("metric", self.metric, "of the evaluation's summary");
    field("episodes", self.episodes, "of the final evaluation", knurl::at_least(1));
    field("at_least", self.at_least, "bar for the median over seeds");
    field("at_most", self.at_most, "bar for the median over seeds");
    field("slow", self.slow, "not among the fast tests");
  }
  [[nodiscard]] bool met_by(double median) const;
  [[nodiscard]] std::string text() const;
};

/// A bar, and what its config file says.
struct Row {
  std::string name = {};
  Bar bar = {};
  std::string algorithm = {};
  std::string env = {};
  std::string experiment = {};  ///< all that the config says, as JSON
};

/// The rows of tests/learning/bars.yaml. Throws Error(config).
std::vector<Row> read_rows(const std::filesystem::path& root);

/// What one seed came to.
struct SeedResult {
  int seed = 0;
  std::int64_t env_steps = 0;          ///< trained
  double score = 0.0;                  ///< the metric, of 100 greedy episodes after training
  std::optional<double> seconds = {};  ///< of training, where they compare with others
  Curve curve = {};                    ///< the metric of the last 100 episodes of training
};

/// The same of another program on the same algorithm and env.
struct Reference {
  std::string name = {};
  std::vector<SeedResult> seeds = {};
};

/// tests/learning/references/<algorithm>-<env>.json, for rows whose metric is the return. Nothing
/// where there is none. Throws Error(io) naming the file where it says something else.
std::optional<Reference> read_reference(const std::filesystem::path& root, const Row& row);

/// A row as it was trained: docs/results/<name>.json.
struct RowResult {
  std::string experiment = {};  ///< the config as it was then
  std::string version = {};     ///< of knurl, and its kernels
  std::string machine = {};
  int jobs = 1;  ///< seeds that trained at a time
  std::vector<SeedResult> seeds = {};
};

std::string to_json(const RowResult& result);
/// Throws Error(io) naming the path.
RowResult row_result_from_json(const std::string& text, const std::filesystem::path& path);

std::vector<double> scores_of(const std::vector<SeedResult>& seeds);
std::vector<Curve> curves_of(const std::vector<SeedResult>& seeds);
std::int64_t most_env_steps(const std::vector<SeedResult>& seeds);

/// No seed took more env steps than it may, and the median meets the bar.
bool met(const Bar& bar, const std::vector<SeedResult>& seeds);

/// Whether the interquartile mean is below the bootstrap interval of the reference's. Nothing where
/// a seed took more env steps than the reference's, which proves nothing.
std::optional<bool> below(const std::vector<SeedResult>& seeds, const Reference& reference);

}  // namespace knurl::learning
