#include "knurl/core/base/rng.h"

#include <array>
#include <cmath>
#include <set>

#include <gtest/gtest.h>

namespace knurl {
namespace {

TEST(Rng, TheSameSeedGivesTheSameStream) {
  Rng a(7);
  Rng b(7);
  Rng c(8);
  EXPECT_EQ(a(), b());
  EXPECT_NE(a(), c());
}

TEST(Rng, SplittingDoesNotDependOnWhatWasDrawn) {
  const Rng fresh(7);
  Rng used(7);
  for (int i = 0; i < 10; ++i) used();
  EXPECT_EQ(fresh.split("env", 3), used.split("env", 3));
}

TEST(Rng, NamesAndIndicesGiveDifferentStreams) {
  const Rng root(7);
  std::set<std::uint64_t> first_words{Rng(root)()};
  for (int i = 0; i < 1000; ++i) {
    first_words.insert(root.split("env", i)());
    first_words.insert(root.split("exploration", i)());
  }
  first_words.insert(root.split("env")());
  EXPECT_EQ(first_words.size(), 2002U);
}

TEST(Rng, ARestoredStreamGoesOnWhereItWas) {
  Rng rng(7);
  rng.normal();
  const Rng::State state = rng.state();
  const double expected = rng.uniform();
  Rng other(1);
  other.restore(state);
  EXPECT_EQ(other.uniform(), expected);
  EXPECT_EQ(other.split("x"), Rng(7).split("x"));
}

TEST(Rng, BelowIsUniform) {
  Rng rng(1);
  std::array<int, 5> counts{};
  for (int i = 0; i < 50'000; ++i) ++counts.at(rng.below(5));
  for (const int count : counts) EXPECT_NEAR(count, 10'000, 500);  // 5 standard deviations
}

TEST(Rng, NormalHasMeanZeroAndVarianceOne) {
  Rng rng(2);
  const int n = 100'000;
  double sum = 0.0;
  double squares = 0.0;
  for (int i = 0; i < n; ++i) {
    const double x = rng.normal();
    sum += x;
    squares += x * x;
  }
  EXPECT_NEAR(sum / n, 0.0, 0.02);
  EXPECT_NEAR(squares / n, 1.0, 0.03);
}

TEST(Rng, UniformStaysInItsRange) {
  Rng rng(3);
  for (int i = 0; i < 10'000; ++i) {
    const double x = rng.uniform(-2.0, 3.0);
    ASSERT_GE(x, -2.0);
    ASSERT_LT(x, 3.0);
  }
}

}  // namespace
}  // namespace knurl
