#include "knurl/models/torch/torch_net.h"

#include <cmath>

#include <gtest/gtest.h>

#include "knurl/algorithms/learner/optimizer.h"
#include "knurl/models/columns.h"
#include "knurl/models/fast/fast_net.h"
#include "random_spec.h"

namespace knurl {
namespace {

std::vector<float> random_numbers(std::size_t n, Rng& rng) {
  std::vector<float> out(n);
  for (float& x : out) x = static_cast<float>(rng.normal());
  return out;
}

/// A minibatch as a net reads it.
RecordBatch minibatch_of(const std::vector<float>& inputs, std::int64_t rows) {
  const auto width = static_cast<std::int64_t>(inputs.size()) / rows;
  RecordBatch out({{column::kNetInputs, DType::float32, {width}}}, rows);
  std::ranges::copy(inputs, out.column<float>(column::kNetInputs).data());
  return out;
}

TEST(TorchNet, AgreesWithTheFastNetOverRandomNetsAndInputs) {
  Rng rng(1);
  for (int trial = 0; trial < 100; ++trial) {
    const NetSpec spec = random_spec(rng, true);
    const Weights weights = fresh_weights(spec, Rng(static_cast<std::uint64_t>(trial)));
    const auto rows = 1 + static_cast<std::int64_t>(rng.below(40));
    const auto input = random_numbers(static_cast<std::size_t>(rows * spec.inputs), rng);
    TorchNet torch_net(spec, weights);
    fast::FastNet fast_net(spec);
    fast_net.set_weights(weights);
    const auto expected = torch_net.forward(minibatch_of(input, rows));
    fast_net.forward(input.data(), rows, spec.inputs);
    for (std::size_t k = 0; k < spec.outputs.size(); ++k) {
      const auto output = fast_net.output(spec.outputs[k].name);
      for (std::int64_t row = 0; row < rows; ++row) {
        for (int i = 0; i < output.size; ++i) {
          ASSERT_NEAR(output.row(row)[static_cast<std::size_t>(i)],
                      expected[k][static_cast<std::size_t>(row * output.size + i)], 1e-5);
        }
      }
    }
  }
}

// d loss / d features is that of the mean alone: the noise does not teach the layers below
TEST(TorchNet, StateDependentNoiseDoesNotTeachItsFeatures) {
  const NetSpec spec = make_net(2, {.units = {3}},
                                {{.name = "policy",
                                  .output = "logits",
                                  .size = 1,
                                  .log_std = {{.kind = LayerKind::sde_log_std}}}});
  TorchNet net(spec, fresh_weights(spec, Rng(1)));
  const RecordBatch input = minibatch_of({1.0F, 2.0F}, 1);
  net.forward(input);
  const std::vector<float> by_log_std_alone{0.0F, 1.0F};
  net.backward({by_log_std_alone});
  for (const float g : net.gradients().column<float>("hidden.0.weight").span()) EXPECT_EQ(g, 0.0F);
  for (const float g : net.gradients().column<float>("policy.log_std.value").span()) {
    EXPECT_GT(g, 0.0F);
  }
}

TEST(TorchNet, EachBackwardStartsFromZero) {
  const NetSpec spec = make_net(2, {}, {{.name = "q", .output = "q", .size = 1, .init_norm = 1.0}});
  TorchNet net(spec, fresh_weights(spec, Rng(1)));
  const RecordBatch input = minibatch_of({1.0F, 2.0F}, 1);
  const std::vector<float> one{1.0F};
  for (int i = 0; i < 3; ++i) {
    net.forward(input);
    net.backward({one});
    EXPECT_EQ(net.gradients().column<float>("q.out.weight").data()[1], 2.0F);
    EXPECT_EQ(net.gradients().column<float>("q.out.bias").data()[0], 1.0F);
  }
}

TEST(Optimizer, TakesPyTorchsSteps) {
  for (const bool adam : {true, false}) {
    Rng rng(3);
    RecordBatch parameters({{"w", DType::float32, {7}}}, 1);
    const auto start = random_numbers(7, rng);
    std::ranges::copy(start, parameters.column<float>("w").data());
    torch::Tensor theirs = torch::tensor(start).requires_grad_();
    std::unique_ptr<torch::optim::Optimizer> reference;
    if (adam) {
      reference = std::make_unique<torch::optim::Adam>(std::vector<torch::Tensor>{theirs},
                                                       torch::optim::AdamOptions(3e-3).eps(1e-5));
    } else {
      reference = std::make_unique<torch::optim::SGD>(std::vector<torch::Tensor>{theirs},
                                                      torch::optim::SGDOptions(3e-3).momentum(0.9));
    }
    const auto ours = make_optimizer(
        {.type = adam ? OptimizerType::adam : OptimizerType::sgd, .epsilon = 1e-5, .momentum = 0.9},
        parameters);
    for (int step = 0; step < 50; ++step) {
      const auto gradient = random_numbers(7, rng);
      RecordBatch gradients({{"w", DType::float32, {7}}}, 1);
      std::ranges::copy(gradient, gradients.column<float>("w").data());
      const auto clipped = clip_gradients(gradients, 1.0, GradClipBy::global_norm);
      ours->step(parameters, gradients, 3e-3, clipped.scale);
      theirs.mutable_grad() = torch::tensor(gradient);
      torch::nn::utils::clip_grad_norm_({theirs}, 1.0);
      reference->step();
    }
    for (int i = 0; i < 7; ++i) {
      EXPECT_NEAR(parameters.column<float>("w").data()[i], theirs[i].item<float>(), 1e-5);
    }
  }
}

}  // namespace
}  // namespace knurl
