#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <utility>

#include "knurl/core/config/fields.h"

namespace knurl {

struct WrapperChoice;

/// Wrappers that stand in an env's list but are carried out by the run, which knows of all envs.
/// They put nothing around an env.

/// Observations less their mean, over their standard deviation: the option `observation_filter:
/// MeanStdFilter`. One statistic for the whole run, where Gymnasium's wrapper has one for each env.
struct NormalizeObservation {
  double epsilon = 1e-8;
  static void fields(auto& self, auto&& field) {
    field("epsilon", self.epsilon, "added to the standard deviation", at_least(1e-30));
  }
};

/// Rewards over the standard deviation of their discounted sums, as learning sees them: the option
/// `normalize_rewards`. One statistic for the whole run, where Gymnasium's wrapper has one for each
/// env.
struct NormalizeReward {
  std::optional<double> gamma = std::nullopt;
  double epsilon = 1e-8;
  static void fields(auto& self, auto&& field) {
    field("gamma", self.gamma, "discount of those sums; null: the run's gamma", Range{0, 1});
    field("epsilon", self.epsilon, "added to the variance", at_least(1e-30));
  }
};

/// What recorded episodes are kept as.
enum class RecordingFormat { png, gif, both };
constexpr auto names(RecordingFormat) {
  return std::array{std::pair{RecordingFormat::png, "png"}, std::pair{RecordingFormat::gif, "gif"},
                    std::pair{RecordingFormat::both, "both"}};
}

/// Episodes as files: what Env::render_rgb shows after the reset and after each step. Which ones
/// follows from their numbers in the run, whoever steps them, and training goes as without. One
/// that does not end, or that a resumed run finds running, is not recorded.
struct RecordEpisode {
  std::string directory = "recordings";
  int every = 100;
  std::optional<std::int64_t> max_episodes = std::nullopt;
  int frame_step = 1;
  int fps = 30;
  RecordingFormat format = RecordingFormat::gif;
  static void fields(auto& self, auto&& field) {
    field("directory", self.directory, "where files go; a relative path is below the run's");
    field("every", self.every, "episodes from one that is recorded to the next, from the first on",
          at_least(1));
    field("max_episodes", self.max_episodes, "how many are recorded at most; null: no limit",
          at_least(1));
    field("frame_step", self.frame_step, "steps from one picture to the next", at_least(1));
    field("fps", self.fps, "pictures of a GIF that are shown in a second", Range{1, 50});
    field("format", self.format,
          "gif: a moving picture for each episode; png: a folder of pictures; both");
  }
};

/// What an env's wrappers ask of the run.
struct RunWrappers {
  std::optional<NormalizeObservation> observations = std::nullopt;
  std::optional<NormalizeReward> rewards = std::nullopt;
  std::optional<RecordEpisode> recording = std::nullopt;
};

/// Throws Error(config) for options that cannot be.
RunWrappers run_wrappers(std::span<const WrapperChoice> wrappers);

}  // namespace knurl
