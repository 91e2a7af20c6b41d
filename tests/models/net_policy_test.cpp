#include "knurl/models/fast/net_policy.h"

#include <algorithm>
#include <cmath>

#include <gtest/gtest.h>

#include "knurl/core/base/error.h"
#include "knurl/models/columns.h"

namespace knurl {
namespace {

const Space kDiscrete = Discrete{.n = 3, .start = 10};
const Space kBox = Box{.shape = {2}, .low = {-1.0, 0.0}, .high = {1.0, 5.0}};

NetSpec spec_for(const SpaceLayout& observations, const SpaceLayout& actions) {
  return make_net(
      encoded_size(observations), {.units = {19}},
      {{.name = "policy",
        .output = column::kDistInputs,
        .size = num_inputs(distribution_for(actions.space())),
        .init_norm = 1.0},
       {.name = "value", .output = column::kValues, .hidden = {.units = {33}}, .init_norm = 1.0}});
}

/// A policy with fresh weights, and rows of observations with a stream each.
class Scene {
 public:
  Scene(const Space& observation, const Space& action,
        std::unique_ptr<Exploration> exploration = std::make_unique<StochasticSampling>(),
        std::int64_t rows = 37)
      : observations_(observation),
        actions_(action),
        batch_(observations_.columns(column::kObservations), rows),
        rows_(observations_, batch_, column::kObservations),
        policy_({.net = spec_for(observations_, actions_),
                 .observations = observations_,
                 .actions = actions_,
                 .exploration = std::move(exploration)}) {
    policy_.set_weights(fresh_weights(spec(), Rng(1)));
    Rng rng(2);
    for (std::int64_t row = 0; row < rows; ++row) {
      sample(Row(rows_, row), rng);
      rngs_.push_back(Rng(3).split("row", static_cast<std::uint64_t>(row)));
    }
  }

  NetPolicy& policy() { return policy_; }
  [[nodiscard]] NetSpec spec() const { return spec_for(observations_, actions_); }
  [[nodiscard]] std::int64_t rows() const { return batch_.rows(); }
  [[nodiscard]] ConstRows observations(std::int64_t first = 0) const { return rows_.from(first); }

  /// Acts on rows [first, first + count), each with its stream as it was at the start.
  PolicyOutput act(std::int64_t first, std::int64_t count) {
    std::vector<Rng> rngs(rngs_.begin() + first, rngs_.begin() + first + count);
    return policy_.act({.observations = observations(first), .rows = count, .rngs = rngs});
  }
  PolicyOutput act() { return act(0, rows()); }

 private:
  SpaceLayout observations_;
  SpaceLayout actions_;
  RecordBatch batch_;
  Rows rows_;
  std::vector<Rng> rngs_;
  NetPolicy policy_;
};

/// A row of everything that a policy says, as bytes.
std::vector<std::byte> bytes_of(const PolicyOutput& output, std::int64_t row) {
  std::vector<std::byte> out;
  const auto append = [&](const std::byte* from, std::size_t size) {
    out.insert(out.end(), from, from + size);
  };
  for (std::size_t i = 0; i < output.columns->columns().size(); ++i) {
    const std::size_t size = output.columns->row_bytes(i);
    append(output.columns->data(i) + static_cast<std::size_t>(row) * size, size);
  }
  append(output.env_actions.leaf_row(0, row), output.env_actions.layout().leaves()[0].bytes());
  return out;
}

std::vector<std::vector<std::byte>> bytes_of(const PolicyOutput& output) {
  std::vector<std::vector<std::byte>> out;
  for (std::int64_t row = 0; row < output.columns->rows(); ++row) {
    out.push_back(bytes_of(output, row));
  }
  return out;
}

TEST(NetPolicy, SaysWhatItsColumnsPromise) {
  Scene discrete(Box{.shape = {4}}, kDiscrete);
  EXPECT_EQ(discrete.policy().output_columns(),
            (std::vector<ColumnSpec>{{"actions", DType::int64, {}},
                                     {"action_logp", DType::float32, {}},
                                     {"action_dist_inputs", DType::float32, {3}},
                                     {"vf_preds", DType::float32, {}}}));
  EXPECT_EQ(discrete.act().columns->columns(), discrete.policy().output_columns());

  Scene box(Box{.shape = {4}}, kBox);
  EXPECT_EQ(box.policy().output_columns(),
            (std::vector<ColumnSpec>{{"actions", DType::float32, {2}},
                                     {"action_logp", DType::float32, {}},
                                     {"action_dist_inputs", DType::float32, {4}},
                                     {"vf_preds", DType::float32, {}}}));
  EXPECT_EQ(box.act().columns->columns(), box.policy().output_columns());
}

TEST(NetPolicy, AddsUpByHand) {
  // logits (x, 0), value 2 x + 0.5
  const SpaceLayout observations(Space(Box{.shape = {1}}));
  const SpaceLayout actions(Space(Discrete{.n = 2}));
  const NetSpec spec = make_net(1, {},
                                {{.name = "policy", .output = column::kDistInputs, .size = 2},
                                 {.name = "value", .output = column::kValues}});
  Weights weights{.tensors = RecordBatch(tensors_of(spec), 1), .version = 4};
  weights.tensors.column<float>("policy.out.weight").data()[0] = 1.0F;
  weights.tensors.column<float>("value.out.weight").data()[0] = 2.0F;
  weights.tensors.column<float>("value.out.bias").data()[0] = 0.5F;
  NetPolicy policy({.net = spec,
                    .observations = observations,
                    .actions = actions,
                    .exploration = std::make_unique<Greedy>()});
  policy.set_weights(weights);
  EXPECT_EQ(policy.weights().version, 4);

  // p = (3/4, 1/4), (1/4, 3/4)
  RecordBatch batch(observations.columns("obs"), 2);
  batch.column<float>("obs")[0] = std::log(3.0F);
  batch.column<float>("obs")[1] = -std::log(3.0F);
  std::vector<Rng> rngs(2);
  const PolicyOutput output =
      policy.act({.observations = Rows(observations, batch, "obs"), .rows = 2, .rngs = rngs});
  const RecordBatch& said = *output.columns;
  for (std::int64_t row = 0; row < 2; ++row) {
    const float x = batch.column<float>("obs")[row];
    EXPECT_EQ(said.column<std::int64_t>(column::kActions)[row], row);
    EXPECT_EQ(ConstRow(output.env_actions, row).index(), row);
    EXPECT_NEAR(said.column<float>(column::kActionLogProb)[row], std::log(0.75), 1e-6);
    EXPECT_EQ(said.column<float>(column::kDistInputs).row(row)[0], x);
    EXPECT_EQ(said.column<float>(column::kDistInputs).row(row)[1], 0.0F);
    EXPECT_NEAR(said.column<float>(column::kValues)[row], 2.0 * x + 0.5, 1e-6);
  }
}

TEST(NetPolicy, LogProbabilitiesBelongToThePolicysOwnActions) {
  for (const Space& action : {kDiscrete, kBox}) {
    Scene scene(Box{.shape = {4}}, action);
    const RecordBatch& said = *scene.act().columns;
    std::visit(
        [&](const auto& d) {
          using Element = typename std::remove_cvref_t<decltype(d)>::Element;
          for (std::int64_t row = 0; row < scene.rows(); ++row) {
            EXPECT_EQ(said.column<float>(column::kActionLogProb)[row],
                      d.log_prob(said.column<float>(column::kDistInputs).row(row).data(),
                                 said.column<Element>(column::kActions).row(row).data()));
          }
        },
        distribution_for(action));
  }
}

TEST(NetPolicy, TheEnvGetsActionsOfItsSpace) {
  for (const Space& action : {kDiscrete, kBox}) {
    Scene scene(Box{.shape = {4}}, action);
    const PolicyOutput output = scene.act();
    for (std::int64_t row = 0; row < scene.rows(); ++row) {
      EXPECT_EQ(violation(ConstRow(output.env_actions, row)), "");
    }
  }
  // the policy's -1 … 1 is the env's 0 … 5
  Scene scene(Box{.shape = {4}}, kBox, std::make_unique<Greedy>());
  const PolicyOutput output = scene.act();
  for (std::int64_t row = 0; row < scene.rows(); ++row) {
    const float said = output.columns->column<float>(column::kActions).row(row)[1];
    EXPECT_NEAR(ConstRow(output.env_actions, row)[1], (std::clamp(said, -1.0F, 1.0F) + 1.0F) * 2.5F,
                1e-5);
  }
}

TEST(NetPolicy, InputsAndValuesAreTheNetsOutputs) {
  for (const Space& observation : {Space(Box{.shape = {4}}), Space(Discrete{.n = 6})}) {
    Scene scene(observation, kDiscrete);
    const RecordBatch said = *scene.act().columns;
    std::vector<float> values(static_cast<std::size_t>(scene.rows()));
    scene.policy().values({.observations = scene.observations(), .rows = scene.rows()}, values);

    const SpaceLayout layout(observation);
    ObservationEncoder encoder(layout);
    fast::FastNet net(scene.spec());
    net.set_weights(scene.policy().weights());
    net.forward(encoder.encode(scene.observations(), scene.rows()), scene.rows(), encoder.size());
    for (std::int64_t row = 0; row < scene.rows(); ++row) {
      EXPECT_TRUE(std::ranges::equal(said.column<float>(column::kDistInputs).row(row),
                                     net.output(column::kDistInputs).row(row)));
      const float value = net.output(column::kValues).row(row)[0];
      EXPECT_EQ(said.column<float>(column::kValues)[row], value);
      EXPECT_EQ(values[static_cast<std::size_t>(row)], value);
    }
  }
}

TEST(NetPolicy, GreedyChoosesTheModeWhateverTheStreams) {
  for (const Space& action : {kDiscrete, kBox}) {
    Scene scene(Box{.shape = {4}}, action, std::make_unique<Greedy>());
    const auto first = bytes_of(scene.act());
    std::vector<Rng> others(static_cast<std::size_t>(scene.rows()), Rng(99));
    EXPECT_EQ(bytes_of(scene.policy().act(
                  {.observations = scene.observations(), .rows = scene.rows(), .rngs = others})),
              first);
  }
  Scene scene(Box{.shape = {4}}, kDiscrete, std::make_unique<Greedy>());
  const RecordBatch& said = *scene.act().columns;
  for (std::int64_t row = 0; row < scene.rows(); ++row) {
    const auto logits = said.column<float>(column::kDistInputs).row(row);
    EXPECT_EQ(said.column<std::int64_t>(column::kActions)[row],
              std::ranges::max_element(logits) - logits.begin());
  }
}

TEST(NetPolicy, ARowHasTheSameBitsWhateverTheBatchAndItsPlace) {
  const Space dict = Dict{{{"a", Discrete{.n = 3}}, {"b", Box{.shape = {2}}}}};
  for (const Space& observation : {Space(Box{.shape = {4}}), dict}) {
    for (const Space& action : {kDiscrete, kBox}) {
      Scene scene(observation, action);
      const auto whole = bytes_of(scene.act());
      Scene part(observation, action);
      for (std::int64_t count = 1; count <= 9; ++count) {
        for (std::int64_t first = 0; first + count <= part.rows(); first += 3) {
          const PolicyOutput output = part.act(first, count);
          std::vector<float> values(static_cast<std::size_t>(count));
          for (std::int64_t row = 0; row < count; ++row) {
            ASSERT_EQ(bytes_of(output, row), whole[static_cast<std::size_t>(first + row)])
                << count << " rows from " << first;
            values[static_cast<std::size_t>(row)] =
                output.columns->column<float>(column::kValues)[row];
          }
          std::vector<float> again(values.size());
          part.policy().values({.observations = part.observations(first), .rows = count}, again);
          ASSERT_EQ(again, values);
        }
      }
    }
  }
}

TEST(NetPolicy, NoObservationsAreNoActions) {
  for (const Space& observation : {Space(Box{.shape = {4}}), Space(Discrete{.n = 3})}) {
    Scene scene(observation, kDiscrete);
    EXPECT_EQ(scene.act(0, 0).columns->rows(), 0);
    Scene other(observation, kDiscrete);
    other.policy().values({.observations = other.observations()}, {});
    EXPECT_EQ(bytes_of(other.act()), bytes_of(scene.act()));
  }
}

TEST(NetPolicy, ANetWithoutAValueHasNone) {
  const NetSpec spec =
      make_net(1, {}, {{.name = "policy", .output = column::kDistInputs, .size = 2}});
  const SpaceLayout observations(Space(Box{.shape = {1}}));
  NetPolicy policy({.net = spec,
                    .observations = observations,
                    .actions = SpaceLayout(Space(Discrete{.n = 2})),
                    .exploration = std::make_unique<Greedy>()});
  EXPECT_FALSE(policy.has_values());
  EXPECT_EQ(policy.output_columns().size(), 3U);
  RecordBatch batch(observations.columns("obs"), 1);
  std::vector<float> out(1);
  EXPECT_THROW(policy.values({.observations = Rows(observations, batch, "obs"), .rows = 1}, out),
               std::logic_error);
}

TEST(NetPolicy, WeightsOfAnotherNetAreRefusedAndTheOldOnesStay) {
  Scene scene(Box{.shape = {4}}, kDiscrete);
  const auto before = bytes_of(scene.act());
  const SpaceLayout wider(Space(Box{.shape = {5}}));
  const Weights other = fresh_weights(spec_for(wider, SpaceLayout(kDiscrete)), Rng(1));
  try {
    scene.policy().set_weights(other);
    ADD_FAILURE() << "accepted";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::config);
    EXPECT_EQ(std::string(error.what()), "the weights are those of another model");
  }
  EXPECT_EQ(bytes_of(scene.act()), before);
}

TEST(NetPolicy, SpoiltWeightsAreAnErrorForABox) {
  Scene scene(Box{.shape = {4}}, kBox, std::make_unique<Greedy>());
  Weights spoilt = scene.policy().weights();
  spoilt.tensors.column<float>("policy.out.bias").data()[0] = std::nanf("");
  scene.policy().set_weights(spoilt);
  EXPECT_THROW(scene.act(), Error);
}

}  // namespace
}  // namespace knurl
