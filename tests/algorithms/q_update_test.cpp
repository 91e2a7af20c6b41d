#include "knurl/algorithms/losses/q_update.h"

#include <cmath>
#include <vector>

#include <gtest/gtest.h>

namespace knurl {
namespace {

TEST(QUpdate, MovesTowardsRewardPlusDiscountedNextValue) {
  float value = 2.0F;
  const float error = q_update(value, {.reward = 1, .discount = 0.9F, .next_value = 5}, 0.1F);
  EXPECT_FLOAT_EQ(error, 1.0F + 0.9F * 5.0F - 2.0F);
  EXPECT_FLOAT_EQ(value, 2.0F + 0.1F * 3.5F);
}

TEST(QUpdate, OnlyADiscountOfZeroStopsBootstrapping) {
  float value = 1.0F;
  EXPECT_EQ(q_update(value, {.reward = 2, .discount = 0, .next_value = 5}, 0.5F), 1.0F);
  EXPECT_EQ(value, 1.5F);
}

TEST(QUpdate, TheWeightedMeanFormIsTheSame) {
  // new = (1 - w) old + w (r + discount * next), w = 0.1, discount = 0.9
  float value = 3.0F;
  q_update(value, {.reward = 1, .discount = 0.9F, .next_value = 2}, 0.1F);
  EXPECT_FLOAT_EQ(value, 0.9F * 3.0F + 0.1F * (1.0F + 0.9F * 2.0F));
}

TEST(QUpdate, AnErrorThatIsNotFiniteChangesNothing) {
  for (const float reward : {std::nanf(""), HUGE_VALF}) {
    float value = 3.0F;
    EXPECT_FALSE(std::isfinite(q_update(value, {.reward = reward}, 0.1F)));
    EXPECT_EQ(value, 3.0F);
  }
}

TEST(GreedyValue, IsTheBest) {
  EXPECT_EQ(greedy_value(std::vector<float>{-3, -1, -2}), -1.0F);
}

TEST(EpsilonGreedyValue, IsTheMeanOverWhatThePolicyDoes) {
  // three actions, epsilon 0.5: a third of a half each, and the other half to the best
  EXPECT_FLOAT_EQ(epsilon_greedy_value(std::vector<float>{1, 6, 2}, 0.5F),
                  1.0F / 6 + 6.0F * (1.0F / 6 + 0.5F) + 2.0F / 6);
}

TEST(EpsilonGreedyValue, OfEqualBestTheShareGoesToOneAlone) {
  EXPECT_FLOAT_EQ(epsilon_greedy_value(std::vector<float>{4, 0, 4, 0}, 0.5F), 2.0F + 1.0F);
}

TEST(EpsilonGreedyValue, WithoutExploringIsTheBestAndWithNothingElseTheMean) {
  const std::vector<float> values{1, 6, 2};
  EXPECT_EQ(epsilon_greedy_value(values, 0.0F), 6.0F);
  EXPECT_EQ(epsilon_greedy_value(values, 1.0F), 3.0F);
}

TEST(DoubleValue, OneTableChoosesTheOtherJudges) {
  const std::vector<float> first{1, 6, 2};
  const std::vector<float> second{9, -4, 7};
  EXPECT_EQ(double_value(first, second), -4.0F);
  EXPECT_EQ(double_value(second, first), 1.0F);
}

TEST(DoubleValue, OfEqualBestTheFirstIsJudged) {
  EXPECT_EQ(double_value(std::vector<float>{0, 3, 3}, std::vector<float>{5, 6, 7}), 6.0F);
}

}  // namespace
}  // namespace knurl
