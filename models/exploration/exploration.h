#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <utility>

#include "knurl/core/base/bytes.h"
#include "knurl/core/base/rng.h"
#include "knurl/core/config/fields.h"
#include "knurl/core/config/schedule.h"
#include "knurl/core/data/record_batch.h"
#include "knurl/models/distributions/action_distribution.h"

namespace knurl {

enum class ExplorationType {
  stochastic_sampling,
  epsilon_greedy,
  per_worker_epsilon_greedy,
  soft_q,
  parameter_noise,
};
constexpr auto names(ExplorationType) {
  return std::array{
      std::pair{ExplorationType::stochastic_sampling, "StochasticSampling"},
      std::pair{ExplorationType::epsilon_greedy, "EpsilonGreedy"},
      std::pair{ExplorationType::per_worker_epsilon_greedy, "PerWorkerEpsilonGreedy"},
      std::pair{ExplorationType::soft_q, "SoftQ"},
      std::pair{ExplorationType::soft_q, "Boltzmann"},
      std::pair{ExplorationType::parameter_noise, "ParameterNoise"},
  };
}

/// `exploration_config` in files.
struct ExplorationConfig {
  Opt<ExplorationType> type = Default{ExplorationType::stochastic_sampling};
  Opt<double> initial_epsilon = Default{1.0};
  Opt<double> final_epsilon = Default{0.05};
  Opt<std::int64_t> warmup_timesteps = Default{0};
  Opt<std::int64_t> epsilon_timesteps = Default{100'000};
  Opt<std::optional<Schedule>> epsilon_schedule = Default{std::nullopt};
  Opt<double> temperature = Default{1.0};
  Opt<double> initial_stddev = Default{1.0};
  Opt<std::int64_t> random_timesteps = Default{10'000};

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
    field("epsilon_schedule", self.epsilon_schedule,
          "EpsilonGreedy: chance of a random action over env steps, in place of initial_epsilon, "
          "final_epsilon, warmup_timesteps and epsilon_timesteps",
          Range{0, 1});
    field("temperature", self.temperature,
          "SoftQ (Boltzmann): actions are drawn with chance softmax(values / temperature)",
          above(0));
    field("initial_stddev", self.initial_stddev,
          "ParameterNoise: standard deviation of the noise on the net's weights at the start; it "
          "adapts",
          at_least(0));
    field("random_timesteps", self.random_timesteps,
          "ParameterNoise: env steps of random actions at the start", at_least(0));
  }
};

/// Whether a policy tries things or does what it thinks best.
enum class Acting { exploring, greedy };

/// What state-dependent noise reads: rows of a net's features, and the layer that says how loud it
/// is.
struct SdeFeatures {
  const float* data = nullptr;  ///< null: the net has no such layer
  std::int64_t stride = 0;      ///< floats from one row to the next
  int size = 0;                 ///< features of a row
  int actions = 0;
  const float* log_std = nullptr;  ///< [size, actions]
};

/// Rows of a distribution's inputs, `stride` floats apart.
struct DistributionRows {
  const float* data = nullptr;
  std::int64_t rows = 0;
  std::int64_t stride = 0;
  SdeFeatures sde = {};
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

  /// The next actions begin a fragment.
  virtual void begin_fragment() {}

  /// Whatever neither of these restores.
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

/// The mode, or with chance epsilon any action alike. For Discrete only.
class EpsilonGreedy final : public Exploration {
 public:
  /// Epsilon over env steps.
  explicit EpsilonGreedy(Schedule epsilon) : epsilon_(std::move(epsilon)) {}

  void choose(const ActionDistribution& distribution, const DistributionRows& in,
              std::span<Rng> rngs, RecordBatch& out) override;
  void set_timestep(std::int64_t timestep) override { timestep_ = timestep; }

 private:
  Schedule epsilon_;
  std::int64_t timestep_ = 0;
};

/// Boltzmann exploration of action values: draws from softmax(inputs / temperature) (RLlib's
/// SoftQ). For Discrete only.
class SoftQ final : public Exploration {
 public:
  explicit SoftQ(double temperature) : temperature_(static_cast<float>(temperature)) {}

  void choose(const ActionDistribution& distribution, const DistributionRows& in,
              std::span<Rng> rngs, RecordBatch& out) override;

 private:
  float temperature_;
  std::vector<float> scaled_;
};

/// Which of a run's rollout workers a policy acts in.
struct WorkerPlace {
  int worker = 0;   ///< from 1; 0 is the driver's own
  int workers = 0;  ///< beside the driver's
};

/// Epsilon over env steps as EpsilonGreedy follows it; with ParameterNoise 1 while actions are
/// random, 0.01 then.
Schedule epsilon_schedule(const ExplorationConfig& config);

/// The constant epsilon of a worker among several (Horgan et al. 2018, section 4): 0.4^(1 + 7 i /
/// (n - 1)) of worker i of n, from 0. Of a single one nothing.
std::optional<double> epsilon_of_worker(const WorkerPlace& place);

/// As the config says, or Greedy. PerWorkerEpsilonGreedy is EpsilonGreedy where there are less than
/// two workers.
std::unique_ptr<Exploration> make_exploration(const ExplorationConfig& config, Acting acting,
                                              const WorkerPlace& place = {});

}  // namespace knurl
