#include <bit>

#include <gtest/gtest.h>

#include "knurl/models/columns.h"
#include "knurl/models/fast/net_policy.h"

namespace knurl {
namespace {

const SpaceLayout kObservations(Box{.shape = {2}});

NetPolicy policy_for(const Space& action_space, int cells = 5) {
  const SpaceLayout actions(action_space);
  const ActionDistribution distribution = distribution_for(action_space);
  const NetSpec net = make_net(
      2, {.units = {4}},
      {{.name = "policy",
        .output = column::kDistInputs,
        .size = num_inputs(distribution),
        .init_norm = 1.0},
       {.name = "value", .output = column::kValues, .init_norm = 1.0}},
      LstmSpec{.cells = cells,
               .extras = {
                   {column::kPreviousActions, DType::float32, {encoded_action_size(distribution)}},
                   {column::kPreviousRewards, DType::float32, {}}}});
  NetPolicy policy({.net = net,
                    .observations = kObservations,
                    .actions = actions,
                    .exploration = std::make_unique<StochasticSampling>()});
  policy.set_weights(fresh_weights(net, Rng(1)));
  return policy;
}

/// Rows of observations, and the streams of as many envs.
struct Scene {
  explicit Scene(std::int64_t n)
      : batch(kObservations.columns("obs"), n), rows(kObservations, batch, "obs") {
    Rng rng(2);
    for (std::int64_t row = 0; row < n; ++row) {
      sample(Row(rows, row), rng);
      rngs.push_back(Rng(3).split("row", static_cast<std::uint64_t>(row)));
    }
  }
  RecordBatch batch;
  Rows rows;
  std::vector<Rng> rngs;
};

TEST(RecurrentPolicy, RemembersStateAndActionAndLeavesTheRewardToTheCaller) {
  NetPolicy policy = policy_for(Discrete{.n = 3, .start = 7});
  EXPECT_EQ(policy.memory_columns(),
            (std::vector<ColumnSpec>{{"state_in_0", DType::float32, {5}},
                                     {"state_in_1", DType::float32, {5}},
                                     {"prev_actions", DType::float32, {3}},
                                     {"prev_rewards", DType::float32, {}}}));
  Scene scene(4);
  RecordBatch memory(policy.memory_columns(), 4);
  memory.column<float>("prev_rewards")[2] = 5.0F;
  const PolicyOutput output =
      policy.act({.observations = scene.rows, .rows = 4, .rngs = scene.rngs, .memory = &memory});
  const auto actions = output.columns->column<std::int64_t>(column::kActions);
  for (std::int64_t row = 0; row < 4; ++row) {
    for (std::int64_t i = 0; i < 3; ++i) {
      EXPECT_EQ(memory.column<float>("prev_actions").row(row)[static_cast<std::size_t>(i)],
                actions[row] == i ? 1.0F : 0.0F);
    }
    EXPECT_NE(memory.column<float>("state_in_0").row(row)[4], 0.0F);
    EXPECT_NE(memory.column<float>("state_in_1").row(row)[4], 0.0F);
  }
  EXPECT_EQ(memory.column<float>("prev_rewards")[2], 5.0F);
}

TEST(RecurrentPolicy, MultiDiscreteActionsAreRememberedAsOneHotsInARow) {
  NetPolicy policy = policy_for(MultiDiscrete{.nvec = {2, 3}});
  Scene scene(6);
  RecordBatch memory(policy.memory_columns(), 6);
  const PolicyOutput output =
      policy.act({.observations = scene.rows, .rows = 6, .rngs = scene.rngs, .memory = &memory});
  for (std::int64_t row = 0; row < 6; ++row) {
    const auto action = output.columns->column<std::int64_t>(column::kActions).row(row);
    std::vector<float> expected(5);
    expected[static_cast<std::size_t>(action[0])] = 1.0F;
    expected[static_cast<std::size_t>(2 + action[1])] = 1.0F;
    const auto got = memory.column<float>("prev_actions").row(row);
    EXPECT_EQ(std::vector<float>(got.begin(), got.end()), expected);
  }
}

TEST(RecurrentPolicy, BoxActionsAreRememberedAsThePolicyMeansThem) {
  NetPolicy policy = policy_for(Box{.shape = {2}, .low = -10.0, .high = 10.0});
  Scene scene(3);
  RecordBatch memory(policy.memory_columns(), 3);
  const PolicyOutput output =
      policy.act({.observations = scene.rows, .rows = 3, .rngs = scene.rngs, .memory = &memory});
  for (std::size_t i = 0; i < 6; ++i) {
    EXPECT_EQ(memory.column<float>("prev_actions").span()[i],
              output.columns->column<float>(column::kActions).span()[i]);
  }
}

TEST(RecurrentPolicy, EverythingRememberedChangesWhatItSays) {
  NetPolicy policy = policy_for(Discrete{.n = 3});
  Scene scene(1);
  RecordBatch memory(policy.memory_columns(), 1);
  const auto value = [&] {
    float out = 0.0F;
    policy.values({.observations = scene.rows, .rows = 1, .memory = &memory}, {&out, 1});
    return out;
  };
  const float fresh = value();
  EXPECT_EQ(value(), fresh) << "asking for a value is no step";
  for (const char* name : {"state_in_0", "state_in_1", "prev_actions", "prev_rewards"}) {
    memory.column<float>(name).row(0)[0] = 1.0F;
    EXPECT_NE(value(), fresh) << name;
    memory.column<float>(name).row(0)[0] = 0.0F;
  }
}

TEST(RecurrentPolicy, ARowHasTheSameBitsWhateverTheBatch) {
  const std::int64_t n = 9;
  const auto run = [&](std::int64_t size) {
    std::vector<std::uint32_t> bits;
    NetPolicy policy = policy_for(Discrete{.n = 3}, 19);
    Scene scene(n);
    RecordBatch memory(policy.memory_columns(), n);
    for (int step = 0; step < 3; ++step) {
      for (std::int64_t first = 0; first < n; first += size) {
        RecordBatch part(policy.memory_columns(), size);
        part.copy_rows(0, memory, first, size);
        const PolicyOutput output =
            policy.act({.observations = ConstRows(scene.rows).from(first),
                        .rows = size,
                        .rngs = std::span(scene.rngs).subspan(static_cast<std::size_t>(first)),
                        .memory = &part});
        for (std::int64_t row = 0; row < size; ++row) {
          bits.push_back(
              std::bit_cast<std::uint32_t>(output.columns->column<float>(column::kValues)[row]));
        }
        memory.copy_rows(first, part, 0, size);
      }
    }
    return bits;
  };
  EXPECT_EQ(run(9), run(1));
  EXPECT_EQ(run(9), run(3));
}

TEST(RecurrentPolicy, WithoutItsMemoryItDoesNotAct) {
  NetPolicy policy = policy_for(Discrete{.n = 3});
  Scene scene(1);
  EXPECT_THROW(policy.act({.observations = scene.rows, .rows = 1, .rngs = scene.rngs}),
               std::logic_error);
}

}  // namespace
}  // namespace knurl
