#include <cmath>
#include <functional>
#include <limits>
#include <numeric>

#include <gtest/gtest.h>

#include "../models/gradient_check.h"
#include "knurl/core/base/error.h"
#include "knurl/models/distributions/action_distribution.h"
#include "knurl/models/distributions/terms.h"

namespace knurl {
namespace {

using testing::gradient_error;
using testing::kGradientError;

template <class D, class Action>
void expect_gradients(const D& d, const std::vector<float>& x, const std::vector<float>& old,
                      const Action* action) {
  std::vector<float> in = x;
  const auto expect = [&](const char* what, const auto& value, const auto& add_gradient) {
    std::vector<float> gradient(in.size(), 0.0F);
    add_gradient(gradient.data());
    EXPECT_LT(gradient_error<float>(in, gradient, [&] { return static_cast<double>(value()); }),
              kGradientError)
        << what;
  };
  expect(
      "log_prob", [&] { return d.log_prob(in.data(), action); },
      [&](float* out) { d.add_log_prob_gradient(in.data(), action, 1.0F, out); });
  expect(
      "entropy", [&] { return d.entropy(in.data()); },
      [&](float* out) { d.add_entropy_gradient(in.data(), 1.0F, out); });
  expect(
      "kl", [&] { return d.kl_from(old.data(), in.data()); },
      [&](float* out) { d.add_kl_gradient(old.data(), in.data(), 1.0F, out); });
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

TEST(SquashedGaussian, GradientsAreThoseOfTheValues) {
  const std::vector<float> action{0.7F, -0.4F};
  expect_gradients(SquashedGaussian{{.n = 2}}, {0.3F, -0.2F, 0.1F, -0.3F}, {0.0F, 0.1F, 0.2F, 0.0F},
                   action.data());
}

// density of tanh(u): N(u) / (1 - tanh(u)^2); at u = 1: 0.2419707 / 0.4199743
TEST(SquashedGaussian, LogProbabilitiesAreOfTheSquashedAction) {
  const SquashedGaussian d{{.n = 1}};
  const std::vector<float> standard{0.0F, 0.0F};
  const float one = 1.0F;
  EXPECT_NEAR(d.log_prob(standard.data(), &one), std::log(0.2419707 / 0.4199743), 1e-5);
  const float far = 30.0F;  // tanh is 1 in float: the logarithm must not be infinite
  EXPECT_NEAR(d.log_prob(standard.data(), &far), -450.0 - 0.918939 + 2 * (30 - std::log(2.0)),
              1e-3);
}

TEST(SquashedGaussian, TheEntropyIsWhatSamplesSay) {
  const SquashedGaussian d{{.n = 2}};
  const std::vector<float> x{0.4F, -0.8F, -0.5F, 0.2F};
  Rng rng(9);
  double sum = 0.0;
  constexpr int kSamples = 100'000;
  for (int i = 0; i < kSamples; ++i) {
    std::vector<float> action(2);
    d.sample(x.data(), rng, action.data());
    sum -= d.log_prob(x.data(), action.data());
  }
  EXPECT_NEAR(d.entropy(x.data()), sum / kSamples, 0.02);
}

TEST(MultiCategorical, IsTheSumOfItsChoices) {
  const MultiCategorical d{.sizes = {3, 2}};
  const std::vector<float> x{0.1F, -0.4F, 0.9F, 0.3F, -0.2F};
  const std::vector<float> old{0.0F, 0.5F, -0.1F, 0.2F, 0.4F};
  const std::vector<std::int64_t> action{2, 0};
  const Categorical first{.n = 3};
  const Categorical second{.n = 2};
  EXPECT_EQ(d.inputs(), 5);
  EXPECT_EQ(d.width(), 2);
  EXPECT_FLOAT_EQ(d.log_prob(x.data(), action.data()),
                  first.log_prob(x.data(), &action[0]) + second.log_prob(&x[3], &action[1]));
  EXPECT_FLOAT_EQ(d.entropy(x.data()), first.entropy(x.data()) + second.entropy(&x[3]));
  std::vector<std::int64_t> mode(2);
  d.mode(x.data(), mode.data());
  EXPECT_EQ(mode, (std::vector<std::int64_t>{2, 0}));
  expect_gradients(d, x, old, action.data());
}

TEST(MultiCategorical, EachChoiceIsDrawnByItsOwnChances) {
  const MultiCategorical d{.sizes = {2, 2}};
  const std::vector<float> x{std::log(3.0F), 0.0F, 0.0F, std::log(9.0F)};
  Rng rng(4);
  int first = 0;
  int second = 0;
  for (int i = 0; i < 20'000; ++i) {
    std::vector<std::int64_t> action(2);
    d.sample(x.data(), rng, action.data());
    first += static_cast<int>(action[0]);
    second += static_cast<int>(action[1]);
  }
  EXPECT_NEAR(first, 5'000, 310);
  EXPECT_NEAR(second, 18'000, 220);
}

/// KL(other || this) as the mean of log_prob under other less log_prob under this, over other's
/// actions; its standard error too.
template <class D>
std::pair<double, double> sampled_kl(const D& d, const std::vector<float>& other,
                                     const std::vector<float>& x) {
  Rng rng(4);
  std::vector<typename D::Element> action(static_cast<std::size_t>(d.width()));
  double sum = 0.0;
  double squares = 0.0;
  constexpr int kSamples = 20'000;
  for (int i = 0; i < kSamples; ++i) {
    d.sample(other.data(), rng, action.data());
    const double ratio =
        d.log_prob(other.data(), action.data()) - d.log_prob(x.data(), action.data());
    sum += ratio;
    squares += ratio * ratio;
  }
  const double mean = sum / kSamples;
  return {mean, std::sqrt((squares / kSamples - mean * mean) / kSamples)};
}

template <class D>
void expect_kl_is_the_samples(const D& d, const std::vector<float>& other,
                              const std::vector<float>& x) {
  const auto [mean, error] = sampled_kl(d, other, x);
  EXPECT_NEAR(d.kl_from(other.data(), x.data()), mean, 5.0 * error);
  EXPECT_LT(5.0 * error, 0.1 * mean);  // or the samples say nothing
  EXPECT_NEAR(d.kl_from(x.data(), x.data()), 0.0, 1e-6);
}

TEST(ActionDistribution, KlIsWhatSamplesSay) {
  expect_kl_is_the_samples(Categorical{.n = 3}, {0.5F, -0.5F, 1.0F}, {-0.5F, 0.7F, 0.2F});
  expect_kl_is_the_samples(DiagGaussian{.n = 2}, {0.5F, -1.0F, 0.3F, -0.4F},
                           {-0.2F, 0.1F, -0.1F, 0.2F});
}

TEST(ActionDistribution, AGaussiansKlAddsUpOverDimensions) {
  const std::vector<float> other{1.0F, -1.0F, std::log(2.0F), 0.0F};
  const std::vector<float> x{0.0F, 1.0F, 0.0F, std::log(2.0F)};
  // ln(s / s') + (s'^2 + d^2) / (2 s^2) - 1 / 2: from N(1, 2) to N(0, 1), from N(-1, 1) to N(1, 2)
  const double first = -std::log(2.0) + (4.0 + 1.0) / 2.0 - 0.5;
  const double second = std::log(2.0) + (1.0 + 4.0) / 8.0 - 0.5;
  EXPECT_NEAR((DiagGaussian{.n = 2}.kl_from(other.data(), x.data())), first + second, 1e-5);
}

TEST(ActionDistribution, ActionsAreIndicesOrVectors) {
  EXPECT_EQ(action_column(distribution_for(Discrete{.n = 5, .start = 3})),
            (ColumnSpec{"actions", DType::int64, {}}));
  EXPECT_EQ(action_column(distribution_for(MultiDiscrete{.nvec = {4}})),
            (ColumnSpec{"actions", DType::int64, {1}}));
  EXPECT_EQ(action_column(distribution_for(Box{.shape = {2, 3}})),
            (ColumnSpec{"actions", DType::float32, {6}}));
  EXPECT_EQ(action_column(distribution_for(Box{.shape = {1}})),
            (ColumnSpec{"actions", DType::float32, {1}}));
}

TEST(ActionDistribution, AMillionIsTheMost) {
  EXPECT_EQ(num_inputs(distribution_for(Discrete{.n = 1'000'000})), 1'000'000);
  EXPECT_EQ(num_inputs(distribution_for(Box{.shape = {1'000, 1'000}})), 2'000'000);
  for (const Space& space : {Space(Discrete{.n = 1'000'001}), Space(Box{.shape = {1'000'001}})}) {
    try {
      distribution_for(space);
      ADD_FAILURE() << "accepted";
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::config);
      EXPECT_EQ(error.what(), fmt::format("action space {}: 1000001 is more than the 1000000 that "
                                          "a policy can choose from",
                                          space.text()));
    }
  }
}

TEST(ActionDistribution, SpacesWithoutOneAreRefusedByName) {
  EXPECT_EQ(num_inputs(distribution_for(Discrete{.n = 5})), 5);
  EXPECT_EQ(num_inputs(distribution_for(Box{.shape = {3}})), 6);
  EXPECT_EQ(num_inputs(distribution_for(MultiDiscrete{.nvec = {3, 4}})), 7);
  EXPECT_EQ(num_inputs(distribution_for(MultiBinary{.shape = {2}})), 4);
  EXPECT_THROW(distribution_for(Tuple{{Discrete{.n = 2}}}), Error);
}

/// A minibatch's terms are those of its rows, each alone.
template <class D>
void expect_terms_of_rows(const D& d, Rng& rng) {
  constexpr std::int64_t kRows = 37;
  const auto numbers = [&](std::int64_t n) {
    std::vector<float> out(static_cast<std::size_t>(n));
    for (float& x : out) x = static_cast<float>(rng.normal());
    return out;
  };
  const std::vector<float> in = numbers(kRows * d.inputs());
  const std::vector<float> old_in = numbers(kRows * d.inputs());
  const std::vector<float> weights = numbers(kRows);
  std::vector<typename D::Element> actions(static_cast<std::size_t>(kRows * d.width()));
  for (std::int64_t row = 0; row < kRows; ++row) {
    d.sample(&old_in[static_cast<std::size_t>(row * d.inputs())], rng,
             &actions[static_cast<std::size_t>(row * d.width())]);
  }
  Scratch scratch;
  const Terms<D> now(d, in, kRows, scratch);
  const Terms<D> old(d, old_in, kRows, scratch);
  std::vector<float> log_prob(kRows);
  std::vector<float> entropy(kRows);
  std::vector<float> kl(kRows);
  std::vector<float> gradient(in.size(), 7.0F);
  now.log_prob(actions, log_prob);
  now.entropy(entropy);
  now.kl_from(old, kl);
  now.gradient(actions, old, {.log_prob = weights, .entropy = 0.3F, .kl = 0.2F}, gradient);
  for (std::int64_t row = 0; row < kRows; ++row) {
    const auto at = static_cast<std::size_t>(row);
    const float* x = &in[static_cast<std::size_t>(row * d.inputs())];
    const float* old_x = &old_in[static_cast<std::size_t>(row * d.inputs())];
    const auto* action = &actions[static_cast<std::size_t>(row * d.width())];
    const auto near = [](double a, double b) { EXPECT_NEAR(a, b, 1e-5 * (1.0 + std::abs(b))); };
    near(log_prob[at], d.log_prob(x, action));
    near(entropy[at], d.entropy(x));
    near(kl[at], d.kl_from(old_x, x));
    std::vector<float> expected(static_cast<std::size_t>(d.inputs()));
    d.add_log_prob_gradient(x, action, weights[at], expected.data());
    d.add_entropy_gradient(x, 0.3F, expected.data());
    d.add_kl_gradient(old_x, x, 0.2F, expected.data());
    for (std::size_t i = 0; i < expected.size(); ++i) {
      near(gradient[at * expected.size() + i], expected[i]);
    }
  }
}

TEST(Terms, AreThoseOfEachRowAlone) {
  Rng rng(41);
  for (const int n : {1, 2, 3, 18}) {
    expect_terms_of_rows(Categorical{.n = n}, rng);
    expect_terms_of_rows(DiagGaussian{.n = n}, rng);
  }
  expect_terms_of_rows(MultiCategorical{.sizes = {2, 5}}, rng);
}

// an action that a mask forbids has the lowest logit there is
TEST(Terms, OfForbiddenActionsAreFinite) {
  const Categorical d{.n = 3};
  const std::vector<float> logits{0.5F, std::numeric_limits<float>::lowest(), -0.5F};
  const std::vector<std::int64_t> actions{2};
  Scratch scratch;
  const Terms<Categorical> now(d, logits, 1, scratch);
  std::vector<float> out(1);
  now.entropy(out);
  EXPECT_NEAR(out[0], d.entropy(logits.data()), 1e-6);
  now.kl_from(now, out);
  EXPECT_EQ(out[0], 0.0F);
  const std::vector<float> weights{1.0F};
  std::vector<float> gradient(3);
  now.gradient(actions, now, {.log_prob = weights, .entropy = 1.0F, .kl = 1.0F}, gradient);
  EXPECT_EQ(gradient[1], 0.0F);
  EXPECT_TRUE(std::isfinite(gradient[0]));
}

}  // namespace
}  // namespace knurl
