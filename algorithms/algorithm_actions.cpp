#include <algorithm>

#include "knurl/algorithms/algorithm.h"
#include "knurl/core/base/error.h"
#include "knurl/models/columns.h"

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

std::map<std::string, ActionValue> Algorithm::compute_actions(
    const std::map<std::string, ObservationValue>& observations, bool explore) {
  const auto rows = static_cast<std::int64_t>(observations.size());
  RecordBatch batch(observations_.columns(column::kObservations), rows);
  const Rows all(observations_, batch, column::kObservations);
  std::int64_t at = 0;
  for (const auto& [id, observation] : observations) {
    write_observation(observation, Row(all, at++));
    for (std::size_t leaf = 0; leaf < observations_.leaves().size(); ++leaf) {
      const std::string wrong = unusable(ConstRow(ConstRows(all), at - 1), leaf);
      if (wrong.empty()) continue;
      fail(ErrorKind::config, "observation{}{}{}", id.empty() ? "" : " ", id, wrong);
    }
  }
  Policy& policy = up_to_date(explore ? exploring_ : greedy_);
  policy.exploration().begin_fragment();
  policy.exploration().set_timestep(counters_.env_steps_sampled);
  std::vector<Rng> rngs;
  for (std::int64_t i = 0; i < rows; ++i) rngs.emplace_back(action_rng_());
  const PolicyOutput output = policy.act({.observations = all, .rows = rows, .rngs = rngs});
  std::map<std::string, ActionValue> out;
  at = 0;
  for (const auto& [id, observation] : observations) {
    out.emplace(id, read_action(ConstRow(output.env_actions, at++)));
  }
  return out;
}

}  // namespace knurl
