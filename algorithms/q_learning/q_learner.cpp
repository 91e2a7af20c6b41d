#include "knurl/algorithms/q_learning/q_learner.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "knurl/algorithms/losses/q_update.h"
#include "knurl/core/base/error.h"
#include "knurl/models/columns.h"

namespace knurl {

QLearner::QLearner(const QLearningConfig& config, const SpaceLayout& observations,
                   const SpaceLayout& actions)
    : observations_(observations),
      states_(observations),
      lr_(config.common().training.lr),
      epsilon_(epsilon_schedule(config.common().exploration.exploration_config)),
      gamma_(static_cast<float>(config.common().training.gamma.value())),
      table_(fresh_table(states_, actions)) {
  const auto fresh = static_cast<float>(config.own().initial_q.value());
  std::ranges::fill(table_.tensors.column<float>(kQTable).span(), fresh);
}

std::int64_t QLearner::update(const std::vector<Fragment>& fragments, std::int64_t timestep) {
  last_lr_ = lr_.at(timestep);
  last_epsilon_ = epsilon_.at(timestep);
  const std::int64_t before = updates_;
  for (const SegmentPlace& place : in_order(fragments)) {
    update(fragments[place.fragment].policies[0], *place.segment);
  }
  ++table_.version;
  return updates_ - before;
}

void QLearner::update(const PolicySteps& steps, const Segment& segment) {
  const auto actions = steps.columns.column<std::int64_t>(column::kActions);
  const auto rewards = steps.columns.column<float>(column::kRewards);
  const ConstRows seen(observations_, steps.columns, column::kObservations);
  const ConstRows after(observations_, steps.bootstrap, column::kObservations);
  const auto table = table_.tensors.column<float>(kQTable).span();
  const auto num_actions =
      static_cast<int>(table.size() / static_cast<std::size_t>(states_.size()));
  std::int64_t state = states_.of(ConstRow(seen, segment.row(0)));
  for (std::int64_t step = 0; step < segment.length; ++step) {
    const bool last = step + 1 == segment.length;
    const std::int64_t row = segment.row(step);
    const std::int64_t next = last ? states_.of(ConstRow(after, segment.bootstrap_row))
                                   : states_.of(ConstRow(seen, segment.row(step + 1)));
    const float error = q_update(table, num_actions,
                                 {.state = state,
                                  .action = actions[row],
                                  .reward = rewards[row],
                                  .next_state = next,
                                  .terminated = last && segment.ending == Ending::terminated},
                                 {.step_size = static_cast<float>(last_lr_), .gamma = gamma_});
    if (!std::isfinite(error)) {
      fail(ErrorKind::env, "update {}: the error is {}: training stops before it spoils the table",
           table_.version + 1, error);
    }
    td_error_sum_ += std::abs(error);
    ++updates_;
    state = next;
  }
}

void QLearner::set_weights(const Weights& weights) {
  require_same_tensors(weights.tensors, table_.tensors);
  table_ = weights;
}

Result QLearner::take_stats() {
  const auto q = table_.tensors.column<float>(kQTable).span();
  const auto [least, most] = std::ranges::minmax_element(q);
  Result stats;
  stats.set("mean_td_error",
            td_error_sum_ / static_cast<double>(std::max<std::int64_t>(updates_, 1)));
  stats.set("mean_q", std::accumulate(q.begin(), q.end(), 0.0) / static_cast<double>(q.size()));
  stats.set("min_q", *least);
  stats.set("max_q", *most);
  stats.set("cur_lr", last_lr_);
  stats.set("cur_epsilon", last_epsilon_);
  td_error_sum_ = 0.0;
  updates_ = 0;
  return stats;
}

}  // namespace knurl
