#include "knurl/models/exploration/exploration.h"

#include <algorithm>
#include <cmath>

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
  const double epsilon = epsilon_.at(timestep_);
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

void SoftQ::choose(const ActionDistribution& distribution, const DistributionRows& in,
                   std::span<Rng> rngs, RecordBatch& out) {
  for_each_row(distribution, in, rngs, out,
               [&](const auto& d, const float* x, Rng& rng, auto* action) {
                 if constexpr (std::is_same_v<std::remove_cvref_t<decltype(d)>, Categorical>) {
                   scaled_.assign(x, x + d.n);
                   for (float& value : scaled_) value /= temperature_;
                   d.sample(scaled_.data(), rng, action);
                 } else {
                   fail(ErrorKind::config, "SoftQ needs a Discrete action space");
                 }
               });
}

Schedule epsilon_schedule(const ExplorationConfig& config) {
  if (*config.type == ExplorationType::parameter_noise) {
    const auto until = static_cast<double>(config.random_timesteps.value());
    return Schedule({{0.0, 1.0}, {until + 1.0, 1.0}, {until + 2.0, 0.01}});
  }
  if (config.epsilon_schedule->has_value()) return **config.epsilon_schedule;
  const auto warmup = static_cast<double>(config.warmup_timesteps.value());
  const auto over = static_cast<double>(config.epsilon_timesteps.value());
  const double from = config.initial_epsilon;
  const double to = config.final_epsilon;
  if (over > 0.0) return Schedule({{warmup, from}, {warmup + over, to}});
  if (warmup > 0.0) return Schedule({{warmup - 1.0, from}, {warmup, to}});
  return to;
}

std::optional<double> epsilon_of_worker(const WorkerPlace& place) {
  if (place.workers < 2 || place.worker < 1) return std::nullopt;
  const double share = static_cast<double>(place.worker - 1) / (place.workers - 1);
  return std::pow(0.4, 1.0 + 7.0 * share);
}

std::unique_ptr<Exploration> make_exploration(const ExplorationConfig& config, Acting acting,
                                              const WorkerPlace& place) {
  if (acting == Acting::greedy) return std::make_unique<Greedy>();
  switch (config.type.value()) {
    case ExplorationType::stochastic_sampling:
      return std::make_unique<StochasticSampling>();
    case ExplorationType::epsilon_greedy:
    case ExplorationType::parameter_noise:  // the noise is in the weights that the policy is given
      return std::make_unique<EpsilonGreedy>(epsilon_schedule(config));
    case ExplorationType::per_worker_epsilon_greedy: {
      const std::optional<double> constant = epsilon_of_worker(place);
      return std::make_unique<EpsilonGreedy>(constant ? Schedule(*constant)
                                                      : epsilon_schedule(config));
    }
    case ExplorationType::soft_q:
      return std::make_unique<SoftQ>(config.temperature);
  }
  return nullptr;
}

}  // namespace knurl
