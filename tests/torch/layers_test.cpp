// Convolutions and custom layers: what LibTorch makes of them is what acts, and what PyTorch does.

#include <algorithm>
#include <fstream>
#include <iterator>

#include <gtest/gtest.h>

#include "gradient_check.h"
#include "knurl/apps/examples/my_model/wave_features.h"
#include "knurl/core/checkpoint/safetensors.h"
#include "knurl/models/columns.h"
#include "knurl/models/fast/fast_net.h"
#include "knurl/models/torch/torch_net.h"
#include "knurl/models/trunk.h"

namespace knurl {
namespace {

std::vector<float> random_numbers(std::int64_t n, Rng& rng) {
  std::vector<float> out(static_cast<std::size_t>(n));
  for (float& x : out) x = static_cast<float>(rng.normal());
  return out;
}

RecordBatch minibatch_of(std::span<const float> inputs, std::int64_t rows) {
  const auto width = static_cast<std::int64_t>(inputs.size()) / rows;
  RecordBatch out({{column::kNetInputs, DType::float32, {width}}}, rows);
  std::ranges::copy(inputs, out.column<float>(column::kNetInputs).data());
  return out;
}

/// The only output of a net that acts, row after row.
std::vector<float> fast_output(const NetSpec& spec, const Weights& weights,
                               std::span<const float> inputs) {
  fast::FastNet net(spec);
  net.set_weights(weights);
  const auto rows = static_cast<std::int64_t>(inputs.size()) / spec.inputs;
  net.forward(inputs.data(), rows, spec.inputs);
  std::vector<float> out;
  for (std::int64_t row = 0; row < rows; ++row) {
    const auto y = net.output(spec.outputs[0].name).row(row);
    out.insert(out.end(), y.begin(), y.end());
  }
  return out;
}

void expect_near(std::span<const float> a, std::span<const float> b, double tolerance,
                 const std::string& what) {
  ASSERT_EQ(a.size(), b.size()) << what;
  for (std::size_t i = 0; i < a.size(); ++i) ASSERT_NEAR(a[i], b[i], tolerance) << what << " " << i;
}

/// A net of up to three convolutions of any sizes, perhaps with a custom layer behind them.
NetSpec random_picture_net(Rng& rng) {
  const auto number = [&](std::uint64_t most) { return 1 + static_cast<int>(rng.below(most)); };
  const Picture picture{.size = {number(12), number(12)}, .channels = number(4)};
  Extent left = picture.size;
  std::vector<ConvFilter> filters;
  for (int i = number(3); i > 1; --i) {
    filters.push_back({number(20), {number(5), number(5)}, {number(3), number(3)}});
    left =
        ConvShape{.size = left, .stride = filters.back().stride, .padding = Padding::same}.output();
  }
  filters.push_back(
      {number(20),
       {number(static_cast<std::uint64_t>(left[0])), number(static_cast<std::uint64_t>(left[1]))},
       {number(2), number(2)}});
  HiddenLayers hidden{.activation = static_cast<Activation>(rng.below(5))};
  hidden.first = conv_layers(picture, filters,
                             {.activation = hidden.activation, .init = WeightInit::torch_linear});
  if (rng.below(2) == 0) {
    const int inputs = hidden.first.back().outputs;
    hidden.first.push_back({.name = "own",
                            .inputs = inputs,
                            .outputs = 6,
                            .source = hidden.first.size() - 1,
                            .kind = LayerKind::custom,
                            .custom = std::make_shared<WaveFeatures>(inputs, 3)});
  }
  if (rng.below(2) == 0) hidden.units = {number(9)};
  return make_net(picture.size[0] * picture.size[1] * picture.channels, hidden,
                  {{.name = "q", .output = "q", .size = number(5), .init_norm = 1.0}});
}

TEST(Layers, ActAsTheyLearn) {
  Rng rng(1);
  for (int trial = 0; trial < 100; ++trial) {
    const NetSpec spec = random_picture_net(rng);
    const Weights weights = fresh_weights(spec, Rng(static_cast<std::uint64_t>(trial)));
    const auto rows = 1 + static_cast<std::int64_t>(rng.below(6));
    const auto input = random_numbers(rows * spec.inputs, rng);
    TorchNet net(spec, weights);
    expect_near(fast_output(spec, weights, input), net.forward(minibatch_of(input, rows))[0], 5e-5,
                summary(spec));
  }
}

TEST(Layers, GradientsAreThoseOfTheOutputs) {
  const Picture picture{.size = {5, 4}, .channels = 2};
  HiddenLayers hidden{.units = {4}};
  hidden.first = conv_layers(picture, {{3, {2, 3}, {2, 1}}, {4, {2, 2}, {1, 2}}},
                             {.activation = Activation::tanh});
  const int inputs = hidden.first.back().outputs;
  for (const char* name : {"own", "next"}) {  // one below the other: its dx goes on
    const int read = std::string_view(name) == "own" ? inputs : 6;
    hidden.first.push_back({.name = name,
                            .inputs = read,
                            .outputs = 6,
                            .source = hidden.first.size() - 1,
                            .kind = LayerKind::custom,
                            .custom = std::make_shared<WaveFeatures>(read, 3)});
  }
  const NetSpec spec =
      make_net(40, hidden, {{.name = "q", .output = "q", .size = 2, .init_norm = 1.0}});
  Rng rng(2);
  TorchNet net(spec, fresh_weights(spec, Rng(3)));
  const RecordBatch input = minibatch_of(random_numbers(120, rng), 3);
  const std::vector<float> weight = random_numbers(6, rng);
  const auto loss = [&] {
    double sum = 0.0;
    const auto out = net.forward(input)[0];
    for (std::size_t i = 0; i < out.size(); ++i) sum += weight[i] * out[i];
    return sum;
  };
  loss();
  net.backward({weight});
  const std::vector<float> gradient(flat(net.gradients()).begin(), flat(net.gradients()).end());
  EXPECT_LT(
      testing::gradient_error<float>(flat(net.parameters()), gradient, loss, {.step = 1.0 / 64}),
      testing::kGradientError);
  EXPECT_GT(std::ranges::count_if(gradient, [](float g) { return std::abs(g) > 0.05F; }), 50);
}

/// Does not learn.
class Stubborn final : public WaveFeatures {
 public:
  using WaveFeatures::WaveFeatures;
  void backward(const LayerBackward& /*pass*/) const override {
    throw std::runtime_error("I am done learning");
  }
};

TEST(Layers, WhatACustomLayerThrowsInItsBackwardHasItsName) {
  const HiddenLayers hidden{.first = {{.name = "own",
                                       .inputs = 2,
                                       .outputs = 6,
                                       .kind = LayerKind::custom,
                                       .custom = std::make_shared<Stubborn>(2, 3)}}};
  const NetSpec spec = make_net(2, hidden, {{.name = "q", .output = "q"}});
  TorchNet net(spec, fresh_weights(spec, Rng(3)));
  net.forward(minibatch_of(std::vector<float>{1.0F, 2.0F}, 1));
  const std::vector<float> gradient{1.0F};
  try {
    net.backward({gradient});
    FAIL() << "it learns";
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(), "layer own (Waves): I am done learning");
  }
}

// tests/golden/cnn.safetensors, made by make_cnn.py
TEST(Layers, ConvolutionsArePyTorchs) {
  std::ifstream in(std::string(KNURL_GOLDEN_DIR) + "/cnn.safetensors", std::ios::binary);
  ASSERT_TRUE(in.good());
  const std::string text((std::istreambuf_iterator<char>(in)), {});
  const RecordBatch golden = from_safetensors(std::as_bytes(std::span(text)), "cnn.safetensors");
  const HiddenLayers hidden{.first = conv_layers({.size = {5, 7}, .channels = 3},
                                                 {{4, {4, 3}, {2, 2}}, {5, {2, 3}, {1, 1}}}, {})};
  const NetSpec spec = make_net(105, hidden, {{.name = "q", .output = "q", .size = 2}});
  Weights weights{.tensors = RecordBatch(tensors_of(spec), 1)};
  for (const ColumnSpec& column : weights.tensors.columns()) {
    const std::size_t index = golden.index_of("weights/" + column.name);
    ASSERT_EQ(golden.columns()[index].row_shape, column.row_shape) << column.name;
    std::ranges::copy(golden.column<float>("weights/" + column.name).span(),
                      weights.tensors.column<float>(column.name).data());
  }
  const auto x = golden.column<float>("x").span();
  const auto y = golden.column<float>("y").span();
  expect_near(fast_output(spec, weights, x), y, 1e-5, "what acts");
  TorchNet net(spec, weights);
  expect_near(net.forward(minibatch_of(x, 6))[0], y, 1e-5, "what learns");
  net.backward({golden.column<float>("dy").span()});
  for (const ColumnSpec& column : weights.tensors.columns()) {
    expect_near(net.gradients().column<float>(column.name).span(),
                golden.column<float>("gradients/" + column.name).span(), 2e-5, column.name);
  }
}

}  // namespace
}  // namespace knurl
