#include <algorithm>
#include <functional>
#include <map>

#include <gtest/gtest.h>

#include "knurl/core/base/error.h"
#include "knurl/models/tabular/tabular_policy.h"

namespace knurl {
namespace {

using Numbers = std::vector<std::int64_t>;

std::string refusal(ErrorKind kind, const std::function<void()>& call) {
  try {
    call();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), kind);
    return error.what();
  }
  return "accepted";
}

/// The number of an observation whose elements, over all leaves, are these.
std::int64_t index_of(const Space& space, const Numbers& elements) {
  const SpaceLayout layout(space);
  SpaceValue value(layout);
  auto next = elements.begin();
  for (std::size_t leaf = 0; leaf < layout.leaves().size(); ++leaf) {
    visit(layout.leaves()[leaf].dtype, [&]<class T>(T*) {
      for (T& element : value.row().leaf<T>(leaf)) element = static_cast<T>(*next++);
    });
  }
  return StateIndex(layout).of(std::as_const(value).row());
}

std::int64_t size_of_index(const Space& space) {
  return StateIndex(SpaceLayout(space)).size();
}

TEST(StateIndex, CountsADiscreteFromItsStart) {
  const Space space = Discrete{.n = 3, .start = -1};
  EXPECT_EQ(size_of_index(space), 3);
  EXPECT_EQ(index_of(space, {-1}), 0);
  EXPECT_EQ(index_of(space, {1}), 2);
}

TEST(StateIndex, TheLastElementCountsFastest) {
  const Space multi = MultiDiscrete{.nvec = {2, 3}, .start = {10, -2}};
  EXPECT_EQ(size_of_index(multi), 6);
  EXPECT_EQ(index_of(multi, {10, -2}), 0);
  EXPECT_EQ(index_of(multi, {10, 0}), 2);
  EXPECT_EQ(index_of(multi, {11, -2}), 3);
  EXPECT_EQ(index_of(multi, {11, 0}), 5);

  const Space binary = MultiBinary{.shape = {2, 2}};
  EXPECT_EQ(size_of_index(binary), 16);
  EXPECT_EQ(index_of(binary, {1, 0, 1, 1}), 0b1011);
}

TEST(StateIndex, LeavesCountInOrder) {
  const Space tuple = Tuple{{Discrete{.n = 5}, MultiBinary{.shape = {2}}}};
  EXPECT_EQ(size_of_index(tuple), 20);
  EXPECT_EQ(index_of(tuple, {3, 1, 0}), 3 * 4 + 2);

  const Space dict = Dict{{{"b", Discrete{.n = 5}}, {"a", Discrete{.n = 2, .start = 7}}}};
  EXPECT_EQ(size_of_index(dict), 10);
  EXPECT_EQ(index_of(dict, {8, 3}), 1 * 5 + 3);  // a, then b
}

TEST(StateIndex, EachObservationHasANumberOfItsOwn) {
  const SpaceLayout layout(Space(Dict{{{"door", MultiBinary{.shape = {2}}},
                                       {"place", MultiDiscrete{.nvec = {2, 3}, .start = {-1, 4}}},
                                       {"task", Tuple{{Discrete{.n = 2, .start = 5}}}}}}));
  const StateIndex states(layout);
  SpaceValue value(layout);
  std::map<std::int64_t, std::vector<float>> seen;
  Rng rng(1);
  for (int i = 0; i < 2'000; ++i) {
    sample(value.row(), rng);
    std::vector<float> flat(static_cast<std::size_t>(flat_size(layout)));
    flatten(std::as_const(value).row(), flat);
    const std::int64_t index = states.of(std::as_const(value).row());
    EXPECT_EQ(seen.emplace(index, flat).first->second, flat);
  }
  EXPECT_EQ(states.size(), 4 * 6 * 2);
  EXPECT_EQ(static_cast<std::int64_t>(seen.size()), states.size());
  EXPECT_EQ(seen.begin()->first, 0);
  EXPECT_EQ(seen.rbegin()->first, states.size() - 1);
}

TEST(StateIndex, SpacesOfRealNumbersAreRefusedByName) {
  const auto refused = [](const Space& space) {
    return refusal(ErrorKind::config, [&] { size_of_index(space); });
  };
  const std::string rule =
      ": a table needs a finite one, made of Discrete, MultiDiscrete and MultiBinary";
  EXPECT_EQ(refused(Box{.shape = {2}, .low = 0.0, .high = 1.0}),
            "observation space Box([2], 0, 1, float32)" + rule);
  EXPECT_EQ(refused(Tuple{{Discrete{.n = 2}, Box{.shape = {1}, .low = 0.0, .high = 1.0}}}),
            "observation space Tuple(Discrete(2), Box([1], 0, 1, float32))" + rule);
}

TEST(StateIndex, TenMillionValuesAreTheMost) {
  EXPECT_EQ(size_of_index(Discrete{.n = 10'000'000}), 10'000'000);
  EXPECT_EQ(size_of_index(MultiDiscrete{.nvec = {10, 1'000, 1'000}}), 10'000'000);
  const std::int64_t huge = std::int64_t{1} << 40;
  for (const Space& space :
       {Space(Discrete{.n = 10'000'001}), Space(MultiDiscrete{.nvec = {huge, huge}}),
        Space(MultiDiscrete{.nvec = {3, 3'333'334}}), Space(MultiBinary{.shape = {100}})}) {
    EXPECT_EQ(refusal(ErrorKind::config, [&] { size_of_index(space); }),
              fmt::format("observation space {}: more than 10000000 values are too many for a "
                          "table",
                          space.text()));
  }
}

TEST(StateIndex, AnObservationOutsideItsSpaceIsAnError) {
  const auto refused = [](const Space& space, const Numbers& elements) {
    return refusal(ErrorKind::env, [&] { index_of(space, elements); });
  };
  EXPECT_EQ(refused(Discrete{.n = 3}, {3}),
            "observation outside its space: element 0: 3 is not in [0, 2]");
  EXPECT_EQ(refused(Discrete{.n = 3, .start = 1}, {0}),
            "observation outside its space: element 0: 0 is not in [1, 3]");
  EXPECT_EQ(refused(MultiBinary{.shape = {2}}, {1, 2}),
            "observation outside its space: element 1: 2 is not in [0, 1]");
  EXPECT_EQ(refused(Dict{{{"a", Discrete{.n = 2}}, {"b", Discrete{.n = 2}}}}, {0, -1}),
            "observation outside its space: leaf b, element 0: -1 is not in [0, 1]");
}

// three states, two actions
const SpaceLayout kStates(Space(Discrete{.n = 3, .start = 1}));
const SpaceLayout kActions(Space(Discrete{.n = 2, .start = 5}));

Weights table_of(const std::vector<float>& values) {
  Weights out = fresh_table(StateIndex(kStates), kActions);
  std::ranges::copy(values, out.tensors.column<float>(kQTable).data());
  out.version = 7;
  return out;
}

/// What the policy says for these observations, and what the env gets.
struct Acts {
  Numbers actions;
  Numbers env_actions;
  bool operator==(const Acts&) const = default;
};

Acts act(TabularPolicy& policy, const Numbers& observations) {
  const auto rows = static_cast<std::int64_t>(observations.size());
  RecordBatch batch(kStates.columns("obs"), rows);
  std::ranges::copy(observations, batch.column<std::int64_t>("obs").data());
  std::vector<Rng> rngs(observations.size());
  const PolicyOutput output =
      policy.act({.observations = Rows(kStates, batch, "obs"), .rows = rows, .rngs = rngs});
  Acts out;
  for (std::int64_t row = 0; row < rows; ++row) {
    out.actions.push_back(output.columns->column<std::int64_t>(column::kActions)[row]);
    out.env_actions.push_back(ConstRow(output.env_actions, row).as<std::int64_t>()[0]);
  }
  return out;
}

TEST(TabularPolicy, EachStateReadsItsOwnRowOfTheTable) {
  TabularPolicy policy(kStates, kActions, std::make_unique<Greedy>());
  policy.set_weights(table_of({0, 1, 3, 2, -1, -0.5F}));
  EXPECT_EQ(act(policy, {1, 2, 3, 2}), (Acts{{1, 0, 1, 0}, {6, 5, 6, 5}}));
  EXPECT_EQ(act(policy, {3}), (Acts{{1}, {6}}));
}

TEST(TabularPolicy, OfEqualValuesTheFirstIsChosen) {
  TabularPolicy policy(kStates, kActions, std::make_unique<Greedy>());
  EXPECT_EQ(act(policy, {1, 2, 3}), (Acts{{0, 0, 0}, {5, 5, 5}}));
  policy.set_weights(table_of({2, 2, -1, -1, 0, 0.5F}));
  EXPECT_EQ(act(policy, {1, 2, 3}), (Acts{{0, 0, 1}, {5, 5, 6}}));
}

TEST(TabularPolicy, OfTwoTablesTheMeanDecides) {
  TabularPolicy policy(kStates, kActions, std::make_unique<Greedy>(), QTables::two);
  Weights weights = fresh_table(StateIndex(kStates), kActions, QTables::two);
  std::ranges::copy(std::vector<float>{0, 1, 3, 2, 1, 0},
                    weights.tensors.column<float>(kQTable).data());
  std::ranges::copy(std::vector<float>{3, 0, 0, 2, 0, 1},
                    weights.tensors.column<float>(kSecondQTable).data());
  policy.set_weights(weights);
  EXPECT_EQ(act(policy, {1, 2, 3}).actions, (Numbers{0, 1, 0}));  // 1.5 0.5, 1.5 2, 0.5 0.5
  EXPECT_EQ(policy.summary(), "two tables of action values: 3 states x 2 actions\n");
  EXPECT_THROW(policy.set_weights(table_of({0, 0, 0, 0, 0, 0})), Error);
}

TEST(ActingValues, AreTheMeanOfTwoTablesFromAnElementOn) {
  Weights weights = fresh_table(StateIndex(kStates), kActions, QTables::two);
  std::ranges::copy(std::vector<float>{0, 1, 2, 3, 4, 5},
                    weights.tensors.column<float>(kQTable).data());
  std::ranges::copy(std::vector<float>{6, 6, 6, 6, 6, 6},
                    weights.tensors.column<float>(kSecondQTable).data());
  std::vector<float> out(2);
  acting_values(weights.tensors, 2, out);
  EXPECT_EQ(out, (std::vector<float>{4, 4.5F}));
}

TEST(TabularPolicy, NoObservationsAreNoActions) {
  TabularPolicy policy(kStates, kActions, std::make_unique<Greedy>());
  EXPECT_EQ(act(policy, {}), Acts{});
}

TEST(TabularPolicy, AnObservationOutsideItsSpaceIsAnError) {
  TabularPolicy policy(kStates, kActions, std::make_unique<Greedy>());
  EXPECT_EQ(refusal(ErrorKind::env,
                    [&] {
                      act(policy, {1, 4});
                    }),
            "observation outside its space: element 0: 4 is not in [1, 3]");
}

TEST(TabularPolicy, WeightsOfAnotherShapeAreRefusedAndTheOldOnesStay) {
  TabularPolicy policy(kStates, kActions, std::make_unique<Greedy>());
  policy.set_weights(table_of({0, 1, 0, 1, 0, 1}));
  for (const auto& [states, actions] : {std::pair{2, 3}, std::pair{3, 3}, std::pair{4, 2}}) {
    const Weights other = fresh_table(StateIndex(SpaceLayout(Space(Discrete{.n = states}))),
                                      SpaceLayout(Space(Discrete{.n = actions})));
    EXPECT_EQ(refusal(ErrorKind::config, [&] { policy.set_weights(other); }),
              "the weights are those of another model");
  }
  EXPECT_EQ(policy.weights().version, 7);
  EXPECT_EQ(act(policy, {1, 2, 3}).actions, (Numbers{1, 1, 1}));
}

TEST(TabularPolicy, HasNoValues) {
  TabularPolicy policy(kStates, kActions, std::make_unique<Greedy>());
  EXPECT_FALSE(policy.has_values());
  EXPECT_THROW(policy.values({}, {}), std::logic_error);
  EXPECT_EQ(policy.output_columns(),
            (std::vector<ColumnSpec>{{column::kActions, DType::int64, {}}}));
}

TEST(FreshTable, IsZeroForEveryStateAndAction) {
  const Weights table = fresh_table(StateIndex(kStates), kActions);
  EXPECT_EQ(table.version, 0);
  EXPECT_EQ(table.tensors.columns(), (std::vector<ColumnSpec>{{kQTable, DType::float32, {3, 2}}}));
  EXPECT_TRUE(
      std::ranges::equal(table.tensors.column<float>(kQTable).span(), std::vector<float>(6, 0.0F)));
}

TEST(FreshTable, IsRefusedBeyondAHundredMillionValues) {
  const StateIndex states(SpaceLayout(Space(Discrete{.n = 10'000'000})));
  EXPECT_EQ(refusal(ErrorKind::config,
                    [&] { fresh_table(states, SpaceLayout(Space(Discrete{.n = 11}))); }),
            "a table of 10000000 states and 11 actions is too large: at most 100000000 values");
}

TEST(FreshTable, NeedsDiscreteActions) {
  EXPECT_EQ(
      refusal(ErrorKind::config,
              [] { fresh_table(StateIndex(kStates), SpaceLayout(Space(Box{.shape = {1}}))); }),
      "action space Box([1], -inf, inf, float32): a table needs a Discrete one");
}

}  // namespace
}  // namespace knurl
