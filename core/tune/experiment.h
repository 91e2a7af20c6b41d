#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "knurl/core/config/fields.h"
#include "knurl/core/config/problems.h"

namespace knurl::tune {

enum class ScoreOrder { max, min };
constexpr auto names(ScoreOrder) {
  return std::array{std::pair{ScoreOrder::max, "max"}, std::pair{ScoreOrder::min, "min"}};
}

/// Which checkpoints a run writes and keeps; `checkpoint_config` in files.
struct CheckpointOptions {
  Opt<int> checkpoint_frequency = Default{0};
  Opt<bool> checkpoint_at_end = Default{true};
  Opt<std::optional<int>> num_to_keep = Default{std::nullopt};
  Opt<std::string> checkpoint_score_attribute = Default{"training_iteration"};
  Opt<ScoreOrder> checkpoint_score_order = Default{ScoreOrder::max};

  static void fields(auto& self, auto&& field) {
    field("checkpoint_frequency", self.checkpoint_frequency,
          "iterations from one checkpoint to the next; 0: none on the way", at_least(0),
          Aliases{{"checkpoint_freq"}});
    field("checkpoint_at_end", self.checkpoint_at_end, "write a checkpoint when the run ends");
    field("num_to_keep", self.num_to_keep,
          "keep so many checkpoints, those with the best scores, and always the last; null: all",
          at_least(1), Aliases{{"keep_checkpoints_num"}});
    field("checkpoint_score_attribute", self.checkpoint_score_attribute,
          "the metric that is a checkpoint's score", Aliases{{"checkpoint_score_attr"}});
    field("checkpoint_score_order", self.checkpoint_score_order, "whether a high score is good");
  }
};

/// Makes a metric the checkpoints' score. "min-loss": small is good, as Tune writes it.
void set_score(CheckpointOptions& options, const std::string& attribute);

/// One experiment of a file: `name: {run, env, stop, config, …}`, in Tune's vocabulary.
struct Experiment {
  Opt<std::string> run = {};
  Opt<std::string> env = {};
  Opt<ConfigValue> stop = Default{ConfigValue::empty_map()};
  Opt<ConfigValue> config = Default{ConfigValue::empty_map()};
  CheckpointOptions checkpoint_config = {};
  Opt<std::string> local_dir = Default{"results"};
  Opt<int> num_samples = Default{1};

  static void fields(auto& self, auto&& field) {
    field("run", self.run, "the algorithm", Aliases{{"algo"}});
    field("env", self.env, "the environment");
    field("stop", self.stop, "metrics, and the values at which the run is over");
    field("config", self.config, "the algorithm's options");
    field("checkpoint_config", self.checkpoint_config, "which checkpoints to write and keep");
    field("local_dir", self.local_dir, "where the experiment's directory is made",
          Aliases{{"storage_path"}});
    field("num_samples", self.num_samples, "trials of the same config", at_least(1));
  }
};

/// An experiment as it stands in a file, or where that has `grid_search` one combination of it.
struct NamedExperiment {
  std::string name = {};
  std::string tag = {};  ///< which combination: "0_lr=0.1"; empty where nothing is searched
  Experiment experiment = {};
  std::vector<std::string> notes = {};  ///< what was given without effect: a line for each
  Place run_place = {};
  Place env_place = {};
};

/// What to say of a key that experiments do not have; nothing where there is nothing to say.
using KeyHint = std::function<std::string(const std::string& key)>;

/// The experiments of a file in the order they stand there, one with `grid_search` as all that its
/// grid_points are. Throws Error(config) with file, line,
/// path and rule for all that is wrong with them.
std::vector<NamedExperiment> parse_experiments(const ConfigValue& file);
/// The same, adding what is wrong to `problems`.
std::vector<NamedExperiment> parse_experiments(const ConfigValue& file, const KeyHint& hint,
                                               Problems& problems);

}  // namespace knurl::tune
