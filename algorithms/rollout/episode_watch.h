#pragma once

#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "knurl/algorithms/callbacks.h"
#include "knurl/envs/vector_env.h"

namespace knurl {

/// What a step of a worker's envs showed: row or element i is env i's.
struct WatchedStep {
  ConstRows actions;
  ConstRows observations;        ///< after it, the next episode's first where one ended
  ConstRows final_observations;  ///< of episodes that ended
  std::span<const float> rewards;
  std::span<const double> info;
  std::span<const std::uint8_t> active;  ///< which envs stepped; empty: all
};

/// Tells callbacks of the episodes of a worker's envs, and keeps the numbers that they set.
class EpisodeWatch {
 public:
  /// Whose envs these are.
  struct Place {
    Purpose purpose = Purpose::training;
    int worker = 0;
    int first_env = 0;  ///< index of its first env in the whole run
  };

  EpisodeWatch(std::string callbacks, const Place& place, const VectorEnv& env);

  /// All envs are at the start of an episode.
  void start(const ConstRows& observations);
  /// All envs that are active took a step; `ended` are the episodes that it ended, by env. Adds the
  /// callbacks' numbers to these.
  void step(const WatchedStep& step, std::span<EpisodeSummary> ended);
  void sample_end(Fragment& fragment);

  /// The numbers of the running episodes, one map an env.
  using Numbers = std::vector<std::map<std::string, double>>;
  [[nodiscard]] const Numbers& numbers() const { return custom_metrics_; }
  /// Throws Error(checkpoint) where they are of another number of envs.
  void set_numbers(Numbers numbers);

 private:
  using Method = void (Callbacks::*)(EpisodeView&);
  void tell(const char* name, Method method, EpisodeView& episode);
  void start_one(int env, const ConstRows& observations);

  std::string name_;
  std::unique_ptr<Callbacks> callbacks_;
  Place place_;
  const VectorEnv& env_;
  Numbers custom_metrics_;
};

}  // namespace knurl
