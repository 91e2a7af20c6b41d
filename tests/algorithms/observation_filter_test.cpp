#include "knurl/algorithms/learner/observation_filter.h"

#include <cmath>

#include <gtest/gtest.h>

#include "knurl/algorithms/rollout/reward_filter.h"
#include "knurl/core/base/error.h"
#include "knurl/models/columns.h"
#include "knurl/models/fast/fast_net.h"

namespace knurl {
namespace {

// 1, 2, 6: mean 3, variance (4 + 1 + 9) / 2 = 7
TEST(RunningMoments, AreThoseOfAllRows) {
  RunningMoments moments(2);
  for (const float x : {1.0F, 2.0F, 6.0F}) {
    const float row[] = {x, -2 * x};
    moments.add(row);
  }
  EXPECT_EQ(moments.count(), 3);
  EXPECT_DOUBLE_EQ(moments.mean()[0], 3.0);
  EXPECT_DOUBLE_EQ(moments.variance(0), 7.0);
  EXPECT_DOUBLE_EQ(moments.mean()[1], -6.0);
  EXPECT_DOUBLE_EQ(moments.variance(1), 28.0);
}

TEST(RunningMoments, SayNothingOfASingleRow) {
  RunningMoments moments(1);
  const float row = 5.0F;
  moments.add(&row);
  EXPECT_EQ(moments.variance(0), 1.0);
}

TEST(RunningMoments, StayExactFarFromZero) {
  RunningMoments moments(1);
  for (int i = 0; i < 1000; ++i) {
    const float row = 1e6F + static_cast<float>(i % 2);
    moments.add(&row);
  }
  EXPECT_NEAR(moments.variance(0), 0.25 * 1000 / 999, 1e-6);
}

TEST(RunningMoments, AreSavedAndRestored) {
  RunningMoments moments(1);
  for (const float row : {1.0F, 4.0F}) moments.add(&row);
  RunningMoments other(1);
  other.restore(moments.state());
  const float row = 7.0F;
  moments.add(&row);
  other.add(&row);
  EXPECT_EQ(other.mean(), moments.mean());
  EXPECT_EQ(other.variance(0), moments.variance(0));
  RunningMoments wide(2);
  EXPECT_THROW(wide.restore(moments.state()), Error);
}

TEST(ObservationFilter, TheNetReadsObservationsLessTheirMeanOverTheirDeviation) {
  const NetSpec spec =
      with_filter(make_net(2, {}, {{.name = "q", .output = "q", .size = 2, .init_norm = 1.0}}));
  Weights weights = fresh_weights(spec, Rng(1));
  const auto w = weights.tensors.column<float>("q.out.weight").span();
  w[0] = w[3] = 1.0F;  // the identity
  w[1] = w[2] = 0.0F;
  fast::FastNet net(spec);
  const auto run = [&](const std::vector<float>& x) {
    net.set_weights(weights);
    net.forward(x.data(), 1, 2);
    const auto out = net.output("q").row(0);
    return std::vector<float>(out.begin(), out.end());
  };
  EXPECT_EQ(run({3, -7}), (std::vector<float>{3, -7})) << "nothing has been seen yet";
  ObservationFilter filter(2);
  for (const float x : {1.0F, 2.0F, 6.0F}) {
    const float row[] = {x, 5.0F};
    filter.add(row);
  }
  filter.write(weights.tensors);
  const std::vector<float> out = run({10, 5});
  EXPECT_NEAR(out[0], (10 - 3) / std::sqrt(7.0), 1e-5);
  EXPECT_EQ(out[1], 0.0F) << "what never changes says nothing";
  EXPECT_EQ(run({1000, 6}), (std::vector<float>{10, 10})) << "cut";
}

TEST(ObservationFilter, GoesOnFromWhatAnotherWrote) {
  const NetSpec spec = with_filter(make_net(2, {}, {{.name = "q", .output = "q"}}));
  Weights weights = fresh_weights(spec, Rng(1));
  ObservationFilter first(2);
  const auto show = [](ObservationFilter& filter, float x) {
    const float row[] = {x, 5.0F};
    filter.add(row);
  };
  for (const float x : {1.0F, 2.0F, 6.0F}) show(first, x);
  first.write(weights.tensors);
  ObservationFilter second(2);
  show(second, 1000.0F);  // what it saw itself is replaced
  second.read(weights.tensors, first.observed());
  EXPECT_EQ(second.observed(), 3);
  for (ObservationFilter* filter : {&first, &second}) show(*filter, 12.0F);
  first.write(weights.tensors);
  const auto of = [&](const char* name) { return weights.tensors.column<float>(name)[0]; };
  const float mean = of("filter.mean");
  const float scale = of("filter.scale");
  second.write(weights.tensors);
  EXPECT_NEAR(of("filter.mean"), mean, 1e-5);
  EXPECT_NEAR(of("filter.scale"), scale, 1e-6);
}

TEST(NetSpec, AFilterStandsBetweenTheObservationsAndAllThatReadsThem) {
  const NetSpec spec =
      with_filter(make_net(3, {},
                           {{.name = "policy", .output = "p", .hidden = {.units = {4}}},
                            {.name = "value", .output = "v"}}));
  EXPECT_EQ(spec.layers[0].kind, LayerKind::filter);
  EXPECT_EQ(spec.layers[1].source, 0);
  EXPECT_EQ(spec.layers[2].source, 1);
  EXPECT_EQ(spec.layers[3].source, 0);
  EXPECT_EQ(spec.outputs, (std::vector<NetOutput>{{"p", {2}}, {"v", {3}}}));
  EXPECT_NE(summary(spec).find("Non-trainable params: 6"), std::string::npos);
}

Fragment rewards_of(const std::vector<float>& rewards, Ending ending) {
  PolicySteps steps;
  steps.columns = RecordBatch({{column::kRewards, DType::float32, {}}}, std::ssize(rewards));
  std::ranges::copy(rewards, steps.columns.column<float>(column::kRewards).data());
  steps.segments.push_back({.length = std::ssize(rewards), .ending = ending});
  Fragment out;
  out.policies.push_back(std::move(steps));
  return out;
}

std::vector<float> filtered(RewardFilter& filter, const std::vector<float>& rewards,
                            Ending ending) {
  std::vector<Fragment> fragments;
  fragments.push_back(rewards_of(rewards, ending));
  filter.apply(fragments);
  const auto out = fragments[0].policies[0].columns.column<float>(column::kRewards).span();
  return {out.begin(), out.end()};
}

// gamma 1/2, rewards 4, 2: sums 4 and 4; then, the episode going on, 6: sum 8
TEST(RewardFilter, DividesByTheDeviationOfDiscountedSums) {
  RewardFilter filter(0.5);
  filtered(filter, {4, 2}, Ending::cut);
  // sums 4, 4, 8: mean 16/3, variance (16/9 + 16/9 + 64/9) / 2
  EXPECT_NEAR(filtered(filter, {6}, Ending::cut)[0], 6 / std::sqrt(96.0 / 18.0), 1e-5);
}

TEST(RewardFilter, AnEndingStartsTheSumAnew) {
  RewardFilter filter(0.5);
  filtered(filter, {4, 2}, Ending::truncated);
  // sums 4, 4, 6: mean 14/3, variance (4/9 + 4/9 + 16/9) / 2
  EXPECT_NEAR(filtered(filter, {6}, Ending::cut)[0], 6 / std::sqrt(24.0 / 18.0), 1e-5);
}

TEST(RewardFilter, IsSavedWithItsRunningSums) {
  RewardFilter filter(0.5);
  filtered(filter, {4, 2}, Ending::cut);
  CheckpointData data;
  filter.save(data);
  RewardFilter other(0.5);
  other.load(data);
  EXPECT_EQ(filtered(other, {6}, Ending::cut), filtered(filter, {6}, Ending::cut));
}

}  // namespace
}  // namespace knurl
