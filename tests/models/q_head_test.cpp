#include "knurl/models/q_head.h"

#include <cmath>
#include <vector>

#include <gtest/gtest.h>

#include "knurl/core/base/rng.h"

namespace knurl {
namespace {

// V = 10, scores 1, 2, 6 of mean 3
TEST(QHead, DuelingAddsTheStateAndCentresTheScores) {
  const QHead head{.actions = 3, .dueling = true};
  const std::vector<float> scores{1, 2, 6};
  const float state = 10;
  std::vector<float> out(3);
  head.combine(scores.data(), &state, out.data());
  EXPECT_EQ(out, (std::vector<float>{8, 9, 13}));
}

TEST(QHead, WithoutDuelingScoresAreTheValues) {
  const QHead head{.actions = 2};
  const std::vector<float> scores{1, 2};
  std::vector<float> out(2);
  std::vector<float> q(2);
  head.combine(scores.data(), nullptr, out.data());
  head.values(out.data(), q.data());
  EXPECT_EQ(q, scores);
}

TEST(QHead, AtomsAreCentredEachByItself) {
  const QHead head{.actions = 2, .atoms = 2, .dueling = true};
  const std::vector<float> scores{1, 10, 3, 30};
  const std::vector<float> state{100, 1000};
  std::vector<float> out(4);
  head.combine(scores.data(), state.data(), out.data());
  EXPECT_EQ(out, (std::vector<float>{99, 990, 101, 1010}));
}

// support -10, 0, 10; logits log 1, log 2, log 1: mean 0; then all mass on the last atom
TEST(QHead, AnActionsValueIsTheMeanOfItsDistribution) {
  const QHead head{.actions = 2, .atoms = 3};
  const std::vector<float> combined{0, std::log(2.0F), 0, 0, 0, 100};
  std::vector<float> q(2);
  head.values(combined.data(), q.data());
  EXPECT_NEAR(q[0], 0.0, 1e-6);
  EXPECT_NEAR(q[1], 10.0, 1e-5);
  std::vector<float> p(3);
  head.probabilities(combined.data(), 0, p);
  EXPECT_NEAR(p[0], 0.25, 1e-6);
  EXPECT_NEAR(p[1], 0.5, 1e-6);
}

TEST(QHead, GradientsFollowTheSumsOfCombining) {
  Rng rng(5);
  const QHead head{.actions = 3, .atoms = 4, .dueling = true};
  const auto numbers = [&](std::size_t n) {
    std::vector<float> out(n);
    for (float& x : out) x = static_cast<float>(rng.normal());
    return out;
  };
  std::vector<float> scores = numbers(12);
  std::vector<float> state = numbers(4);
  const std::vector<float> weights = numbers(12);  // loss = sum of weights * combined
  const auto loss = [&] {
    std::vector<float> out(12);
    head.combine(scores.data(), state.data(), out.data());
    double sum = 0.0;
    for (std::size_t i = 0; i < 12; ++i) sum += static_cast<double>(weights[i]) * out[i];
    return sum;
  };
  std::vector<float> by_scores(12);
  std::vector<float> by_state(4);
  head.combine_gradient(weights.data(), by_scores.data(), by_state.data());
  const auto check = [&](std::vector<float>& numbers_, const std::vector<float>& gradient) {
    for (std::size_t i = 0; i < numbers_.size(); ++i) {
      const double before = loss();
      numbers_[i] += 1.0F;
      EXPECT_NEAR(loss() - before, gradient[i], 1e-4);  // linear: any step will do
      numbers_[i] -= 1.0F;
    }
  };
  check(scores, by_scores);
  check(state, by_state);
}

}  // namespace
}  // namespace knurl
