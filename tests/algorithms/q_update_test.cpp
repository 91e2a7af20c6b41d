#include "knurl/algorithms/losses/q_update.h"

#include <cmath>
#include <vector>

#include <gtest/gtest.h>

namespace knurl {
namespace {

// three states, two actions
const std::vector<float> kTable{1, 2, 3, 5, 0, 0};

TEST(QUpdate, MovesTowardsRewardPlusDiscountedBest) {
  std::vector<float> table = kTable;
  const float error = q_update(table, 2, {.state = 0, .action = 1, .reward = 1, .next_state = 1},
                               {.step_size = 0.1F, .gamma = 0.9F});
  EXPECT_FLOAT_EQ(error, 1.0F + 0.9F * 5.0F - 2.0F);
  EXPECT_FLOAT_EQ(table[1], 2.0F + 0.1F * 3.5F);
  table[1] = kTable[1];
  EXPECT_EQ(table, kTable);  // nothing else moved
}

TEST(QUpdate, OnlyTerminationStopsBootstrapping) {
  std::vector<float> table = kTable;
  EXPECT_FLOAT_EQ(
      q_update(table, 2,
               {.state = 0, .action = 0, .reward = 1, .next_state = 1, .terminated = true},
               {.step_size = 0.5F, .gamma = 0.9F}),
      0.0F);
  EXPECT_FLOAT_EQ(table[0], 1.0F);
}

TEST(QUpdate, TheWeightedMeanFormIsTheSame) {
  // new = (1 - w) old + w (r + discount * best), w = 0.1, discount = 0.9
  std::vector<float> table = kTable;
  q_update(table, 2, {.state = 2, .action = 0, .reward = 1, .next_state = 0},
           {.step_size = 0.1F, .gamma = 0.9F});
  EXPECT_FLOAT_EQ(table[4], 0.9F * 0.0F + 0.1F * (1.0F + 0.9F * 2.0F));
}

TEST(QUpdate, AnErrorThatIsNotFiniteChangesNothing) {
  for (const float reward : {std::nanf(""), HUGE_VALF}) {
    std::vector<float> table = kTable;
    EXPECT_FALSE(std::isfinite(q_update(table, 2, {.state = 1, .reward = reward}, {})));
    EXPECT_EQ(table, kTable);
  }
}

}  // namespace
}  // namespace knurl
