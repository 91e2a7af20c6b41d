#include <cmath>
#include <limits>
#include <map>

#include <gtest/gtest.h>

#include "knurl/algorithms/replay/replay_buffer.h"
#include "knurl/core/base/error.h"

namespace knurl {
namespace {

TEST(SumTree, FindsTheSlotThatAMassFallsInto) {
  SumTree tree(5);
  for (int slot = 0; slot < 5; ++slot) tree.set(slot, slot + 1.0);  // 1 2 3 4 5
  EXPECT_EQ(tree.total(), 15.0);
  EXPECT_EQ(tree.least(), 1.0);
  EXPECT_EQ(tree.find(0.0), 0);
  EXPECT_EQ(tree.find(0.999), 0);
  EXPECT_EQ(tree.find(1.0), 1);
  EXPECT_EQ(tree.find(5.999), 2);
  EXPECT_EQ(tree.find(6.0), 3);
  EXPECT_EQ(tree.find(14.999), 4);
}

TEST(SumTree, NeverFindsAnEmptySlot) {
  SumTree tree(4);
  tree.set(1, 2.0);
  EXPECT_EQ(tree.find(0.0), 1);
  EXPECT_EQ(tree.find(2.0), 1) << "a mass that rounding has made too large";
  tree.set(2, 1.0);
  tree.set(1, 0.0);
  EXPECT_EQ(tree.find(0.5), 2);
  EXPECT_EQ(tree.least(), 1.0);
}

TEST(SumTree, AnEmptyOneHasNoLeastWeight) {
  EXPECT_EQ(SumTree(3).least(), std::numeric_limits<double>::infinity());
  EXPECT_EQ(SumTree(3).total(), 0.0);
  EXPECT_THROW(SumTree(3).set(0, std::nan("")), std::logic_error);
}

TEST(SumTree, IsTheSameFromOneSetAllAsFromManySets) {
  Rng rng(1);
  SumTree one(37);
  std::vector<double> weights(64, 0.0);
  for (int i = 0; i < 200; ++i) {
    const auto slot = static_cast<std::size_t>(rng.below(37));
    weights[slot] = rng.uniform();
    one.set(static_cast<std::int64_t>(slot), weights[slot]);
  }
  SumTree other(37);
  other.set_all(weights);
  EXPECT_EQ(one.total(), other.total());
  EXPECT_EQ(one.least(), other.least());
  for (double mass = 0.0; mass < one.total(); mass += 0.1) {
    EXPECT_EQ(one.find(mass), other.find(mass));
  }
}

const std::vector<ColumnSpec> kColumns{{"x", DType::float32, {2}}, {"n", DType::int64, {}}};

/// Adds rows numbered from `first` on.
void add(ReplayBuffer& buffer, std::int64_t first, std::int64_t count) {
  for (std::int64_t i = first; i < first + count; ++i) {
    const std::int64_t row = buffer.append();
    buffer.rows().column<std::int64_t>("n")[row] = i;
    buffer.rows().column<float>("x").row(row)[1] = static_cast<float>(i) / 2.0F;
  }
}

std::map<std::int64_t, int> draws(const ReplayBuffer& buffer, int count, Rng& rng) {
  std::vector<std::int32_t> rows(static_cast<std::size_t>(count));
  buffer.draw(rng, rows);
  std::map<std::int64_t, int> out;
  for (const std::int32_t row : rows) ++out[buffer.rows().column<std::int64_t>("n")[row]];
  return out;
}

TEST(ReplayBuffer, KeepsTheNewestRowsAndDrawsNoOthers) {
  Rng rng(3);
  ReplayBuffer buffer(kColumns, {.capacity = 4});
  add(buffer, 0, 3);
  EXPECT_EQ(buffer.size(), 3);
  EXPECT_EQ(draws(buffer, 300, rng).size(), 3U);
  add(buffer, 3, 3);
  EXPECT_EQ(buffer.size(), 4);
  EXPECT_EQ(buffer.added(), 6);
  const auto seen = draws(buffer, 400, rng);
  EXPECT_EQ(seen.size(), 4U);
  EXPECT_EQ(seen.begin()->first, 2);
}

TEST(ReplayBuffer, DrawsAllRowsAlikeWithoutPriorities) {
  Rng rng(4);
  ReplayBuffer buffer(kColumns, {.capacity = 5});
  add(buffer, 0, 5);
  for (const auto& [row, count] : draws(buffer, 50'000, rng)) EXPECT_NEAR(count, 10'000, 400);
  std::vector<float> weights(2);
  buffer.importance_weights(std::vector<std::int32_t>{0, 3}, 0.4, weights);
  EXPECT_EQ(weights, (std::vector<float>{1.0F, 1.0F}));
}

TEST(ReplayBuffer, DrawsByPriorityToThePowerOfAlpha) {
  Rng rng(5);
  ReplayBuffer buffer(kColumns,
                      {.capacity = 8, .priorities = PriorityOptions{.alpha = 0.5, .epsilon = 0.5}});
  add(buffer, 0, 3);
  // priorities 1, 4, 9 after epsilon; their roots 1, 2, 3
  buffer.update_priorities(std::vector<std::int32_t>{0, 1, 2},
                           std::vector<float>{0.5F, -3.5F, 8.5F});
  EXPECT_DOUBLE_EQ(buffer.chance(0), 1.0 / 6);
  EXPECT_DOUBLE_EQ(buffer.chance(1), 2.0 / 6);
  EXPECT_DOUBLE_EQ(buffer.chance(2), 3.0 / 6);
  const auto seen = draws(buffer, 60'000, rng);
  EXPECT_NEAR(seen.at(0), 10'000, 400);
  EXPECT_NEAR(seen.at(1), 20'000, 500);
  EXPECT_NEAR(seen.at(2), 30'000, 500);
}

// (N P(i))^-beta / max_j (N P(j))^-beta, beta = 1/2: sqrt of 1/6 over each chance
TEST(ReplayBuffer, ImportanceWeightsMakeUpForTheChance) {
  ReplayBuffer buffer(kColumns, {.capacity = 8, .priorities = PriorityOptions{.alpha = 1.0}});
  add(buffer, 0, 3);
  buffer.update_priorities(std::vector<std::int32_t>{0, 1, 2}, std::vector<float>{1, 2, 3});
  std::vector<float> weights(3);
  buffer.importance_weights(std::vector<std::int32_t>{0, 1, 2}, 0.5, weights);
  EXPECT_NEAR(weights[0], 1.0, 1e-6);
  EXPECT_NEAR(weights[1], std::sqrt(1.0 / 2), 1e-6);
  EXPECT_NEAR(weights[2], std::sqrt(1.0 / 3), 1e-6);
  buffer.importance_weights(std::vector<std::int32_t>{0, 1, 2}, 0.0, weights);
  EXPECT_EQ(weights, (std::vector<float>{1, 1, 1}));
}

TEST(ReplayBuffer, ANewRowHasTheLargestPriorityThatAnyHad) {
  ReplayBuffer buffer(kColumns, {.capacity = 3, .priorities = PriorityOptions{.alpha = 1.0}});
  add(buffer, 0, 3);
  buffer.update_priorities(std::vector<std::int32_t>{0, 1, 2}, std::vector<float>{7, 1, 1});
  buffer.update_priorities(std::vector<std::int32_t>{0}, std::vector<float>{1});
  add(buffer, 3, 1);  // takes the place of row 0
  EXPECT_NEAR(buffer.chance(0), 7.0 / 9.0, 1e-6);
}

TEST(ReplayBuffer, ComesBackFromACheckpointAsItWas) {
  for (const bool prioritized : {false, true}) {
    ReplayOptions options{.capacity = 6};
    if (prioritized) options.priorities = PriorityOptions{};
    ReplayBuffer buffer(kColumns, options);
    add(buffer, 0, 9);
    buffer.update_priorities(std::vector<std::int32_t>{1, 4}, std::vector<float>{2.5F, 0.25F});
    CheckpointData data;
    buffer.save(data, "replay.safetensors");
    ReplayBuffer other(kColumns, options);
    other.load(data, "replay.safetensors");
    EXPECT_EQ(other.size(), 6);
    EXPECT_EQ(other.added(), 9);
    for (std::int64_t row = 0; row < 6; ++row) EXPECT_EQ(other.chance(row), buffer.chance(row));
    Rng a(1);
    Rng b(1);
    EXPECT_EQ(draws(buffer, 100, a), draws(other, 100, b));
    add(buffer, 9, 1);
    add(other, 9, 1);
    EXPECT_EQ(buffer.chance(3), other.chance(3));
  }
}

TEST(ReplayBuffer, RefusesWhatAnotherBufferSaved) {
  ReplayBuffer plain(kColumns, {.capacity = 6});
  add(plain, 0, 2);
  CheckpointData data;
  plain.save(data, "replay.safetensors");
  ReplayBuffer prioritized(kColumns, {.capacity = 6, .priorities = PriorityOptions{}});
  EXPECT_THROW(prioritized.load(data, "replay.safetensors"), Error);
  ReplayBuffer narrow({{"n", DType::int64, {}}}, {.capacity = 6});
  EXPECT_THROW(narrow.load(data, "replay.safetensors"), Error);
}

TEST(ReplayBuffer, HasNothingToDrawWhileEmpty) {
  Rng rng(1);
  std::vector<std::int32_t> rows(1);
  EXPECT_THROW(ReplayBuffer(kColumns, {.capacity = 6}).draw(rng, rows), std::logic_error);
}

}  // namespace
}  // namespace knurl
