#include "knurl/models/fast/fused_net.h"

#include <gtest/gtest.h>

#include "knurl/models/columns.h"
#include "knurl/models/fast/fast_net.h"
#include "knurl/models/torch/torch_net.h"
#include "random_spec.h"

/// What learns without LibTorch gives what LibTorch gives.
namespace knurl {
namespace {

using fast::FusedNet;

RecordBatch random_minibatch(std::int64_t rows, int width, Rng& rng) {
  RecordBatch out({{column::kNetInputs, DType::float32, {width}}}, rows);
  for (float& x : out.column<float>(column::kNetInputs).span())
    x = static_cast<float>(rng.normal());
  return out;
}

/// Gradients of a random linear loss at the outputs, as means over rows.
std::vector<std::vector<float>> random_slopes(const NetSpec& spec, std::int64_t rows, Rng& rng) {
  std::vector<std::vector<float>> out;
  for (const NetOutput& output : spec.outputs) {
    std::vector<float>& slopes =
        out.emplace_back(static_cast<std::size_t>(rows * size_of(spec, output)));
    for (float& x : slopes) x = static_cast<float>(rng.normal()) / static_cast<float>(rows);
  }
  return out;
}

void expect_near(std::span<const float> a, std::span<const float> b) {
  ASSERT_EQ(a.size(), b.size());
  for (std::size_t i = 0; i < a.size(); ++i) {
    ASSERT_NEAR(a[i], b[i], 1e-5 * std::max(1.0F, std::abs(b[i]))) << i;
  }
}

void expect_same(TrainableNet& fused, TrainableNet& torch, const NetSpec& spec, std::int64_t rows,
                 Rng& rng) {
  const RecordBatch minibatch = random_minibatch(rows, spec.inputs, rng);
  const auto ours = fused.forward(minibatch);
  const auto theirs = torch.forward(minibatch);
  for (std::size_t k = 0; k < ours.size(); ++k) expect_near(ours[k], theirs[k]);
  const auto slopes = random_slopes(spec, rows, rng);
  fused.backward({slopes.begin(), slopes.end()});
  torch.backward({slopes.begin(), slopes.end()});
  expect_near(flat(fused.gradients()), flat(torch.gradients()));
}

TEST(FusedNet, AgreesWithLibTorchOverRandomNetsAndMinibatches) {
  Rng rng(31);
  for (int trial = 0; trial < 150; ++trial) {
    SCOPED_TRACE(trial);
    NetSpec spec = random_spec(rng, true);
    if (rng.below(4) == 0) spec = with_filter(std::move(spec));
    Weights weights = fresh_weights(spec, Rng(static_cast<std::uint64_t>(trial)));
    FusedNet fused(spec, weights);
    TorchNet torch(spec, weights);
    for (int i = 0; i < 3; ++i) {  // more rows, then fewer: nothing of the last ones is left
      expect_same(fused, torch, spec, 1 + static_cast<std::int64_t>(rng.below(70)), rng);
      if (HasFatalFailure()) return;
    }
  }
}

TEST(FusedNet, AgreesWithLibTorchOnNetsOfUsualSizes) {
  Rng rng(32);
  for (const std::vector<int>& units : {std::vector{64, 64}, {256, 256}, {32}, {128, 64, 32}}) {
    for (const Activation activation : {Activation::tanh, Activation::relu}) {
      const HiddenLayers hidden{.units = units, .activation = activation};
      const NetSpec spec = make_net(
          4, {},
          {{.name = "policy", .output = "logits", .size = 2, .hidden = hidden, .init_norm = 1.0},
           {.name = "value", .output = "values", .hidden = hidden, .init_norm = 1.0}});
      const Weights weights = fresh_weights(spec, Rng(7));
      FusedNet fused(spec, weights);
      TorchNet torch(spec, weights);
      for (const std::int64_t rows : {64, 256, 1000}) {
        expect_same(fused, torch, spec, rows, rng);
        if (HasFatalFailure()) return;
      }
    }
  }
}

// one pass serves acting and learning: the ratio of a policy to itself is exactly 1
TEST(FusedNet, GivesTheBitsThatActed) {
  Rng rng(33);
  for (int trial = 0; trial < 50; ++trial) {
    const NetSpec spec = random_spec(rng);
    const Weights weights = fresh_weights(spec, Rng(static_cast<std::uint64_t>(trial)));
    const auto rows = 1 + static_cast<std::int64_t>(rng.below(40));
    const RecordBatch minibatch = random_minibatch(rows, spec.inputs, rng);
    FusedNet fused(spec, weights);
    fast::FastNet acting(spec);
    acting.set_weights(weights);
    const auto outputs = fused.forward(minibatch);
    acting.forward(minibatch.column<float>(column::kNetInputs).data(), rows, spec.inputs);
    for (std::size_t k = 0; k < outputs.size(); ++k) {
      const auto acted = acting.output(spec.outputs[k].name);
      for (std::int64_t row = 0; row < rows; ++row) {
        for (int i = 0; i < acted.size; ++i) {
          ASSERT_EQ(outputs[k][static_cast<std::size_t>(row * acted.size + i)],
                    acted.row(row)[static_cast<std::size_t>(i)]);
        }
      }
    }
  }
}

TEST(FusedNet, LeavesNetsOfOtherLayersToLibTorch) {
  EXPECT_FALSE(fast::why_not_fused(make_net(2, {.units = {3}}, {{.name = "q", .output = "q"}})));
  EXPECT_TRUE(fast::why_not_fused(
      make_net(2, {.units = {3}}, {{.name = "q", .output = "q"}}, LstmSpec{.cells = 4})));
  EXPECT_TRUE(fast::why_not_fused(make_net(2, {}, {{.name = "q", .output = "q", .sigma0 = 0.5}})));
}

}  // namespace
}  // namespace knurl
