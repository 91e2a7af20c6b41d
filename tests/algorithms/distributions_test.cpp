#include <cmath>
#include <functional>
#include <numeric>

#include <gtest/gtest.h>

#include "knurl/models/distributions/action_distribution.h"

namespace knurl {
namespace {

/// Central differences of f at x.
std::vector<float> numeric_gradient(const std::function<double(const float*)>& f,
                                    std::vector<float> x) {
  std::vector<float> out;
  constexpr float kStep = 1e-2F;
  for (float& value : x) {
    const float before = value;
    value = before + kStep;
    const double up = f(x.data());
    value = before - kStep;
    const double down = f(x.data());
    value = before;
    out.push_back(static_cast<float>((up - down) / (2.0 * kStep)));
  }
  return out;
}

template <class D, class Action>
void expect_gradients(const D& d, const std::vector<float>& x, const std::vector<float>& old,
                      const Action* action) {
  const auto near = [](const std::vector<float>& a, const std::vector<float>& b) {
    for (std::size_t i = 0; i < a.size(); ++i) EXPECT_NEAR(a[i], b[i], 2e-3) << i;
  };
  std::vector<float> gradient(x.size(), 0.0F);
  d.add_log_prob_gradient(x.data(), action, 1.0F, gradient.data());
  near(gradient, numeric_gradient([&](const float* in) { return d.log_prob(in, action); }, x));
  std::ranges::fill(gradient, 0.0F);
  d.add_entropy_gradient(x.data(), 1.0F, gradient.data());
  near(gradient, numeric_gradient([&](const float* in) { return d.entropy(in); }, x));
  std::ranges::fill(gradient, 0.0F);
  d.add_kl_gradient(old.data(), x.data(), 1.0F, gradient.data());
  near(gradient, numeric_gradient([&](const float* in) { return d.kl_from(old.data(), in); }, x));
}

TEST(Categorical, KnownValues) {
  const Categorical d{.n = 2};
  const std::vector<float> even{0.0F, 0.0F};
  const std::int64_t action = 1;
  EXPECT_NEAR(d.log_prob(even.data(), &action), std::log(0.5), 1e-6);
  EXPECT_NEAR(d.entropy(even.data()), std::log(2.0), 1e-6);
  // p = (0.75, 0.25)
  const std::vector<float> uneven{std::log(3.0F), 0.0F};
  EXPECT_NEAR(d.log_prob(uneven.data(), &action), std::log(0.25), 1e-6);
  EXPECT_NEAR(d.entropy(uneven.data()), -(0.75 * std::log(0.75) + 0.25 * std::log(0.25)), 1e-6);
  // KL(even || uneven) = 0.5 ln(0.5 / 0.75) + 0.5 ln(0.5 / 0.25)
  EXPECT_NEAR(d.kl_from(even.data(), uneven.data()),
              0.5 * std::log(0.5 / 0.75) + 0.5 * std::log(2.0), 1e-6);
}

TEST(Categorical, LargeLogitsDoNotOverflow) {
  const Categorical d{.n = 3};
  const std::vector<float> x{1000.0F, 0.0F, -1000.0F};
  const std::int64_t first = 0;
  const std::int64_t last = 2;
  EXPECT_NEAR(d.log_prob(x.data(), &first), 0.0, 1e-6);
  EXPECT_NEAR(d.log_prob(x.data(), &last), -2000.0, 1e-3);
  EXPECT_NEAR(d.entropy(x.data()), 0.0, 1e-6);
}

TEST(Categorical, TiesGoToTheLowestIndex) {
  const Categorical d{.n = 4};
  const std::vector<float> x{1.0F, 3.0F, 3.0F, 3.0F};
  std::int64_t action = -1;
  d.mode(x.data(), &action);
  EXPECT_EQ(action, 1);
}

TEST(Categorical, SamplesFollowTheProbabilities) {
  const Categorical d{.n = 3};
  const std::vector<float> x{std::log(0.5F), std::log(0.2F), std::log(0.3F)};
  Rng rng(1);
  std::array<int, 3> counts{};
  for (int i = 0; i < 20'000; ++i) {
    std::int64_t action = -1;
    d.sample(x.data(), rng, &action);
    ++counts.at(static_cast<std::size_t>(action));
  }
  EXPECT_NEAR(counts[0], 10'000, 360);  // 5 standard deviations
  EXPECT_NEAR(counts[1], 4'000, 290);
  EXPECT_NEAR(counts[2], 6'000, 330);
}

TEST(Categorical, GradientsAreThoseOfTheValues) {
  const std::int64_t action = 2;
  expect_gradients(Categorical{.n = 4}, {0.3F, -1.2F, 0.7F, 0.1F}, {0.1F, 0.4F, -0.6F, 0.0F},
                   &action);
}

TEST(DiagGaussian, KnownValues) {
  const DiagGaussian d{.n = 1};
  const std::vector<float> standard{0.0F, 0.0F};
  const float zero = 0.0F;
  EXPECT_NEAR(d.log_prob(standard.data(), &zero), -0.918939, 1e-6);
  EXPECT_NEAR(d.entropy(standard.data()), 1.418939, 1e-6);
  // KL(N(1, 2) || N(0, 1)) = ln(1 / 2) + (4 + 1) / 2 - 1 / 2
  const std::vector<float> wide{1.0F, std::log(2.0F)};
  EXPECT_NEAR(d.kl_from(wide.data(), standard.data()), -std::log(2.0) + 2.5 - 0.5, 1e-6);
}

TEST(DiagGaussian, GradientsAreThoseOfTheValues) {
  const std::vector<float> action{0.7F, -0.4F};
  expect_gradients(DiagGaussian{.n = 2}, {0.3F, -0.2F, 0.1F, -0.3F}, {0.0F, 0.1F, 0.2F, 0.0F},
                   action.data());
}

TEST(DiagGaussian, SamplesHaveTheirMeanAndDeviation) {
  const DiagGaussian d{.n = 1};
  const std::vector<float> x{2.0F, std::log(0.5F)};
  Rng rng(3);
  double sum = 0.0;
  double squares = 0.0;
  const int n = 20'000;
  for (int i = 0; i < n; ++i) {
    float action = 0.0F;
    d.sample(x.data(), rng, &action);
    sum += action;
    squares += (action - 2.0) * (action - 2.0);
  }
  EXPECT_NEAR(sum / n, 2.0, 0.02);
  EXPECT_NEAR(std::sqrt(squares / n), 0.5, 0.02);
}

TEST(ActionDistribution, SpacesWithoutOneAreRefusedByName) {
  EXPECT_EQ(num_inputs(distribution_for(Discrete{.n = 5})), 5);
  EXPECT_EQ(num_inputs(distribution_for(Box{.shape = {3}})), 6);
  EXPECT_THROW(distribution_for(MultiBinary{.shape = {2}}), Error);
}

}  // namespace
}  // namespace knurl
