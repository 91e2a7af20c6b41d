#include "knurl/algorithms/losses/ppo_loss.h"

#include <cmath>
#include <numeric>

#include <gtest/gtest.h>

#include "../models/gradient_check.h"
#include "knurl/core/base/rng.h"

namespace knurl {
namespace {

using testing::gradient_error;
using testing::kGradientError;

RecordBatch minibatch_of(std::int64_t rows, int inputs) {
  return RecordBatch({{"actions", DType::int64, {}},
                      {"action_logp", DType::float32, {}},
                      {"action_dist_inputs", DType::float32, {inputs}},
                      {"advantages", DType::float32, {}},
                      {"value_targets", DType::float32, {}}},
                     rows);
}

/// A minibatch of one row: two actions, old logits (0, 0), action 0.
struct OneRow {
  RecordBatch batch = minibatch_of(1, 2);
  std::vector<float> gradient = {0.0F, 0.0F};
  std::vector<float> value_gradient = {0.0F};

  OneRow(float advantage, float target) {
    batch.column<float>("action_logp")[0] = std::log(0.5F);
    batch.column<float>("advantages")[0] = advantage;
    batch.column<float>("value_targets")[0] = target;
  }
  PpoLoss loss(const PpoLossOptions& options, const std::vector<float>& logits, float value) {
    const std::vector<float> values{value};
    Scratch scratch;
    return ppo_loss(options, Categorical{.n = 2}, batch, {.dist_inputs = logits, .values = values},
                    {.dist_inputs = gradient, .values = value_gradient}, scratch);
  }
};

const PpoLossOptions kPolicyOnly{.clip_param = 0.2F, .vf_loss_coeff = 0.0F, .kl_coeff = 0.0F};

// p(action 0) = 0.55: ratio 1.1, inside the clip of 0.2
const std::vector<float> kUpALittle{std::log(0.55F / 0.45F), 0.0F};
// p(action 0) = 0.8: ratio 1.6, beyond it
const std::vector<float> kUpALot{std::log(4.0F), 0.0F};

TEST(PpoLoss, InsideTheClipItIsThePlainSurrogate) {
  OneRow row(2.0F, 0.0F);
  EXPECT_NEAR(row.loss(kPolicyOnly, kUpALittle, 0.0F).policy, -2.2, 1e-5);
  // d(-2 r)/d logit 0 = -2 r (1 - p) = -2 * 1.1 * 0.45
  EXPECT_NEAR(row.gradient[0], -0.99, 1e-5);
  EXPECT_NEAR(row.gradient[1], 0.99, 1e-5);
}

TEST(PpoLoss, BeyondTheClipAGoodActionTeachesNothingMore) {
  OneRow row(2.0F, 0.0F);
  EXPECT_NEAR(row.loss(kPolicyOnly, kUpALot, 0.0F).policy, -2.4, 1e-5);
  EXPECT_EQ(row.gradient[0], 0.0F);
}

TEST(PpoLoss, BeyondTheClipABadActionIsStillPushedBack) {
  OneRow row(-2.0F, 0.0F);
  EXPECT_NEAR(row.loss(kPolicyOnly, kUpALot, 0.0F).policy, 3.2, 1e-5);
  EXPECT_NEAR(row.gradient[0], 2.0 * 1.6 * 0.2, 1e-5);
}

TEST(PpoLoss, TheValueLossIsTheSquareCutAtTheClip) {
  const PpoLossOptions options{.vf_clip_param = 10.0F, .vf_loss_coeff = 0.5F, .kl_coeff = 0.0F};
  OneRow row(0.0F, 1.0F);
  const PpoLoss near = row.loss(options, {0.0F, 0.0F}, 3.0F);
  EXPECT_NEAR(near.vf, 4.0, 1e-6);
  EXPECT_NEAR(near.total, 2.0, 1e-6);
  EXPECT_NEAR(row.value_gradient[0], 0.5 * 2.0 * 2.0, 1e-6);
  const PpoLoss far = row.loss(options, {0.0F, 0.0F}, 5.0F);
  EXPECT_NEAR(far.vf, 10.0, 1e-6);
  EXPECT_EQ(row.value_gradient[0], 0.0F);
}

TEST(PpoLoss, TheTotalIsTheWeightedSum) {
  const PpoLossOptions options{.clip_param = 0.2F,
                               .vf_clip_param = 100.0F,
                               .vf_loss_coeff = 0.5F,
                               .entropy_coeff = 0.01F,
                               .kl_coeff = 0.3F};
  OneRow row(2.0F, 1.0F);
  const PpoLoss loss = row.loss(options, kUpALittle, 3.0F);
  EXPECT_NEAR(loss.total, loss.policy + 0.5 * loss.vf - 0.01 * loss.entropy + 0.3 * loss.kl, 1e-9);
  EXPECT_NEAR(loss.kl, 0.5 * std::log(0.5 / 0.55) + 0.5 * std::log(0.5 / 0.45), 1e-5);
  EXPECT_NEAR(loss.entropy, -(0.55 * std::log(0.55) + 0.45 * std::log(0.45)), 1e-5);
}

/// A minibatch whose actions were drawn from old inputs, and what a net says of it now.
template <class D>
struct RandomBatch {
  using Element = typename D::Element;

  static constexpr std::int64_t kRows = 32;

  D distribution;
  RecordBatch batch;
  std::vector<float> inputs = {};
  std::vector<float> values = {};

  RandomBatch(D d, Rng& rng)
      : distribution(std::move(d)),
        batch({action_column(ActionDistribution(distribution)),
               {"action_logp", DType::float32, {}},
               {"action_dist_inputs", DType::float32, {distribution.inputs()}},
               {"advantages", DType::float32, {}},
               {"value_targets", DType::float32, {}}},
              kRows) {
    const auto number = [&] { return static_cast<float>(0.5 * rng.normal()); };
    for (std::int64_t row = 0; row < kRows; ++row) {
      const auto old = batch.column<float>("action_dist_inputs").row(row);
      for (float& x : old) inputs.push_back((x = number()) + 0.3F * number());
      Element* action = batch.column<Element>("actions").row(row).data();
      distribution.sample(old.data(), rng, action);
      batch.column<float>("action_logp")[row] = distribution.log_prob(old.data(), action);
      batch.column<float>("advantages")[row] = number();
      batch.column<float>("value_targets")[row] = number();
      values.push_back(number());
    }
  }

  double loss(const PpoLossOptions& options, std::span<float> by_inputs,
              std::span<float> by_values) const {
    Scratch scratch;
    return ppo_loss(options, distribution, batch, {.dist_inputs = inputs, .values = values},
                    {.dist_inputs = by_inputs, .values = by_values}, scratch)
        .total;
  }
};

template <class D>
void expect_gradients_of_the_total(const D& distribution) {
  constexpr double kStep = 1.0 / 64;  // seldom over the edge of a clip
  Rng rng(1);
  RandomBatch<D> random(distribution, rng);
  const PpoLossOptions options{.clip_param = 0.3F,
                               .vf_clip_param = 1.0F,
                               .vf_loss_coeff = 0.7F,
                               .entropy_coeff = 0.1F,
                               .kl_coeff = 0.4F};
  std::vector<float> by_inputs(random.inputs.size());
  std::vector<float> by_values(random.values.size());
  random.loss(options, by_inputs, by_values);
  std::vector<float> ignored_inputs = by_inputs;
  std::vector<float> ignored_values = by_values;
  const auto total = [&] { return random.loss(options, ignored_inputs, ignored_values); };
  EXPECT_LT(gradient_error<float>(random.inputs, by_inputs, total, {.step = kStep}),
            kGradientError);
  EXPECT_LT(gradient_error<float>(random.values, by_values, total, {.step = kStep}),
            kGradientError);
  for (float& g : by_inputs) g *= 1.001F;
  EXPECT_GT(gradient_error<float>(random.inputs, by_inputs, total, {.step = kStep}),
            2.0 * kGradientError)
      << "an error of a thousandth is found";
}

TEST(PpoLoss, GradientsAreThoseOfTheTotalForEachDistribution) {
  expect_gradients_of_the_total(Categorical{.n = 3});
  expect_gradients_of_the_total(MultiCategorical{.sizes = {3, 2}});
  expect_gradients_of_the_total(DiagGaussian{.n = 2});
  expect_gradients_of_the_total(SquashedGaussian{{.n = 2}});
}

TEST(PpoLoss, NaNIsNotHidden) {
  OneRow row(std::nanf(""), 0.0F);
  EXPECT_TRUE(std::isnan(row.loss({}, {0.0F, 0.0F}, 0.0F).total));
  OneRow other(1.0F, 0.0F);
  EXPECT_TRUE(std::isnan(other.loss({}, {0.0F, 0.0F}, std::nanf("")).total));
}

TEST(PpoLoss, ExplainedVarianceIsOneForAPerfectCritic) {
  RecordBatch batch = minibatch_of(3, 2);
  for (std::int64_t row = 0; row < 3; ++row) {
    batch.column<float>("value_targets")[row] = static_cast<float>(row);
    batch.column<float>("action_logp")[row] = std::log(0.5F);
  }
  const std::vector<float> logits(6, 0.0F);
  std::vector<float> g(6);
  std::vector<float> v(3);
  const auto explained = [&](const std::vector<float>& values) {
    Scratch scratch;
    return ppo_loss({}, Categorical{.n = 2}, batch, {.dist_inputs = logits, .values = values},
                    {.dist_inputs = g, .values = v}, scratch)
        .vf_explained_var;
  };
  EXPECT_NEAR(explained({0, 1, 2}), 1.0, 1e-6);
  EXPECT_NEAR(explained({5, 5, 5}), 0.0, 1e-6);
  EXPECT_NEAR(explained({9, 0, -9}), -1.0, 1e-6);  // cut at -1
}

TEST(KlCoeff, GrowsByHalfAboveTwiceTheTargetAndHalvesBelowHalfOfIt) {
  EXPECT_DOUBLE_EQ(adapted_kl_coeff(0.2, 0.021, 0.01), 0.3);
  EXPECT_DOUBLE_EQ(adapted_kl_coeff(0.2, 0.004, 0.01), 0.1);
  EXPECT_DOUBLE_EQ(adapted_kl_coeff(0.2, 0.02, 0.01), 0.2);
  EXPECT_DOUBLE_EQ(adapted_kl_coeff(0.2, 0.005, 0.01), 0.2);
}

TEST(Standardise, GivesMeanZeroAndDeviationOne) {
  std::vector<float> x{1, 2, 3, 4};
  standardise(x);
  // deviation of 1, 2, 3, 4 over the whole population is sqrt(1.25)
  EXPECT_NEAR(x[0], -1.5 / std::sqrt(1.25), 1e-6);
  EXPECT_NEAR(std::accumulate(x.begin(), x.end(), 0.0), 0.0, 1e-6);
  std::vector<float> constant{5, 5, 5};
  standardise(constant);
  EXPECT_EQ(constant, (std::vector<float>{0, 0, 0}));
}

}  // namespace
}  // namespace knurl
