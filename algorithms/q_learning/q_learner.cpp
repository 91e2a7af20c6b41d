#include "knurl/algorithms/q_learning/q_learner.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

#include <nlohmann/json.hpp>

#include "knurl/algorithms/losses/q_update.h"
#include "knurl/core/base/error.h"
#include "knurl/models/columns.h"

namespace knurl {
namespace {

using Json = nlohmann::ordered_json;

constexpr const char* kStateFile = "q_learning.json";
constexpr const char* kVisitsFile = "visits.safetensors";
constexpr std::array kTables{kQTable, kSecondQTable};

/// Tables of counts for tables of values.
RecordBatch counts_for(const RecordBatch& tables) {
  std::vector<ColumnSpec> columns = tables.columns();
  for (ColumnSpec& column : columns) column.dtype = DType::int64;
  return {std::move(columns), 1};
}

/// Whether a rule keeps more than the tables.
bool waits_or_draws(UpdateRule rule) {
  return rule == UpdateRule::sarsa || rule == UpdateRule::double_q;
}

}  // namespace

QLearner::QLearner(const QLearningConfig& config, const SpaceLayout& observations,
                   const SpaceLayout& actions, Rng rng)
    : observations_(observations),
      states_(observations),
      rule_(config.own().update_rule),
      lr_(config.common().training.lr),
      epsilon_(epsilon_schedule(config.common().exploration.exploration_config)),
      visit_power_(config.own().visit_power),
      gamma_(static_cast<float>(config.common().training.gamma.value())),
      rng_(rng),
      tables_(fresh_table(states_, actions, config.tables())),
      num_actions_(tables_.tensors.width(0) / states_.size()) {
  const auto fresh = static_cast<float>(config.own().initial_q.value());
  for (std::size_t table = 0; table < tables_.tensors.columns().size(); ++table) {
    std::ranges::fill(values(table), fresh);
  }
  if (visit_power_ > 0.0) visits_ = counts_for(tables_.tensors);
}

std::int64_t QLearner::update(const std::vector<Fragment>& fragments, std::int64_t timestep) {
  last_lr_ = lr_.at(timestep);
  last_epsilon_ = epsilon_.at(timestep);
  const std::int64_t before = updates_;
  for (const SegmentPlace& place : in_order(fragments)) {
    follow(fragments[place.fragment].policies[0], *place.segment);
  }
  ++tables_.version;
  return updates_ - before;
}

void QLearner::follow(const PolicySteps& steps, const Segment& segment) {
  const auto actions = steps.columns.column<std::int64_t>(column::kActions);
  const auto rewards = steps.columns.column<float>(column::kRewards);
  const ConstRows seen(observations_, steps.columns, column::kObservations);
  const ConstRows after(observations_, steps.bootstrap, column::kObservations);
  Next now{.state = states_.of(ConstRow(seen, segment.row(0))), .action = actions[segment.row(0)]};
  end_wait(segment, now);
  for (std::int64_t t = 0; t < segment.length; ++t) {
    const bool last = t + 1 == segment.length;
    const Step step{.state = now.state, .action = *now.action, .reward = rewards[segment.row(t)]};
    if (last) {
      now = {.state = states_.of(ConstRow(after, segment.bootstrap_row)),
             .terminal = segment.ending == Ending::terminated};
    } else {
      const std::int64_t row = segment.row(t + 1);
      now = {.state = states_.of(ConstRow(seen, row)), .action = actions[row]};
    }
    if (rule_ == UpdateRule::sarsa && last && segment.ending == Ending::cut) {
      waiting_[segment.env] = {.episode = segment.episode, .step = step};
    } else {
      learn(step, now);
    }
  }
}

void QLearner::end_wait(const Segment& segment, const Next& next) {
  const auto waiting = waiting_.extract(segment.env);
  // another episode: its rest was lost to an error of an env
  if (waiting && waiting.mapped().episode == segment.episode) learn(waiting.mapped().step, next);
}

/// One update (Sutton and Barto 2018, sections 6.4 to 6.7).
void QLearner::learn(const Step& step, const Next& next) {
  const Turn turn = draw_turn();
  const auto entry = static_cast<std::size_t>(step.state * num_actions_ + step.action);
  const float error = q_update(values(turn.table)[entry],
                               {.reward = step.reward,
                                .discount = next.terminal ? 0.0F : gamma_,
                                .next_value = value_of(next, turn)},
                               step_size(turn.table, entry));
  if (!std::isfinite(error)) {
    fail(ErrorKind::env, "update {}: the error is {}: training stops before it spoils the table",
         tables_.version + 1, error);
  }
  td_error_sum_ += std::abs(error);
  ++updates_;
}

QLearner::Turn QLearner::draw_turn() {
  if (rule_ != UpdateRule::double_q) return {};
  const std::size_t table = rng_.below(2);
  return {.table = table, .judge = 1 - table};
}

float QLearner::value_of(const Next& next, const Turn& turn) {
  const std::span<const float> q = values(turn.table, next.state);
  switch (rule_) {
    case UpdateRule::q_learning:
      return greedy_value(q);
    case UpdateRule::sarsa:
      // where a truncated episode ends, no action was taken: the mean over those that might be
      if (next.action) return q[static_cast<std::size_t>(*next.action)];
      [[fallthrough]];
    case UpdateRule::expected_sarsa:
      return epsilon_greedy_value(q, static_cast<float>(last_epsilon_));
    case UpdateRule::double_q:
      return double_value(q, values(turn.judge, next.state));
  }
  return 0.0F;
}

float QLearner::step_size(std::size_t table, std::size_t entry) {
  if (visit_power_ == 0.0) return static_cast<float>(last_lr_);
  std::int64_t& visits = visits_.column<std::int64_t>(kTables[table]).span()[entry];
  return static_cast<float>(last_lr_ / std::pow(static_cast<double>(++visits), visit_power_));
}

std::span<float> QLearner::values(std::size_t table) {
  return tables_.tensors.column<float>(kTables[table]).span();
}

std::span<float> QLearner::values(std::size_t table, std::int64_t state) {
  return values(table).subspan(static_cast<std::size_t>(state * num_actions_),
                               static_cast<std::size_t>(num_actions_));
}

void QLearner::set_weights(const Weights& weights) {
  require_same_tensors(weights.tensors, tables_.tensors);
  tables_ = weights;
}

void QLearner::save(CheckpointData& out) const {
  if (visit_power_ > 0.0) out.add_tensors(kVisitsFile, visits_);
  if (!waits_or_draws(rule_)) return;
  Json json{{"turn_rng", rng_.state()}, {"waiting", Json::array()}};
  for (const auto& [env, waiting] : waiting_) {
    const Step& step = waiting.step;
    json["waiting"].push_back({env, waiting.episode, step.state, step.action, step.reward});
  }
  out.add_json(kStateFile, json.dump(1) + "\n");
}

void QLearner::load(const CheckpointData& in) {
  if (visit_power_ > 0.0) {
    RecordBatch visits = in.tensors(kVisitsFile);
    if (visits.columns() != visits_.columns()) {
      fail(ErrorKind::checkpoint, "{}: the visits are those of another table",
           in.path_of(kVisitsFile));
    }
    visits_ = std::move(visits);
  }
  if (!waits_or_draws(rule_)) return;
  waiting_.clear();
  try {
    const Json json = Json::parse(in.json(kStateFile));
    rng_.restore(json.at("turn_rng").get<Rng::State>());
    for (const Json& each : json.at("waiting")) {
      const Step step{.state = each.at(2), .action = each.at(3), .reward = each.at(4)};
      require_fit(step, in.path_of(kStateFile));
      waiting_[each.at(0)] = {.episode = each.at(1), .step = step};
    }
  } catch (const Json::exception& error) {
    fail(ErrorKind::checkpoint, "{}: {}", in.path_of(kStateFile), error.what());
  }
}

void QLearner::require_fit(const Step& step, const std::string& path) const {
  if (step.state >= 0 && step.state < states_.size() && step.action >= 0 &&
      step.action < num_actions_) {
    return;
  }
  fail(ErrorKind::checkpoint,
       "{}: the step that waits in state {} with action {}: the table has {} states and {} actions",
       path, step.state, step.action, states_.size(), num_actions_);
}

Result QLearner::take_stats() {
  std::vector<float> q(values(0).size());
  acting_values(tables_.tensors, 0, q);
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
