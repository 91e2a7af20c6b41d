#include "knurl/envs/tabular.h"

#include <gtest/gtest.h>

#include "knurl/core/base/enum_names.h"
#include "knurl/core/base/error.h"

namespace knurl {
namespace {

/// Two states. In 0, action 0 earns 1 and stays; action 1 goes to 1 with probability 1/4, else ends
/// with reward 4. In 1 either action earns 8 and stays.
std::vector<Transition> two_states(int state, int action) {
  if (state == 1) return {{.next_state = 1, .reward = 8.0}};
  if (action == 0) return {{.next_state = 0, .reward = 1.0}};
  return {{.probability = 0.25, .next_state = 1},
          {.probability = 0.75, .next_state = 0, .reward = 4.0, .terminated = true}};
}

TransitionTable table(std::vector<double> initial = {1.0, 0.0}) {
  return TransitionTable(2, std::move(initial), two_states);
}

std::string refusal(const std::function<void()>& body) {
  try {
    body();
  } catch (const Error& error) {
    return fmt::format("{}: {}", name_of(error.kind()), error.what());
  }
  return "";
}

TEST(TransitionTable, HasWhatMayFollowEachStateAndAction) {
  const TransitionTable two = table();
  EXPECT_EQ(two.num_states(), 2);
  EXPECT_EQ(two.num_actions(), 2);
  EXPECT_EQ(two.initial(), (std::vector{1.0, 0.0}));
  for (int state = 0; state < 2; ++state) {
    for (int action = 0; action < 2; ++action) {
      const auto all = two.transitions(state, action);
      EXPECT_EQ(std::vector(all.begin(), all.end()), two_states(state, action));
    }
  }
}

TEST(TransitionTable, WhatCannotBeIsRefused) {
  const auto with = [](Transition next) {
    return refusal([&] { TransitionTable(1, {1.0}, [&](int, int) { return std::vector{next}; }); });
  };
  EXPECT_EQ(with({}), "");
  EXPECT_EQ(with({.probability = 0.9}),
            "env: state 0, action 0: probabilities sum to 0.9: must be 1");
  EXPECT_EQ(with({.probability = -0.5}),
            "env: state 0, action 0: probability -0.5: must be at least 0");
  EXPECT_EQ(with({.next_state = 1}), "env: state 0, action 0: next state 1: must be in [0, 0]");
  EXPECT_EQ(refusal([] {
              table({0.5, 0.25});
            }),
            "env: initial states: probabilities sum to 0.75: must be 1");
  EXPECT_EQ(refusal([] {
              table({1.5, -0.5});
            }),
            "env: initial states: probability -0.5: must be at least 0");
}

TEST(ExactValue, IsTheExpectedReturnWithinTheSteps) {
  const std::vector<double> stay = {1.0, 0.0, 1.0, 0.0};
  const std::vector<double> leave = {0.0, 1.0, 1.0, 0.0};
  const std::vector<double> toss = {0.5, 0.5, 1.0, 0.0};
  EXPECT_EQ(exact_value(table(), stay, 1.0, 3), 3.0);
  EXPECT_EQ(exact_value(table(), stay, 0.5, 3), 1.75);
  EXPECT_EQ(exact_value(table(), leave, 1.0, 1), 3.0) << "3/4 of 4";
  EXPECT_EQ(exact_value(table(), leave, 1.0, 3), 7.0) << "and 1/4 of twice 8";
  EXPECT_EQ(exact_value(table(), leave, 0.5, 3), 4.5) << "and 1/4 of 8/2 and 8/4";
  EXPECT_EQ(exact_value(table(), toss, 1.0, 1), 2.0);
  EXPECT_EQ(exact_value(table(), toss, 1.0, 2), 4.0) << "(3 + 8/4) / 2 and (1 + 2) / 2";
  EXPECT_EQ(exact_value(table({0.5, 0.5}), leave, 1.0, 1), 5.5);
  EXPECT_EQ(exact_value(table(), leave, 1.0, 0), 0.0);
  EXPECT_EQ(refusal([&] {
              exact_value(table(), {stay.data(), 3}, 1.0, 1);
            }),
            "env: a policy of 3 probabilities: must have 2 states x 2 actions");
}

TEST(OptimalPlan, DoesTheBestThatTheStepsLeftAllow) {
  const OptimalPlan short_plan = optimal_plan(table(), 1.0, 1);
  EXPECT_EQ(short_plan.value, 3.0);
  EXPECT_EQ(short_plan.actions, (std::vector{1, 0}));
  EXPECT_EQ(optimal_plan(table(), 1.0, 2).value, 5.0) << "leave at once: 3 and 1/4 of 8";
  EXPECT_EQ(optimal_plan(table(), 0.0, 9).value, 3.0) << "looks one step ahead";
  // leaving with n steps left is worth 3 + 2 (n - 1): more than staying ever is
  EXPECT_EQ(optimal_plan(table(), 1.0, 10).value, 21.0);
  // a world where going on is better until the last step
  const TransitionTable patient(2, {1.0}, [](int, int action) {
    return std::vector<Transition>{{.reward = action == 0 ? 1.0 : 1.5, .terminated = action == 1}};
  });
  EXPECT_EQ(optimal_plan(patient, 1.0, 4).value, 4.5);
  EXPECT_EQ(optimal_plan(patient, 1.0, 4).actions, std::vector{0});
  EXPECT_EQ(optimal_plan(patient, 1.0, 1).actions, std::vector{1});
}

}  // namespace
}  // namespace knurl
