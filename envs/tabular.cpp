#include "knurl/envs/tabular.h"

#include <cmath>
#include <numeric>

#include "knurl/core/base/error.h"

namespace knurl {
namespace {

constexpr double kRounding = 1e-9;

void check_sum(double sum, const std::string& what) {
  if (std::abs(sum - 1.0) <= kRounding) return;
  fail(ErrorKind::env, "{}: probabilities sum to {}: must be 1", what, sum);
}

/// Expected return of an action, where `later` is what each state is worth after the step.
double worth(const TransitionTable& table, int state, int action, double gamma,
             const std::vector<double>& later) {
  double out = 0.0;
  for (const Transition& next : table.transitions(state, action)) {
    const double rest = next.terminated ? 0.0 : later[static_cast<std::size_t>(next.next_state)];
    out += next.probability * (next.reward + gamma * rest);
  }
  return out;
}

double at_start(const TransitionTable& table, const std::vector<double>& values) {
  return std::inner_product(values.begin(), values.end(), table.initial().begin(), 0.0);
}

}  // namespace

TransitionTable::TransitionTable(int num_actions, std::vector<double> initial, const Rule& rule)
    : num_actions_(num_actions), initial_(std::move(initial)), begin_{0} {
  for (const double probability : initial_) {
    if (!(probability >= 0.0)) {
      fail(ErrorKind::env, "initial states: probability {}: must be at least 0", probability);
    }
  }
  check_sum(std::accumulate(initial_.begin(), initial_.end(), 0.0), "initial states");
  for (int state = 0; state < num_states(); ++state) {
    for (int action = 0; action < num_actions_; ++action) {
      const std::string what = fmt::format("state {}, action {}", state, action);
      double sum = 0.0;
      for (const Transition& next : rule(state, action)) {
        if (!(next.probability >= 0.0)) {
          fail(ErrorKind::env, "{}: probability {}: must be at least 0", what, next.probability);
        }
        if (next.next_state < 0 || next.next_state >= num_states()) {
          fail(ErrorKind::env, "{}: next state {}: must be in [0, {}]", what, next.next_state,
               num_states() - 1);
        }
        sum += next.probability;
        transitions_.push_back(next);
      }
      check_sum(sum, what);
      begin_.push_back(transitions_.size());
    }
  }
}

double exact_value(const TransitionTable& table, std::span<const double> policy, double gamma,
                   int max_steps) {
  const auto states = static_cast<std::size_t>(table.num_states());
  const auto actions = static_cast<std::size_t>(table.num_actions());
  if (policy.size() != states * actions) {
    fail(ErrorKind::env, "a policy of {} probabilities: must have {} states x {} actions",
         policy.size(), states, actions);
  }
  std::vector<double> values(states, 0.0);  // with no step left
  std::vector<double> before(states);
  for (int step = 0; step < max_steps; ++step) {
    for (std::size_t s = 0; s < states; ++s) {
      before[s] = 0.0;
      for (std::size_t a = 0; a < actions; ++a) {
        const double probability = policy[s * actions + a];
        if (probability == 0.0) continue;
        before[s] +=
            probability * worth(table, static_cast<int>(s), static_cast<int>(a), gamma, values);
      }
    }
    values.swap(before);
  }
  return at_start(table, values);
}

OptimalPlan optimal_plan(const TransitionTable& table, double gamma, int max_steps) {
  const auto states = static_cast<std::size_t>(table.num_states());
  std::vector<double> values(states, 0.0);  // with no step left
  std::vector<double> before(states);
  OptimalPlan out{.actions = std::vector<int>(states, 0)};
  for (int step = 0; step < max_steps; ++step) {
    for (std::size_t s = 0; s < states; ++s) {
      for (int a = 0; a < table.num_actions(); ++a) {
        const double value = worth(table, static_cast<int>(s), a, gamma, values);
        if (a > 0 && !(value > before[s])) continue;
        before[s] = value;
        out.actions[s] = a;
      }
    }
    values.swap(before);
  }
  out.value = at_start(table, values);
  return out;
}

}  // namespace knurl
