#include "knurl/models/exploration/exploration.h"

#include <algorithm>

#include "knurl/core/base/check.h"
#include "knurl/core/base/error.h"
#include "knurl/models/columns.h"

namespace knurl {
namespace {

/// Calls `choose_row(distribution, inputs, rng, action)` for each row.
template <class ChooseRow>
void for_each_row(const ActionDistribution& distribution, const DistributionRows& in,
                  std::span<Rng> rngs, RecordBatch& out, ChooseRow choose_row) {
  check(static_cast<std::int64_t>(rngs.size()) >= in.rows, "each row brings a random stream");
  std::visit(
      [&](const auto& d) {
        using Element = typename std::remove_cvref_t<decltype(d)>::Element;
        const auto actions = out.column<Element>(column::kActions);
        for (std::int64_t row = 0; row < in.rows; ++row) {
          choose_row(d, in.data + row * in.stride, rngs[static_cast<std::size_t>(row)],
                     actions.row(row).data());
        }
      },
      distribution);
}

}  // namespace

void StochasticSampling::choose(const ActionDistribution& distribution, const DistributionRows& in,
                                std::span<Rng> rngs, RecordBatch& out) {
  for_each_row(distribution, in, rngs, out,
               [](const auto& d, const float* x, Rng& rng, auto* a) { d.sample(x, rng, a); });
}

void Greedy::choose(const ActionDistribution& distribution, const DistributionRows& in,
                    std::span<Rng> rngs, RecordBatch& out) {
  for_each_row(distribution, in, rngs, out,
               [](const auto& d, const float* x, Rng&, auto* a) { d.mode(x, a); });
}

void EpsilonGreedy::choose(const ActionDistribution& distribution, const DistributionRows& in,
                           std::span<Rng> rngs, RecordBatch& out) {
  const double epsilon = epsilon_at(config_, timestep_);
  for_each_row(
      distribution, in, rngs, out, [&](const auto& d, const float* x, Rng& rng, auto* action) {
        if constexpr (std::is_same_v<std::remove_cvref_t<decltype(d)>, Categorical>) {
          if (rng.uniform() < epsilon) {
            *action = static_cast<std::int64_t>(rng.below(static_cast<std::uint64_t>(d.n)));
          } else {
            d.mode(x, action);
          }
        } else {
          fail(ErrorKind::config, "EpsilonGreedy needs a Discrete action space");
        }
      });
}

double epsilon_at(const ExplorationConfig& config, std::int64_t timestep) {
  const auto since = static_cast<double>(timestep - config.warmup_timesteps);
  const auto over = static_cast<double>(config.epsilon_timesteps.value());
  const double fallen =
      over > 0.0 ? std::clamp(since / over, 0.0, 1.0) : (since >= 0.0 ? 1.0 : 0.0);
  return config.initial_epsilon + fallen * (config.final_epsilon - config.initial_epsilon);
}

std::unique_ptr<Exploration> make_exploration(const ExplorationConfig& config, Acting acting) {
  if (acting == Acting::greedy) return std::make_unique<Greedy>();
  switch (config.type.value()) {
    case ExplorationType::stochastic_sampling:
      return std::make_unique<StochasticSampling>();
    case ExplorationType::epsilon_greedy:
      return std::make_unique<EpsilonGreedy>(config);
  }
  return nullptr;
}

}  // namespace knurl
