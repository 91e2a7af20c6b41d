#include "knurl/algorithms/dqn/parameter_noise.h"

#include <cmath>
#include <vector>

#include <gtest/gtest.h>

namespace knurl {
namespace {

Weights zeros(std::int64_t n) {
  return {.tensors = RecordBatch(
              {{"q.weight", DType::float32, {n}}, {"filter.scale", DType::float32, {2}}}, 1)};
}

TEST(ParameterNoise, AddsNormalNoiseToAllButTheFilter) {
  const ParameterNoise noise(0.5, Rng(1));
  const Weights out = noise.perturbed(zeros(20'000));
  double squares = 0.0;
  for (const float x : out.tensors.column<float>("q.weight").span()) {
    squares += static_cast<double>(x) * x;
  }
  EXPECT_NEAR(std::sqrt(squares / 20'000), 0.5, 0.02);
  for (const float x : out.tensors.column<float>("filter.scale").span()) EXPECT_EQ(x, 0.0F);
}

TEST(ParameterNoise, IsTheSameWithinARoundAndAnotherInTheNext) {
  ParameterNoise noise(0.5, Rng(1));
  const auto first = [&] { return noise.perturbed(zeros(1)).tensors.column<float>("q.weight")[0]; };
  const float before = first();
  EXPECT_EQ(first(), before);
  noise.adapt(std::vector<float>{0, 0}, std::vector<float>{0, 0}, 2, 0.1);
  EXPECT_NE(first(), before);
  ParameterNoise other(1.0, Rng(1));
  other.restore(noise.stddev(), noise.round());
  EXPECT_EQ(other.perturbed(zeros(1)).tensors.column<float>("q.weight")[0], first());
}

// softmax of (log 3, 0) is (3/4, 1/4), of (0, 0) it is (1/2, 1/2)
TEST(ParameterNoise, TheDistanceIsTheMeanKlOfSoftmaxes) {
  const std::vector<float> plain{std::log(3.0F), 0.0F, 1.0F, 1.0F};
  const std::vector<float> noisy{0.0F, 0.0F, 2.0F, 2.0F};
  const double kl = 0.75 * std::log(0.75 / 0.5) + 0.25 * std::log(0.25 / 0.5);
  EXPECT_NEAR(policy_distance(plain, noisy, 2), kl / 2, 1e-6);
}

TEST(ParameterNoise, GrowsWhileThePolicyIsNearAndShrinksWhereItIsFar) {
  ParameterNoise noise(1.0, Rng(1));
  noise.adapt(std::vector<float>{1, 0}, std::vector<float>{1, 0}, 2, 0.1);
  EXPECT_DOUBLE_EQ(noise.stddev(), 1.01);
  noise.adapt(std::vector<float>{9, 0}, std::vector<float>{0, 9}, 2, 0.1);
  EXPECT_DOUBLE_EQ(noise.stddev(), 1.01 / 1.01);
}

}  // namespace
}  // namespace knurl
