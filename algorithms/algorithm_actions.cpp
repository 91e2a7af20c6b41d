#include <algorithm>

#include "knurl/algorithms/algorithm.h"
#include "knurl/core/base/error.h"
#include "knurl/models/columns.h"
#include "knurl/models/fast/net_policy.h"

namespace knurl {
namespace {

/// Writes plain values into a row of a space of one leaf. Throws Error(config) where they do not
/// fit.
void write_observation(const ObservationValue& value, const Row& row) {
  const SpaceLayout& layout = row.layout();
  const auto refuse = [&](const std::string& what) {
    fail(ErrorKind::config, "an observation of {} is not {}", layout.space().text(), what);
  };
  if (layout.leaves().size() != 1) refuse("one plain value");
  const Leaf& leaf = layout.leaves().front();
  if (const auto* number = std::get_if<std::int64_t>(&value)) {
    if (!leaf.space.as<Discrete>()) refuse("a single whole number");
    row.as<std::int64_t>()[0] = *number;
    return;
  }
  const auto& numbers = std::get<std::vector<float>>(value);
  if (leaf.space.as<Discrete>() || static_cast<std::int64_t>(numbers.size()) != leaf.size()) {
    refuse(fmt::format("a list of {} numbers", numbers.size()));
  }
  visit(leaf.dtype, [&]<class T>(T*) {
    std::ranges::transform(numbers, row.as<T>().begin(), [](float x) { return static_cast<T>(x); });
  });
}

/// Writes an observation of this id and refuses what no policy can take.
void write_usable(const ObservationValue& value, const Rows& rows, std::int64_t at,
                  const std::string& id) {
  const Row row(rows, at);
  write_observation(value, row);
  const ConstRows all(rows);
  for (std::size_t leaf = 0; leaf < row.layout().leaves().size(); ++leaf) {
    const std::string wrong = unusable(ConstRow(all, at), leaf);
    if (!wrong.empty()) {
      fail(ErrorKind::config, "observation{}{}{}", id.empty() ? "" : " ", id, wrong);
    }
  }
}

ActionValue read_action(const ConstRow& row) {
  const Leaf& leaf = row.layout().leaves().front();
  if (leaf.space.as<Discrete>()) return row.as<std::int64_t>()[0];
  std::vector<float> out;
  visit(leaf.dtype, [&]<class T>(T*) {
    for (const T x : row.as<T>()) out.push_back(static_cast<float>(x));
  });
  return out;
}

}  // namespace

Policy& Algorithm::up_to_date(Actor& actor) {
  if (actor.version != learner().version()) {
    actor.policy->set_weights(learner().weights());
    actor.version = learner().version();
  }
  return *actor.policy;
}

ActionValue Algorithm::compute_single_action(const ObservationValue& observation, bool explore) {
  return compute_actions({{"", observation}}, explore).at("");
}

Algorithm::ActionValues Algorithm::compute_action_values(const ObservationValue& observation) {
  auto* policy = dynamic_cast<NetPolicy*>(&up_to_date(greedy_));
  if (!policy || !policy->q_head()) {
    fail(ErrorKind::config, "{}: its policy has no action values", config_->algorithm());
  }
  RecordBatch batch(observations_.columns(column::kObservations), 1);
  const Rows all(observations_, batch, column::kObservations);
  write_usable(observation, all, 0, "");
  const QHead& head = *policy->q_head();
  ActionValues out{.values = std::vector<float>(static_cast<std::size_t>(head.actions))};
  policy->q_values(all, 1, out.values);
  if (head.atoms == 1) return out;
  std::vector<float> flat(static_cast<std::size_t>(head.size()));
  policy->q_distributions(all, 1, flat);
  for (auto at = flat.begin(); at != flat.end(); at += head.atoms) {
    out.distributions.emplace_back(at, at + head.atoms);
  }
  return out;
}

void Algorithm::ActingState::observe_reward(float reward) {
  if (!memory_.has(column::kPreviousRewards)) return;
  clip_.apply(std::span(&reward, 1));
  memory_.column<float>(column::kPreviousRewards)[0] = reward;
}

Algorithm::ActingState Algorithm::get_initial_state() const {
  return {RecordBatch(greedy_.policy->memory_columns(), 1),
          *config_->common().environment.clip_rewards};
}

ActionValue Algorithm::compute_single_action(const ObservationValue& observation,
                                             ActingState& state, bool explore) {
  return act({{"", observation}}, state.memory_, explore).at("");
}

std::map<std::string, ActionValue> Algorithm::compute_actions(
    const std::map<std::string, ObservationValue>& observations,
    std::map<std::string, ActingState>& states, bool explore) {
  std::vector<ActingState*> of_rows;
  RecordBatch memory(greedy_.policy->memory_columns(), std::ssize(observations));
  for (const auto& [id, observation] : observations) {
    const auto state = states.find(id);
    if (state == states.end()) fail(ErrorKind::config, "observation {}: it has no state", id);
    memory.copy_rows(std::ssize(of_rows), state->second.memory_, 0, 1);
    of_rows.push_back(&state->second);
  }
  auto out = act(observations, memory, explore);
  for (std::size_t row = 0; row < of_rows.size(); ++row) {
    of_rows[row]->memory_.copy_rows(0, memory, static_cast<std::int64_t>(row), 1);
  }
  return out;
}

std::map<std::string, ActionValue> Algorithm::compute_actions(
    const std::map<std::string, ObservationValue>& observations, bool explore) {
  RecordBatch memory(greedy_.policy->memory_columns(), std::ssize(observations));
  if (!memory.columns().empty()) {
    fail(ErrorKind::config,
         "the policy remembers (model.use_lstm): give the state that get_initial_state() begins");
  }
  return act(observations, memory, explore);
}

/// `memory` has a row for each observation.
std::map<std::string, ActionValue> Algorithm::act(
    const std::map<std::string, ObservationValue>& observations, RecordBatch& memory,
    bool explore) {
  const auto rows = static_cast<std::int64_t>(observations.size());
  RecordBatch batch(observations_.columns(column::kObservations), rows);
  const Rows all(observations_, batch, column::kObservations);
  std::int64_t at = 0;
  for (const auto& [id, observation] : observations) {
    write_usable(observation, all, at++, id);
  }
  Policy& policy = up_to_date(explore ? exploring_ : greedy_);
  policy.exploration().begin_fragment();
  policy.exploration().set_timestep(counters_.env_steps_sampled);
  std::vector<Rng> rngs;
  for (std::int64_t i = 0; i < rows; ++i) rngs.emplace_back(action_rng_());
  const PolicyOutput output =
      policy.act({.observations = all, .rows = rows, .rngs = rngs, .memory = &memory});
  std::map<std::string, ActionValue> out;
  at = 0;
  for (const auto& [id, observation] : observations) {
    out.emplace(id, read_action(ConstRow(output.env_actions, at++)));
  }
  return out;
}

}  // namespace knurl
