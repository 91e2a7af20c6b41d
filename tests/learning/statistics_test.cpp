#include "statistics.h"

#include <vector>

#include <gtest/gtest.h>

namespace knurl::learning {
namespace {

using Values = std::vector<double>;

TEST(Median, IsTheMiddleValueOrTheMeanOfTheTwoInTheMiddle) {
  EXPECT_EQ(median(Values{9, 1, 4}), 4.0);
  EXPECT_EQ(median(Values{9, 1, 4, 6}), 5.0);
  EXPECT_EQ(median(Values{7}), 7.0);
}

TEST(InterquartileMean, CutsAQuarterAtEachEnd) {
  EXPECT_EQ(interquartile_mean(Values{-90, 2, 4, 500}), 3.0);
  EXPECT_EQ(interquartile_mean(Values{8, 7, 6, 5, 4, 3, 2, 1}), 4.5);
  EXPECT_EQ(interquartile_mean(Values{0, 1, 2, 3, 4, 6, 8, 100}), 15.0 / 4);  // 2, 3, 4, 6
}

// what scipy.stats.trim_mean(values, 0.25) says, by which rliable has it
TEST(InterquartileMean, CutsWholeValuesWhereAQuarterIsNone) {
  EXPECT_EQ(interquartile_mean(Values{5}), 5.0);
  EXPECT_EQ(interquartile_mean(Values{5, 8}), 6.5);
  EXPECT_EQ(interquartile_mean(Values{0, 0, 9}), 3.0);                              // 0.75: none
  EXPECT_EQ(interquartile_mean(Values{-100, 1, 2, 6, 100}), 3.0);                   // 1.25: one
  EXPECT_EQ(interquartile_mean(Values{9, 9, 0, 0, 1, 1, 1, 4, 4, 4}), 15.0 / 6.0);  // 2.5: two
}

TEST(Quantile, LiesOnALineBetweenNeighbours) {
  const Values values{40, 10, 30, 20};
  EXPECT_EQ(quantile(values, 0.0), 10.0);
  EXPECT_EQ(quantile(values, 1.0), 40.0);
  EXPECT_DOUBLE_EQ(quantile(values, 0.25), 17.5);  // place 0.75
  EXPECT_DOUBLE_EQ(quantile(values, 0.9), 37.0);   // place 2.7
}

TEST(BootstrapInterval, OfEqualValuesIsTheirValue) {
  EXPECT_EQ(bootstrap_interval(Values{500, 500, 500}, interquartile_mean),
            (Interval{500.0, 500.0}));
}

// means of three draws from 0, 0, 3: 0 with chance 8/27, 1 with 12/27, 2 with 6/27, 3 with 1/27
TEST(BootstrapInterval, HasTheQuantilesOfAllResamples) {
  const auto interval = [](double confidence) {
    return bootstrap_interval(Values{0, 0, 3}, mean, {.confidence = confidence});
  };
  EXPECT_EQ(interval(0.95), (Interval{0.0, 3.0}));  // above 2 there are 0.037, more than 0.025
  EXPECT_EQ(interval(0.90), (Interval{0.0, 2.0}));
  EXPECT_EQ(interval(0.40), (Interval{1.0, 1.0}));  // 0.296 < 0.3, 0.7 < 0.741
}

TEST(BootstrapInterval, IsTheSameEachTimeAndInAnyOrder) {
  const Values values{3, 1, 4, 1.5, 9, 2.6};
  const Values other_order{9, 4, 1, 2.6, 1.5, 3};
  const Interval once = bootstrap_interval(values, interquartile_mean);
  EXPECT_EQ(bootstrap_interval(values, interquartile_mean), once);
  EXPECT_EQ(bootstrap_interval(other_order, interquartile_mean), once);
  EXPECT_NE(bootstrap_interval(values, interquartile_mean, {.resamples = 100, .seed = 2}), once);
}

TEST(BootstrapInterval, FollowsAChangeOfUnit) {
  const Values values{3, 1, 4, 1.5, 9, 2.5};
  Values changed;
  for (const double value : values) changed.push_back(4.0 * value - 8.0);
  const Interval interval = bootstrap_interval(values, mean);
  const Interval expected{4.0 * interval.low - 8.0, 4.0 * interval.high - 8.0};
  EXPECT_DOUBLE_EQ(bootstrap_interval(changed, mean).low, expected.low);
  EXPECT_DOUBLE_EQ(bootstrap_interval(changed, mean).high, expected.high);
}

TEST(BootstrapInterval, HoldsTheStatistic) {
  const Values values{3, 1, 4, 1.5, 9, 2.6};
  const Interval interval = bootstrap_interval(values, interquartile_mean);
  EXPECT_LT(interval.low, interquartile_mean(values));
  EXPECT_GT(interval.high, interquartile_mean(values));
}

}  // namespace
}  // namespace knurl::learning
