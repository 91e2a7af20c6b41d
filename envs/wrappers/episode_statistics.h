#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "knurl/envs/wrappers/wrapper.h"

namespace knurl {

/// Two info numbers more, `<name>/r`, the sum of the rewards of the episode so far, and `<name>/l`,
/// its length in steps: those at its place in the list of wrappers (Gymnasium's
/// RecordEpisodeStatistics, but for the wall time, which is not the env's).
class EpisodeStatistics final : public EnvWrapper {
 public:
  struct Config {
    std::string name = "episode";
    static void fields(auto& self, auto&& field) {
      field("name", self.name,
            "what the numbers are called: <name>/r the return, <name>/l the "
            "length; metrics are custom_metrics/<name>/r_mean, …");
    }
  };

  /// Throws Error(config) where the name is empty or the env has info numbers called so.
  EpisodeStatistics(std::unique_ptr<Env> inner, const Config& config);

  [[nodiscard]] EnvSpec spec() const override;
  void reset(Rng& rng, ObservationOut observation) override;
  StepResult step(ActionView action, ObservationOut observation) override;
  void info(std::span<double> numbers) const override;
  void save(ByteWriter& out) const override;
  void load(ByteReader& in, Rng& rng) override;

 private:
  /// Of the running episode.
  struct Sums {
    double episode_return = 0.0;
    std::int64_t length = 0;
  };

  std::string name_;
  std::size_t inner_numbers_;  ///< info numbers of what is inside; ours follow them
  Sums sums_;
};

}  // namespace knurl
