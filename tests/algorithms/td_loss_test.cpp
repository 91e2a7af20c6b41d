#include "knurl/algorithms/losses/td_loss.h"

#include <cmath>
#include <numeric>

#include <gtest/gtest.h>

#include "../models/gradient_check.h"
#include "knurl/algorithms/dqn/dqn_config.h"
#include "knurl/core/base/rng.h"

namespace knurl {
namespace {

using testing::gradient_error;
using testing::kGradientError;

/// Rows of a loss with everything it reads.
struct Rows {
  std::vector<std::int64_t> actions;
  std::vector<float> rewards;
  std::vector<float> discounts;
  std::vector<float> weights;
  std::vector<float> scores;
  std::vector<float> next_q;
  std::vector<float> next_scores;

  [[nodiscard]] TdBatch batch() const { return {actions, rewards, discounts, weights}; }
  [[nodiscard]] DqnOutputs outputs() const { return {scores, next_q, next_scores}; }
};

struct Outcome {
  TdLoss loss;
  std::vector<float> gradient;
};

Outcome loss_of(const TdLossOptions& options, const QHead& head, const Rows& rows) {
  Outcome out{.loss = {}, .gradient = std::vector<float>(rows.scores.size())};
  out.loss = head.atoms > 1
                 ? categorical_loss(options, head, rows.batch(), rows.outputs(), out.gradient)
                 : dqn_loss(options, head, rows.batch(), rows.outputs(), out.gradient);
  return out;
}

constexpr QHead kTwo{.actions = 2};

// One transition: r = 1, discount 0.9, Q(s, 1) = 2, the net prefers action 0 next, of which the
// target net says 3, while its own best is action 1 with 5.
const Rows kOne{.actions = {1},
                .rewards = {1},
                .discounts = {0.9F},
                .weights = {1},
                .scores = {7, 2},
                .next_q = {4, 1},
                .next_scores = {3, 5}};

TEST(DqnLoss, DoubleQJudgesTheNetsChoiceByTheTargetNet) {
  const auto [loss, gradient] = loss_of({.double_q = true}, kTwo, kOne);
  EXPECT_FLOAT_EQ(loss.td_error[0], 2 - (1 + 0.9F * 3));
  EXPECT_NEAR(loss.total, 1.7 - 0.5, 1e-6);  // huber beyond 1
  EXPECT_EQ(gradient, (std::vector<float>{0, -1}));
  EXPECT_EQ(loss.mean_q, 2.0);
}

TEST(DqnLoss, PlainQTakesTheTargetNetsOwnBest) {
  const auto [loss, gradient] = loss_of({.double_q = false}, kTwo, kOne);
  EXPECT_FLOAT_EQ(loss.td_error[0], 2 - (1 + 0.9F * 5));
}

TEST(DqnLoss, MseIsHalfTheSquare) {
  const auto [loss, gradient] = loss_of({.error_loss = TdErrorLoss::mse}, kTwo, kOne);
  EXPECT_NEAR(loss.total, 0.5 * 1.7 * 1.7, 1e-6);
  EXPECT_FLOAT_EQ(gradient[1], -1.7F);
}

TEST(DqnLoss, OnlyTerminationStopsBootstrapping) {
  Rows rows = kOne;
  rows.discounts = {0};
  EXPECT_FLOAT_EQ(loss_of({}, kTwo, rows).loss.td_error[0], 2 - 1);
}

TEST(DqnLoss, RowsCountByTheirWeightsOverTheBatch) {
  Rows rows{.actions = {0, 1},
            .rewards = {0, 0},
            .discounts = {0, 0},
            .weights = {1, 0.5F},
            .scores = {0.5F, 9, 9, 0.25F},
            .next_q = {0, 0, 0, 0},
            .next_scores = {0, 0, 0, 0}};
  const auto [loss, gradient] = loss_of({}, kTwo, rows);
  EXPECT_NEAR(loss.total, (0.125 + 0.5 * 0.03125) / 2, 1e-7);
  EXPECT_EQ(gradient, (std::vector<float>{0.25F, 0, 0, 0.0625F}));
  EXPECT_EQ(loss.td_error, (std::vector<float>{0.5F, 0.25F})) << "priorities know no weights";
  EXPECT_EQ(loss.min_q, 0.25);
  EXPECT_EQ(loss.max_q, 0.5);
}

TEST(DqnLoss, ScalingRewardsAndValuesScalesErrors) {
  Rows rows = kOne;
  for (auto* numbers : {&rows.rewards, &rows.scores, &rows.next_q, &rows.next_scores}) {
    for (float& x : *numbers) x *= 8;
  }
  EXPECT_FLOAT_EQ(loss_of({}, kTwo, rows).loss.td_error[0],
                  8 * loss_of({}, kTwo, kOne).loss.td_error[0]);
}

// support -1, 0, 1
constexpr QHead kThreeAtoms{.actions = 2, .atoms = 3, .v_min = -1, .v_max = 1};

std::vector<float> projected(const QHead& head, float reward, float discount,
                             const std::vector<float>& p) {
  std::vector<float> out(p.size());
  project(head, reward, discount, p, out);
  return out;
}

TEST(Projection, SharesAnAtomBetweenItsNeighbours) {
  // the middle atom moves to 0.25: three quarters stay, a quarter goes up
  EXPECT_EQ(projected(kThreeAtoms, 0.25F, 1.0F, {0, 1, 0}), (std::vector<float>{0, 0.75F, 0.25F}));
}

TEST(Projection, LeavesAnAtomThatLandsOnOneWhole) {
  EXPECT_EQ(projected(kThreeAtoms, 0.0F, 1.0F, {0.2F, 0.3F, 0.5F}),
            (std::vector<float>{0.2F, 0.3F, 0.5F}));
  EXPECT_EQ(projected(kThreeAtoms, 1.0F, 1.0F, {0.5F, 0.5F, 0}),
            (std::vector<float>{0, 0.5F, 0.5F}));
}

TEST(Projection, GathersWhatFallsOutsideAtTheEdges) {
  EXPECT_EQ(projected(kThreeAtoms, 7.0F, 1.0F, {0.2F, 0.3F, 0.5F}), (std::vector<float>{0, 0, 1}));
  EXPECT_EQ(projected(kThreeAtoms, -7.0F, 1.0F, {0.2F, 0.3F, 0.5F}), (std::vector<float>{1, 0, 0}));
}

TEST(Projection, ATerminalStateIsWorthItsRewardAlone) {
  EXPECT_EQ(projected(kThreeAtoms, 0.5F, 0.0F, {0.25F, 0.5F, 0.25F}),
            (std::vector<float>{0, 0.5F, 0.5F}));
}

TEST(Projection, KeepsTheMassAndInsideTheEdgesTheMean) {
  Rng rng(7);
  const QHead head{.actions = 1, .atoms = 51, .v_min = -10, .v_max = 10};
  for (int trial = 0; trial < 100; ++trial) {
    std::vector<float> p(51);
    for (float& x : p) x = static_cast<float>(rng.uniform());
    const float sum = std::accumulate(p.begin(), p.end(), 0.0F);
    double mean = 0.0;
    for (int i = 0; i < 51; ++i) mean += (p[static_cast<std::size_t>(i)] /= sum) * head.support(i);
    const auto reward = static_cast<float>(rng.uniform(-1, 1));
    const std::vector<float> out = projected(head, reward, 0.9F, p);
    double mass = 0.0;
    double moved = 0.0;
    for (int i = 0; i < 51; ++i) {
      mass += out[static_cast<std::size_t>(i)];
      moved += out[static_cast<std::size_t>(i)] * static_cast<double>(head.support(i));
    }
    EXPECT_NEAR(mass, 1.0, 1e-5);
    EXPECT_NEAR(moved, reward + 0.9 * mean, 1e-4);
  }
}

// logits 0 everywhere: p = 1/3 each; the target is the reward 0.5 alone: 0, 1/2, 1/2
TEST(CategoricalLoss, IsTheCrossEntropyWithTheProjectedDistribution) {
  const Rows rows{.actions = {1},
                  .rewards = {0.5F},
                  .discounts = {0},
                  .weights = {1},
                  .scores = std::vector<float>(6, 0.0F),
                  .next_q = {0, 0},
                  .next_scores = std::vector<float>(6, 0.0F)};
  const auto [loss, gradient] = loss_of({}, kThreeAtoms, rows);
  EXPECT_NEAR(loss.total, std::log(3.0), 1e-6);
  EXPECT_NEAR(loss.td_error[0], std::log(3.0), 1e-6);
  EXPECT_EQ(loss.mean_q, 0.0);
  const std::vector<float> expected{0, 0, 0, 1.0F / 3, 1.0F / 3 - 0.5F, 1.0F / 3 - 0.5F};
  for (std::size_t i = 0; i < 6; ++i) EXPECT_NEAR(gradient[i], expected[i], 1e-6);
}

Rows random_rows(const QHead& head, int count, Rng& rng) {
  Rows rows;
  const auto numbers = [&](int n) {
    std::vector<float> out(static_cast<std::size_t>(n));
    for (float& x : out) x = static_cast<float>(rng.normal());
    return out;
  };
  for (int i = 0; i < count; ++i) {
    rows.actions.push_back(
        static_cast<std::int64_t>(rng.below(static_cast<std::uint64_t>(head.actions))));
    rows.discounts.push_back(rng.below(3) == 0 ? 0.0F : 0.9F);
  }
  rows.rewards = numbers(count);
  rows.weights = numbers(count);
  for (float& w : rows.weights) w = std::abs(w);
  rows.scores = numbers(count * head.size());
  rows.next_q = numbers(count * head.actions);
  rows.next_scores = numbers(count * head.size());
  return rows;
}

TEST(TdLosses, GradientsAreThoseOfFiniteDifferences) {
  Rng rng(11);
  for (const QHead& head :
       {QHead{.actions = 3}, QHead{.actions = 2, .atoms = 11, .v_min = -2, .v_max = 3}}) {
    for (const TdErrorLoss kind : {TdErrorLoss::huber, TdErrorLoss::mse}) {
      for (const bool double_q : {true, false}) {
        Rows rows = random_rows(head, 16, rng);
        const TdLossOptions options{.double_q = double_q, .error_loss = kind};
        const std::vector<float> gradient = loss_of(options, head, rows).gradient;
        EXPECT_LT(gradient_error<float>(rows.scores, gradient,
                                        [&] { return loss_of(options, head, rows).loss.total; }),
                  kGradientError)
            << head.atoms << " atoms, " << name_of(kind) << ", double_q " << double_q;
      }
    }
  }
}

TEST(TdLosses, GradientsOfDuelingHeadsAreThoseOfFiniteDifferences) {
  Rng rng(12);
  for (const QHead& head :
       {QHead{.actions = 3, .dueling = true},
        QHead{.actions = 2, .atoms = 11, .dueling = true, .v_min = -2, .v_max = 3}}) {
    Rows rows = random_rows(head, 8, rng);
    std::vector<float> scores = rows.scores;  // of the actions
    std::vector<float> state(rows.actions.size() * static_cast<std::size_t>(head.atoms), 0.5F);
    const auto size = static_cast<std::size_t>(head.size());
    const auto atoms = static_cast<std::size_t>(head.atoms);
    const auto outcome = [&] {
      for (std::size_t row = 0; row < rows.actions.size(); ++row) {
        head.combine(&scores[row * size], &state[row * atoms], &rows.scores[row * size]);
      }
      return loss_of({}, head, rows);
    };
    std::vector<float> gradient = outcome().gradient;
    std::vector<float> by_state(state.size());
    for (std::size_t row = 0; row < rows.actions.size(); ++row) {
      float* combined = &gradient[row * size];
      head.combine_gradient(combined, combined, &by_state[row * atoms]);
    }
    const auto total = [&] { return outcome().loss.total; };
    EXPECT_LT(gradient_error<float>(scores, gradient, total), kGradientError);
    EXPECT_LT(gradient_error<float>(state, by_state, total), kGradientError);
  }
}

}  // namespace
}  // namespace knurl
