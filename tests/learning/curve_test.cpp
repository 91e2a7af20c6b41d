#include "curve.h"

#include <gtest/gtest.h>

namespace knurl::learning {
namespace {

/// Points at 0, 10, 20 …: their values are the squares of their numbers.
Curve squares(int points) {
  Curve out;
  for (int i = 0; i < points; ++i) {
    out.push_back({.env_steps = 10.0 * i, .value = static_cast<double>(i * i)});
  }
  return out;
}

TEST(Thinned, AShortCurveStaysWhole) {
  EXPECT_EQ(thinned(squares(50)), squares(50));
  EXPECT_EQ(thinned({}), Curve{});
}

TEST(Thinned, OfALongOneFiftyPointsEvenlyChosenStay) {
  const Curve curve = thinned(squares(99));
  ASSERT_EQ(curve.size(), 50U);
  for (std::size_t i = 0; i < curve.size(); ++i) EXPECT_EQ(curve[i], squares(99)[2 * i]);
  EXPECT_EQ(thinned(squares(1'000)).front(), squares(1'000).front());
  EXPECT_EQ(thinned(squares(1'000)).back(), squares(1'000).back());
}

TEST(ValueAt, LiesOnALineBetweenPoints) {
  const Curve curve{{10, 1}, {20, 3}, {60, -5}};
  EXPECT_EQ(value_at(curve, 20), 3.0);
  EXPECT_EQ(value_at(curve, 15), 2.0);
  EXPECT_EQ(value_at(curve, 50), -3.0);
  EXPECT_EQ(value_at(curve, 0), 1.0);
  EXPECT_EQ(value_at(curve, 99), -5.0);
}

TEST(BandOf, CoversTheStepsThatAllCurvesHave) {
  const std::vector<Curve> curves{{{0, 0}, {100, 10}}, {{51, 7}, {200, 7}}};
  const std::vector<BandPoint> band = band_of(curves);
  ASSERT_EQ(band.size(), 50U);
  EXPECT_EQ(band.front().env_steps, 51.0);
  EXPECT_EQ(band.back().env_steps, 100.0);
  EXPECT_DOUBLE_EQ(band.front().mean, (5.1 + 7.0) / 2);
  EXPECT_DOUBLE_EQ(band.back().mean, 8.5);
  // a quarter of the resamples has one curve alone
  EXPECT_EQ(band.back().interval, (Interval{7.0, 10.0}));
}

TEST(BandOf, WithoutStepsInCommonIsEmpty) {
  EXPECT_TRUE(band_of({}).empty());
  EXPECT_TRUE(band_of(std::vector<Curve>{{{0, 1}, {5, 1}}, {}}).empty());
  EXPECT_TRUE(band_of(std::vector<Curve>{{{0, 1}, {5, 1}}, {{6, 1}, {9, 1}}}).empty());
}

}  // namespace
}  // namespace knurl::learning
