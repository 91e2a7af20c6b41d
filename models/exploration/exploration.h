#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <utility>

#include "knurl/core/base/bytes.h"
#include "knurl/core/base/rng.h"
#include "knurl/core/config/fields.h"
#include "knurl/core/data/record_batch.h"
#include "knurl/models/distributions/action_distribution.h"

namespace knurl {

enum class ExplorationType { stochastic_sampling, epsilon_greedy };
constexpr auto names(ExplorationType) {
  return std::array{std::pair{ExplorationType::stochastic_sampling, "StochasticSampling"},
                    std::pair{ExplorationType::epsilon_greedy, "EpsilonGreedy"}};
}

/// `exploration_config` in files.
struct ExplorationConfig {
  Opt<ExplorationType> type = Default{ExplorationType::stochastic_sampling};
  Opt<double> initial_epsilon = Default{1.0};
  Opt<double> final_epsilon = Default{0.05};
  Opt<std::int64_t> warmup_timesteps = Default{0};
  Opt<std::int64_t> epsilon_timesteps = Default{100'000};

  static void fields(auto& self, auto&& field) {
    field("type", self.type, "how actions are chosen while training");
    field("initial_epsilon", self.initial_epsilon,
          "EpsilonGreedy: chance of a random action at the start", Range{0, 1});
    field("final_epsilon", self.final_epsilon,
          "EpsilonGreedy: chance of a random action in the end", Range{0, 1});
    field("warmup_timesteps", self.warmup_timesteps,
          "EpsilonGreedy: env steps before epsilon begins to fall", at_least(0));
    field("epsilon_timesteps", self.epsilon_timesteps,
          "EpsilonGreedy: env steps over which epsilon falls in a line", at_least(0));
  }
};

/// Whether a policy tries things or does what it thinks best.
enum class Acting { exploring, greedy };

/// Rows of a distribution's inputs, `stride` floats apart.
struct DistributionRows {
  const float* data = nullptr;
  std::int64_t rows = 0;
  std::int64_t stride = 0;
};

/// Chooses actions from distribution inputs. Keeps no random state: each row brings its env's
/// stream, so that an env's actions do not depend on who else is in the batch.
class Exploration {
 public:
  virtual ~Exploration() = default;

  /// Fills the column "actions" of `out`. rngs has a stream for each row.
  virtual void choose(const ActionDistribution& distribution, const DistributionRows& in,
                      std::span<Rng> rngs, RecordBatch& out) = 0;

  /// How many env steps the run has taken when the next actions are chosen; schedules follow it.
  virtual void set_timestep(std::int64_t /*timestep*/) {}

  /// Whatever set_timestep does not restore.
  virtual void save(ByteWriter& /*out*/) const {}
  virtual void load(ByteReader& /*in*/) {}
};

/// Draws from the distribution (RLlib's StochasticSampling).
class StochasticSampling final : public Exploration {
 public:
  void choose(const ActionDistribution& distribution, const DistributionRows& in,
              std::span<Rng> rngs, RecordBatch& out) override;
};

/// Always the distribution's mode: what evaluation does.
class Greedy final : public Exploration {
 public:
  void choose(const ActionDistribution& distribution, const DistributionRows& in,
              std::span<Rng> rngs, RecordBatch& out) override;
};

/// The mode, or with chance epsilon any action alike. Epsilon falls in a line. For Discrete only.
class EpsilonGreedy final : public Exploration {
 public:
  explicit EpsilonGreedy(const ExplorationConfig& config) : config_(config) {}

  void choose(const ActionDistribution& distribution, const DistributionRows& in,
              std::span<Rng> rngs, RecordBatch& out) override;
  void set_timestep(std::int64_t timestep) override { timestep_ = timestep; }

 private:
  ExplorationConfig config_;
  std::int64_t timestep_ = 0;
};

/// Epsilon after so many env steps.
double epsilon_at(const ExplorationConfig& config, std::int64_t timestep);

/// As the config says, or Greedy.
std::unique_ptr<Exploration> make_exploration(const ExplorationConfig& config, Acting acting);

}  // namespace knurl
