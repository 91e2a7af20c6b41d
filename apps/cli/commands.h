#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace knurl::cli {

/// What `knurl train` was told.
struct TrainArguments {
  std::vector<std::string> files = {};
  std::string run = {};
  std::string env = {};
  std::string config = {};  ///< YAML or JSON
  std::string stop = {};    ///< YAML or JSON
  std::vector<std::string> set = {};
  std::optional<std::int64_t> seed = std::nullopt;
  bool deterministic = false;
  std::optional<int> checkpoint_freq = std::nullopt;
  std::optional<bool> checkpoint_at_end = std::nullopt;
  std::optional<int> keep_checkpoints = std::nullopt;
  std::string checkpoint_score_attr = {};
  std::string output = {};
  std::string experiment_name = {};
  std::string resume = {};
  std::string init_from = {};
  bool quiet = false;
  bool json = false;
  bool verbose = false;
};

/// What `knurl evaluate` was told.
struct EvaluateArguments {
  std::string checkpoint = {};
  std::string algorithm = {};
  std::string env = {};
  std::string config = {};
  std::vector<std::string> set = {};
  std::optional<int> episodes = std::nullopt;
  std::optional<std::int64_t> steps = std::nullopt;
  std::optional<std::int64_t> seed = std::nullopt;
  bool render = false;
  bool explore = false;
  bool json = false;
};

/// What `knurl explain` was told: these metrics, or all.
struct ExplainArguments {
  std::vector<std::string> metrics = {};
  bool markdown = false;
};

struct ListArguments {
  std::string what = {};  ///< "envs", "wrappers", "models", "algorithms" or "metrics"
};

struct ConfigArguments {
  std::string what = {};  ///< an algorithm, an env, a model or a config file
};

/// What `knurl check-env` was told.
struct CheckEnvArguments {
  std::string env = {};
  std::string config = {};  ///< YAML or JSON, or a file of that
  std::optional<int> steps = std::nullopt;
  std::optional<std::int64_t> seed = std::nullopt;
};

/// What `knurl checkpoint` was told: checkpoints, or trials' directories.
struct CheckpointArguments {
  std::string path = {};
  std::string other = {};  ///< of diff
};

int train(const TrainArguments& arguments);
int evaluate(const EvaluateArguments& arguments);
int explain(const ExplainArguments& arguments);
int list(const ListArguments& arguments);
int show_config(const ConfigArguments& arguments);
int check_env_command(const CheckEnvArguments& arguments);
int show_checkpoint(const CheckpointArguments& arguments);
int verify_checkpoint(const CheckpointArguments& arguments);
/// 0: they hold the same; 1: they differ; 2: one of them cannot be read.
int diff_checkpoints(const CheckpointArguments& arguments);

}  // namespace knurl::cli
