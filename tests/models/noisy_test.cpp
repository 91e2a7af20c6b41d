#include "knurl/models/noisy.h"

#include <cmath>

#include <gtest/gtest.h>

namespace knurl {
namespace {

NetSpec noisy_spec() {
  return make_net(
      3, {.units = {5}},
      {{.name = "q", .output = "q", .size = 2, .hidden = {.units = {4}}, .sigma0 = 0.5}});
}

TEST(Noisy, FreshParametersAreThoseOfThePaper) {
  const Weights weights = fresh_weights(noisy_spec(), Rng(1));
  // q.hidden.0 has 5 inputs: mu within 1 / sqrt(5), sigma 0.5 / sqrt(5)
  float most = 0.0F;
  for (const float x : weights.tensors.column<float>("q.hidden.0.weight").span()) {
    most = std::max(most, std::abs(x));
  }
  EXPECT_LE(most, 1.0F / std::sqrt(5.0F));
  EXPECT_GT(most, 0.5F / std::sqrt(5.0F));
  for (const char* name : {"q.hidden.0.weight_sigma", "q.hidden.0.bias_sigma"}) {
    for (const float x : weights.tensors.column<float>(name).span()) {
      EXPECT_FLOAT_EQ(x, 0.5F / std::sqrt(5.0F));
    }
  }
  EXPECT_FALSE(weights.tensors.has("hidden.0.weight_sigma")) << "the trunk has no noise";
}

TEST(Noisy, NoiseIsFactorised) {
  const RecordBatch noise = draw_noise(noisy_spec(), Rng(2));
  const auto weight = noise.column<float>("q.hidden.0.weight").span();  // [4, 5]
  const auto bias = noise.column<float>("q.hidden.0.bias").span();
  for (std::size_t unit = 1; unit < 4; ++unit) {
    for (std::size_t i = 0; i < 5; ++i) {
      EXPECT_NEAR(weight[unit * 5 + i] * bias[0], weight[i] * bias[unit], 1e-6);
    }
  }
  for (const float x : noise.column<float>("hidden.0.weight").span()) EXPECT_EQ(x, 0.0F);
}

// f(x) = sign(x) sqrt(|x|) of a normal number has variance E|x| = sqrt(2 / pi)
TEST(Noisy, NoiseHasTheVarianceOfItsRoot) {
  const NetSpec wide =
      make_net(1, {}, {{.name = "q", .output = "q", .size = 20'000, .sigma0 = 1.0}});
  const RecordBatch noise = draw_noise(wide, Rng(3));
  double sum = 0.0;
  double squares = 0.0;
  for (const float x : noise.column<float>("q.out.bias").span()) {
    sum += x;
    squares += static_cast<double>(x) * x;
  }
  EXPECT_NEAR(sum / 20'000, 0.0, 0.03);
  EXPECT_NEAR(squares / 20'000, std::sqrt(2.0 / 3.14159265), 0.02);
}

TEST(Noisy, PlainWeightsAreMuPlusSigmaTimesNoise) {
  const NetSpec spec = noisy_spec();
  const Weights weights = fresh_weights(spec, Rng(1));
  const RecordBatch noise = draw_noise(spec, Rng(2));
  const Weights quiet = plain_weights(spec, weights, nullptr);
  const Weights loud = plain_weights(spec, weights, &noise);
  EXPECT_EQ(quiet.tensors.columns(), tensors_of(without_noise(spec)));
  for (const ColumnSpec& column : quiet.tensors.columns()) {
    const auto mu = weights.tensors.column<float>(column.name).span();
    const auto e = noise.column<float>(column.name).span();
    const bool noisy = column.name.starts_with("q.");
    for (std::size_t i = 0; i < mu.size(); ++i) {
      EXPECT_EQ(quiet.tensors.column<float>(column.name).span()[i], mu[i]);
      const float sigma =
          noisy ? weights.tensors.column<float>(column.name + "_sigma").span()[i] : 0.0F;
      EXPECT_EQ(loud.tensors.column<float>(column.name).span()[i], mu[i] + sigma * e[i]);
    }
  }
}

}  // namespace
}  // namespace knurl
