// One whole update of a learner on fixed data is the reference implementation's, weights in and
// weights out: tests/golden/*_update.safetensors, made by make_updates.py.

#include <fstream>
#include <iterator>

#include <gtest/gtest.h>

#include "knurl/algorithms/dqn/dqn_learner.h"
#include "knurl/algorithms/losses/gae.h"
#include "knurl/algorithms/ppo/ppo_learner.h"
#include "knurl/algorithms/replay/n_step.h"
#include "knurl/core/base/check.h"
#include "knurl/core/checkpoint/safetensors.h"
#include "knurl/models/columns.h"

namespace knurl {
namespace {

const Space kObservations =
    Box{.shape = {3}, .low = std::vector<double>(3, -10.0), .high = std::vector<double>(3, 10.0)};

RecordBatch golden(const std::string& file) {
  std::ifstream in(std::string(KNURL_GOLDEN_DIR) + "/" + file, std::ios::binary);
  check(in.good(), "there is a golden file " + file);
  const std::string text((std::istreambuf_iterator<char>(in)), {});
  return from_safetensors(std::as_bytes(std::span(text)), file);
}

template <class T>
std::span<const T> numbers(const RecordBatch& golden, const std::string& name) {
  return golden.column<T>(name).span();
}

/// The weights under a prefix, laid out as `like`.
Weights weights_in(const RecordBatch& golden, const std::string& prefix, const Weights& like) {
  Weights out = like;
  for (const ColumnSpec& column : like.tensors.columns()) {
    const auto from = numbers<float>(golden, prefix + "/" + column.name);
    const auto to = out.tensors.column<float>(column.name).span();
    EXPECT_EQ(from.size(), to.size()) << column.name;
    std::ranges::copy(from, to.begin());
  }
  return out;
}

void expect_near(const Weights& got, const Weights& expected, const Weights& before) {
  for (const ColumnSpec& column : expected.tensors.columns()) {
    const auto a = got.tensors.column<float>(column.name).span();
    const auto b = expected.tensors.column<float>(column.name).span();
    const auto was = before.tensors.column<float>(column.name).span();
    float moved = 0.0F;
    for (std::size_t i = 0; i < a.size(); ++i) {
      EXPECT_NEAR(a[i], b[i], 1e-5) << column.name << " " << i;
      moved = std::max(moved, std::abs(b[i] - was[i]));
    }
    EXPECT_GT(moved, 1e-3) << column.name << " has learnt something";
  }
}

TEST(GoldenUpdate, ThreeStepsOfDqnAreTheReferences) {
  const RecordBatch data = golden("dqn_update.safetensors");
  DQNConfig config;
  config.training({.gamma = 0.9,
                   .lr = 0.01,
                   .grad_clip = 0.5,
                   .train_batch_size = 32,
                   .model = {.fcnet_hiddens = {8, 6}, .fcnet_activation = Activation::relu}},
                  {.double_q = false, .dueling = false, .hiddens = std::vector<int>{}});
  const SpaceLayout observations(kObservations);
  DqnLearner learner(config, observations, SpaceLayout(Discrete{.n = 4}), Rng(1));
  const Weights before = weights_in(data, "before", learner.weights());
  learner.set_weights(weights_in(data, "target", learner.weights()));
  learner.update_target();
  learner.set_weights(before);

  RecordBatch batch(NStepFolder(1, 0.9, observations).columns(), 32);
  for (const char* name : {"obs", "new_obs", "rewards"}) {
    std::ranges::copy(numbers<float>(data, std::string("batch/") + name),
                      batch.column<float>(name).data());
  }
  std::ranges::copy(numbers<std::int64_t>(data, "batch/actions"),
                    batch.column<std::int64_t>(column::kActions).data());
  const auto dones = numbers<float>(data, "batch/dones");
  for (std::size_t i = 0; i < 32; ++i) {
    batch.column<float>(column::kDiscounts).span()[i] = dones[i] == 1.0F ? 0.0F : 0.9F;
  }
  const std::vector<float> ones(32, 1.0F);
  for (int i = 0; i < 3; ++i) learner.update(batch, ones, 0);
  expect_near(learner.weights(), weights_in(data, "after", before), before);
}

/// The reference's rollout as segments: a start ends the episode before.
std::vector<Segment> segments_of(std::span<const float> starts) {
  std::vector<Segment> out;
  const auto end = static_cast<std::int64_t>(starts.size());
  std::int64_t first = 0;
  for (std::int64_t t = 1; t <= end; ++t) {
    if (t < end && starts[static_cast<std::size_t>(t)] == 0.0F) continue;
    out.push_back({.first_row = first,
                   .length = t - first,
                   .ending = t < end ? Ending::terminated : Ending::cut});
    first = t;
  }
  return out;
}

TEST(GoldenUpdate, AdvantagesAreTheReferences) {
  for (const char* file : {"ppo_update.safetensors", "ppo_update_box.safetensors",
                           "ppo_update_sde.safetensors", "ppo_update_multi.safetensors"}) {
    const RecordBatch data = golden(file);
    const std::vector<Segment> segments = segments_of(numbers<float>(data, "batch/starts"));
    EXPECT_GT(segments.size(), 3U);
    std::vector<float> advantages(32);
    std::vector<float> targets(32);
    gae({.segments = segments,
         .rewards = numbers<float>(data, "batch/rewards"),
         .values = numbers<float>(data, "batch/vf_preds"),
         .bootstrap_values = numbers<float>(data, "batch/last_value"),
         .gamma = 0.9F,
         .lambda = 0.7F},
        advantages, targets);
    for (std::size_t i = 0; i < 32; ++i) {
      EXPECT_NEAR(advantages[i], numbers<float>(data, "batch/advantages")[i], 1e-5);
      EXPECT_NEAR(targets[i], numbers<float>(data, "batch/value_targets")[i], 1e-5);
    }
  }
}

/// The reference's batch as PPO's learner reads it.
template <class Action>
PpoBatch ppo_batch(const RecordBatch& data, const ActionDistribution& distribution) {
  PpoBatch batch{
      .rows = RecordBatch({{column::kNetInputs, DType::float32, {3}},
                           action_column(distribution),
                           {column::kActionLogProb, DType::float32, {}},
                           {column::kDistInputs, DType::float32, {num_inputs(distribution)}},
                           {column::kValues, DType::float32, {}},
                           {column::kAdvantages, DType::float32, {}},
                           {column::kValueTargets, DType::float32, {}}},
                          32),
      .order = {}};
  for (const auto& [from, to] : {std::pair{"batch/obs", column::kNetInputs},
                                 std::pair{"batch/action_logp", column::kActionLogProb},
                                 std::pair{"batch/vf_preds", column::kValues},
                                 std::pair{"batch/advantages", column::kAdvantages},
                                 std::pair{"batch/value_targets", column::kValueTargets}}) {
    std::ranges::copy(numbers<float>(data, from), batch.rows.column<float>(to).data());
  }
  std::ranges::copy(numbers<Action>(data, "batch/actions"),
                    batch.rows.template column<Action>(column::kActions).data());
  for (std::int32_t row = 0; row < 32; ++row) batch.order.push_back(row);
  return batch;
}

/// Its steps cut at the starts of episodes, with the states before them.
void add_sequences(const RecordBatch& data, PpoBatch& batch) {
  const auto starts = numbers<float>(data, "batch/starts");
  std::vector<std::int32_t> first;
  for (std::int32_t row = 0; row < 32; ++row) {
    if (row == 0 || starts[static_cast<std::size_t>(row)] > 0.0F) first.push_back(row);
  }
  for (std::size_t i = 0; i < first.size(); ++i) {
    const std::int32_t end = i + 1 < first.size() ? first[i + 1] : 32;
    batch.sequences.push_back({.first = first[i], .length = end - first[i]});
  }
  batch.states =
      RecordBatch({{column::kStateH, DType::float32, {6}}, {column::kStateC, DType::float32, {6}}},
                  std::ssize(first));
  for (const char* name : {column::kStateH, column::kStateC}) {
    const auto from = data.column<float>(std::string("batch/") + name).span();
    for (std::size_t i = 0; i < first.size(); ++i) {
      std::ranges::copy(from.subspan(static_cast<std::size_t>(first[i]) * 6, 6),
                        batch.states.column<float>(name).row(static_cast<std::int64_t>(i)).data());
    }
  }
}

const Space kBox = Box{.shape = {2}, .low = -1.0, .high = 1.0};

/// `own` adds to what all of the reference's updates have in common.
template <class Action>
void expect_ppo_update(const std::string& file, const Space& action_space,
                       const PpoOptions& own = {}, const ModelConfig& model = {}) {
  const RecordBatch data = golden(file);
  PPOConfig config;
  config
      .training({.gamma = 0.9,
                 .lr = 0.003,
                 .grad_clip = 0.5,
                 .train_batch_size = 32,
                 .model = {.fcnet_hiddens = {8, 6}},
                 .optimizer = {.epsilon = 1e-5}},
                {.use_kl_loss = false,
                 .sgd_minibatch_size = 32,
                 .num_sgd_iter = 3,
                 .vf_loss_coeff = 0.5,
                 .entropy_coeff = 0.01,
                 .clip_param = 0.2,
                 .vf_clip_param = std::numeric_limits<double>::infinity()})
      .training({.model = model}, own);
  const SpaceLayout actions(action_space);
  PpoLearner learner(config, SpaceLayout(kObservations), actions, Rng(1));
  const Weights before = weights_in(data, "before", learner.weights());
  learner.set_weights(before);
  PpoBatch batch = ppo_batch<Action>(data, config.distribution(actions));
  if (lstm_layer(learner.net())) add_sequences(data, batch);
  learner.update(batch, 0);
  expect_near(learner.weights(), weights_in(data, "after", before), before);
}

TEST(GoldenUpdate, ThreeEpochsOfPpoAreTheReferences) {
  expect_ppo_update<std::int64_t>("ppo_update.safetensors", Discrete{.n = 4});
}

TEST(GoldenUpdate, SeveralChoicesAtOnceAreTheReferences) {
  expect_ppo_update<std::int64_t>("ppo_update_multi.safetensors", MultiDiscrete{.nvec = {3, 2}});
}

TEST(GoldenUpdate, FreeStandardDeviationsAndScaledMinibatchesAreTheReferences) {
  expect_ppo_update<float>("ppo_update_box.safetensors", kBox,
                           {.advantage_scaling = AdvantageScaling::minibatch},
                           {.free_log_std = true});
}

TEST(GoldenUpdate, StateDependentExplorationIsTheReferences) {
  expect_ppo_update<float>("ppo_update_sde.safetensors", kBox, {.use_sde = true});
}

TEST(GoldenUpdate, BackpropagationThroughTimeIsTheReferences) {
  // a minibatch of more sequences than there are: all in one, as the reference takes them
  expect_ppo_update<std::int64_t>("ppo_update_lstm.safetensors", Discrete{.n = 4},
                                  {.sgd_minibatch_size = 1024},
                                  {.fcnet_hiddens = std::vector<int>{},
                                   .use_lstm = true,
                                   .max_seq_len = 32,
                                   .lstm_cell_size = 6});
}

/// What an update with these options makes of the reference's batch at a timestep.
Weights updated(const PpoOptions& own, std::int64_t timestep) {
  const RecordBatch data = golden("ppo_update.safetensors");
  PPOConfig config;
  config.training({.lr = 0.003, .train_batch_size = 32, .model = {.fcnet_hiddens = {8, 6}}},
                  {.use_kl_loss = false, .sgd_minibatch_size = 32, .num_sgd_iter = 3});
  config.training({}, own);
  const SpaceLayout actions(Discrete{.n = 4});
  PpoLearner learner(config, SpaceLayout(kObservations), actions, Rng(1));
  learner.set_weights(weights_in(data, "before", learner.weights()));
  learner.update(ppo_batch<std::int64_t>(data, config.distribution(actions)), timestep);
  return learner.weights();
}

std::vector<float> numbers_of(const Weights& weights) {
  const auto all = flat(weights.tensors);
  return {all.begin(), all.end()};
}

TEST(PpoLearner, TheClipFollowsItsSchedule) {
  const PpoOptions falling{.clip_param = Schedule({{0, 0.3}, {100, 0.1}})};
  const auto half = numbers_of(updated(falling, 50));
  EXPECT_EQ(half, numbers_of(updated({.clip_param = Schedule({{0, 0.2}, {200, 0.2}})}, 50)));
  EXPECT_NE(half, numbers_of(updated(falling, 0)));
}

TEST(PpoLearner, TargetKlEndsThePassesOverABatch) {
  EXPECT_EQ(updated({}, 0).version, 3);
  // the golden batch has no inputs of the policy that acted: its KL is above this from the first
  EXPECT_EQ(updated({.target_kl = 1e-9}, 0).version, 0);
  EXPECT_EQ(updated({.target_kl = 1e9}, 0).version, 3);
}

}  // namespace
}  // namespace knurl
