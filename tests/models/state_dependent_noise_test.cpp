#include "knurl/models/exploration/state_dependent_noise.h"

#include <cmath>

#include <gtest/gtest.h>

#include "knurl/models/columns.h"

namespace knurl {
namespace {

/// One action over features of two numbers; means are 1.
struct Acting1 {
  explicit Acting1(int sample_freq) : noise(sample_freq) {}

  /// The noise that rows with these features [rows, 2] get.
  std::vector<float> act(const std::vector<float>& features, std::vector<Rng>& rngs) {
    const auto rows = static_cast<std::int64_t>(rngs.size());
    const ActionDistribution distribution = DiagGaussian{.n = 1};
    const std::vector<float> inputs(static_cast<std::size_t>(2 * rows), 1.0F);
    RecordBatch out({action_column(distribution)}, rows);
    noise.choose(distribution,
                 {.data = inputs.data(),
                  .rows = rows,
                  .stride = 2,
                  .sde = {.data = features.data(),
                          .stride = 2,
                          .size = 2,
                          .actions = 1,
                          .log_std = log_std.data()}},
                 rngs, out);
    std::vector<float> drawn;
    for (const float a : out.column<float>(column::kActions).span()) drawn.push_back(a - 1.0F);
    return drawn;
  }

  StateDependentNoise noise;
  std::vector<float> log_std{0.0F, std::log(3.0F)};
};

TEST(StateDependentNoise, IsALinearFunctionOfTheFeaturesWithinAFragment) {
  Acting1 acting(-1);
  std::vector<Rng> rngs(1, Rng(1));
  const float first = acting.act({1, 0}, rngs)[0];
  const float second = acting.act({0, 1}, rngs)[0];
  EXPECT_NE(first, 0.0F);
  EXPECT_NEAR(acting.act({2, -3}, rngs)[0], 2 * first - 3 * second, 1e-5);
  EXPECT_NEAR(acting.act({1, 0}, rngs)[0], first, 1e-6) << "the same state, the same action";
  acting.noise.begin_fragment();
  EXPECT_NE(acting.act({1, 0}, rngs)[0], first);
}

TEST(StateDependentNoise, IsDrawnAnewAfterSoManySteps) {
  Acting1 acting(2);
  std::vector<Rng> rngs(1, Rng(1));
  std::vector<float> drawn;
  for (int i = 0; i < 4; ++i) drawn.push_back(acting.act({1, 0}, rngs)[0]);
  EXPECT_EQ(drawn[0], drawn[1]);
  EXPECT_NE(drawn[1], drawn[2]);
  EXPECT_EQ(drawn[2], drawn[3]);
}

TEST(StateDependentNoise, ARowsNoiseDependsOnItsOwnStreamAlone) {
  Acting1 together(-1);
  std::vector<Rng> two{Rng(1), Rng(2)};
  const std::vector<float> both = together.act({1, 1, 1, 1}, two);
  Acting1 alone(-1);
  std::vector<Rng> one{Rng(2)};
  EXPECT_EQ(alone.act({1, 1}, one)[0], both[1]);
}

TEST(StateDependentNoise, HasTheStandardDeviationsOfTheNet) {
  Acting1 acting(1);
  std::vector<Rng> rngs(1, Rng(5));
  double squares = 0.0;
  for (int i = 0; i < 20'000; ++i) {
    const double x = acting.act({2, 1}, rngs)[0];
    squares += x * x;
  }
  EXPECT_NEAR(std::sqrt(squares / 20'000), std::sqrt(4.0 + 9.0), 0.1);  // features 2, 1; std 1, 3
}

}  // namespace
}  // namespace knurl
