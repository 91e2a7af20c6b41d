#include "knurl/models/action_adapter.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include <gtest/gtest.h>

#include "knurl/core/base/error.h"
#include "knurl/models/columns.h"

namespace knurl {
namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();
const Space kTwoBounded = Box{.shape = {2}, .low = {-2.0, 0.0}, .high = {2.0, 10.0}};
const Space kHalfBounded = Box{.shape = {3}, .low = {-kInf, 0.0, -kInf}, .high = {kInf, kInf, 0.0}};
const Space kBytes = Box{.shape = {1}, .low = 0.0, .high = 255.0, .dtype = DType::uint8};

constexpr ActionOptions kNormalized{.normalize_actions = true};
constexpr ActionOptions kClipped{.normalize_actions = false, .clip_actions = true};
constexpr ActionOptions kAsTheyAre{.normalize_actions = false, .clip_actions = false};

/// Rows of a Box's actions as a policy says them.
RecordBatch policy_actions(const std::vector<float>& numbers, std::int64_t width) {
  RecordBatch out({{column::kActions, DType::float32, {width}}},
                  static_cast<std::int64_t>(numbers.size()) / width);
  std::ranges::copy(numbers, out.column<float>(column::kActions).data());
  return out;
}

/// What an env with this Box gets.
template <class T = float>
std::vector<T> adapted(const Space& space, const ActionOptions& options,
                       const std::vector<float>& numbers) {
  const SpaceLayout layout(space);
  const RecordBatch from = policy_actions(numbers, layout.leaves()[0].size());
  RecordBatch to(layout.columns("env"), from.rows());
  ActionAdapter(layout, options).to_env(from, from.rows(), Rows(layout, to, "env"));
  const auto out = to.column<T>("env").span();
  return {out.begin(), out.end()};
}

TEST(ActionAdapter, NormalizedActionsAreStretchedToTheBounds) {
  EXPECT_EQ(adapted(kTwoBounded, kNormalized, {-1, -1, 0, 0.5F, 1, 1}),
            (std::vector<float>{-2, 0, 0, 7.5F, 2, 10}));
}

TEST(ActionAdapter, NormalizedActionsBeyondOneStopAtTheBounds) {
  EXPECT_EQ(adapted(kTwoBounded, kNormalized, {-1.5F, 30}), (std::vector<float>{-2, 10}));
}

TEST(ActionAdapter, DimensionsWithoutTwoBoundsAreOnlyCutToTheOneTheyHave) {
  for (const ActionOptions& options : {kNormalized, kClipped}) {
    EXPECT_EQ(adapted(kHalfBounded, options, {-7, -1, 1, 7, 3, -3}),
              (std::vector<float>{-7, 0, 0, 7, 3, -3}));
  }
}

TEST(ActionAdapter, ClippedActionsAreCutAndNotStretched) {
  EXPECT_EQ(adapted(kTwoBounded, kClipped, {-3, 0.5F, 1, 11}),
            (std::vector<float>{-2, 0.5F, 1, 10}));
}

TEST(ActionAdapter, ClippingChangesNothingBesideNormalizing) {
  const ActionOptions both{.normalize_actions = true, .clip_actions = true};
  const std::vector<float> numbers{-3, 0.5F, 0.25F, 11};
  EXPECT_EQ(adapted(kTwoBounded, both, numbers), adapted(kTwoBounded, kNormalized, numbers));
}

TEST(ActionAdapter, WithNeitherOptionFloatsGoThrough) {
  EXPECT_EQ(adapted(kTwoBounded, kAsTheyAre, {-3, 11}), (std::vector<float>{-3, 11}));
}

TEST(ActionAdapter, WholeNumbersAreRoundedAndAlwaysCut) {
  using Bytes = std::vector<std::uint8_t>;
  EXPECT_EQ(adapted<std::uint8_t>(kBytes, kNormalized, {-1, 0, 1}), (Bytes{0, 128, 255}));
  EXPECT_EQ(adapted<std::uint8_t>(kBytes, kAsTheyAre, {-3, 1.6F, 300}), (Bytes{0, 2, 255}));
}

TEST(ActionAdapter, WhateverThePolicySaysIsInTheSpace) {
  const std::vector<Space> spaces{
      kTwoBounded, kHalfBounded, kBytes, Box{.shape = {1}, .low = -0.1, .high = 0.1},
      Box{.shape = {2, 2}, .low = -3.0, .high = 7.0, .dtype = DType::float64}};
  Rng rng(1);
  for (const Space& space : spaces) {
    const SpaceLayout layout(space);
    std::vector<float> numbers;
    for (std::int64_t i = 0; i < 200 * layout.leaves()[0].size(); ++i) {
      numbers.push_back(static_cast<float>(2.0 * rng.normal()));
    }
    const RecordBatch from = policy_actions(numbers, layout.leaves()[0].size());
    for (const ActionOptions& options : {kNormalized, kClipped}) {
      RecordBatch to(layout.columns("env"), from.rows());
      const Rows rows(layout, to, "env");
      ActionAdapter(layout, options).to_env(from, from.rows(), rows);
      const ConstRows seen = rows;
      for (std::int64_t row = 0; row < from.rows(); ++row) {
        ASSERT_EQ(violation(ConstRow(seen, row)), "") << space.text();
      }
    }
  }
}

TEST(ActionAdapter, SquashedActionsAreTheTanhOfThePolicys) {
  const ActionOptions squashed{.normalize_actions = true,
                               .box = BoxDistribution::squashed_gaussian};
  const std::vector<float> out = adapted(kTwoBounded, squashed, {0.5F, -100});
  EXPECT_NEAR(out[0], 2 * std::tanh(0.5), 1e-6);
  EXPECT_EQ(out[1], 0.0F);
}

TEST(ActionAdapter, SeveralChoicesCountEachFromTheirStart) {
  RecordBatch from({{column::kActions, DType::int64, {2}}}, 1);
  from.column<std::int64_t>(column::kActions).span()[0] = 2;
  from.column<std::int64_t>(column::kActions).span()[1] = 1;
  const auto adapt = [&]<class T>(const Space& space, T) {
    const SpaceLayout layout(space);
    RecordBatch to(layout.columns("env"), 1);
    ActionAdapter(layout, {}).to_env(from, 1, Rows(layout, to, "env"));
    const auto out = to.column<T>("env").span();
    return std::vector<int>(out.begin(), out.end());
  };
  EXPECT_EQ(adapt(MultiDiscrete{.nvec = {3, 2}}, std::int64_t{}), (std::vector<int>{2, 1}));
  EXPECT_EQ(adapt(MultiDiscrete{.nvec = {3, 2}, .start = {5, -1}}, std::int64_t{}),
            (std::vector<int>{7, 0}));
  from.column<std::int64_t>(column::kActions).span()[0] = 0;
  EXPECT_EQ(adapt(MultiBinary{.shape = {2}}, std::uint8_t{}), (std::vector<int>{0, 1}));
}

TEST(ActionAdapter, DiscreteActionsCountFromTheSpacesStart) {
  const SpaceLayout layout(Space(Discrete{.n = 3, .start = -1}));
  RecordBatch from({{column::kActions, DType::int64, {}}}, 3);
  for (std::int64_t row = 0; row < 3; ++row) from.column<std::int64_t>(column::kActions)[row] = row;
  RecordBatch to(layout.columns("env"), 3);
  ActionAdapter(layout, {}).to_env(from, 3, Rows(layout, to, "env"));
  const auto actions = to.column<std::int64_t>("env").span();
  EXPECT_TRUE(std::ranges::equal(actions, std::vector<std::int64_t>{-1, 0, 1}));
}

TEST(ActionAdapter, RowsBeyondThoseAskedForAreLeftAlone) {
  const SpaceLayout layout(kTwoBounded);
  const RecordBatch from = policy_actions({1, 1, 1, 1}, 2);
  RecordBatch to(layout.columns("env"), 2);
  ActionAdapter(layout, kNormalized).to_env(from, 1, Rows(layout, to, "env"));
  EXPECT_TRUE(std::ranges::equal(to.column<float>("env").span(), std::vector<float>{2, 10, 0, 0}));
}

TEST(ActionAdapter, AnActionThatIsNotFiniteIsAnError) {
  for (const float spoilt : {std::nanf(""), HUGE_VALF, -HUGE_VALF}) {
    for (const ActionOptions& options : {kNormalized, kClipped, kAsTheyAre}) {
      try {
        adapted(kHalfBounded, options, {0, 0, spoilt});
        ADD_FAILURE() << spoilt << " went through";
      } catch (const Error& error) {
        EXPECT_EQ(error.kind(), ErrorKind::env);
        EXPECT_EQ(error.what(),
                  fmt::format("the policy's action is {}: its weights are spoilt", spoilt));
      }
    }
  }
}

}  // namespace
}  // namespace knurl
