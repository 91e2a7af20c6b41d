#include <gtest/gtest.h>

#include "double_net.h"
#include "gradient_check.h"
#include "knurl/models/columns.h"
#include "knurl/models/fast/fused_net.h"
#include "knurl/models/noisy.h"
#include "knurl/models/torch/torch_net.h"
#include "random_spec.h"

/// The gradients of every kind of net are those that finite differences in double precision say.
namespace knurl {
namespace {

using testing::gradient_error;
using testing::kGradientError;

constexpr std::int64_t kRows = 3;

/// A net, the same in double precision, and a minibatch for both.
struct Pair {
  std::unique_ptr<TrainableNet> net;
  DoubleNet exact;
  std::vector<float> inputs = {};
  std::vector<std::vector<float>> slopes = {};  ///< of the loss at each output: it is linear

  Pair(std::unique_ptr<TrainableNet> trainable, DoubleNet in_double, const NetSpec& spec, Rng& rng)
      : net(std::move(trainable)), exact(std::move(in_double)) {
    const auto numbers = [&](std::int64_t n) {
      std::vector<float> out(static_cast<std::size_t>(n));
      for (float& x : out) x = static_cast<float>(rng.normal());
      return out;
    };
    inputs = numbers(kRows * spec.inputs);
    for (const NetOutput& output : spec.outputs) {
      slopes.push_back(numbers(kRows * size_of(spec, output)));
    }
  }

  [[nodiscard]] DoubleNet::Rows exact_inputs() const {
    DoubleNet::Rows out;
    const auto width = static_cast<std::ptrdiff_t>(inputs.size()) / kRows;
    for (std::ptrdiff_t row = 0; row < kRows; ++row) {
      out.emplace_back(inputs.begin() + row * width, inputs.begin() + (row + 1) * width);
    }
    return out;
  }
  [[nodiscard]] double exact_loss() const {
    double sum = 0.0;
    const auto outputs = exact.forward(exact_inputs());
    for (std::size_t k = 0; k < outputs.size(); ++k) {
      const float* slope = slopes[k].data();
      for (const std::vector<double>& row : outputs[k]) {
        for (const double x : row) sum += *slope++ * x;
      }
    }
    return sum;
  }
  /// The net's gradient of that loss; its outputs are those in double precision.
  std::vector<float> gradient() {
    const auto width = static_cast<std::int64_t>(inputs.size()) / kRows;
    RecordBatch minibatch({{column::kNetInputs, DType::float32, {width}}}, kRows);
    std::ranges::copy(inputs, minibatch.column<float>(column::kNetInputs).data());
    const auto outputs = net->forward(minibatch);
    const auto expected = exact.forward(exact_inputs());
    for (std::size_t k = 0; k < outputs.size(); ++k) {
      std::size_t i = 0;
      for (const std::vector<double>& row : expected[k]) {
        for (const double x : row) EXPECT_NEAR(outputs[k][i++], x, 2e-5);
      }
    }
    net->backward({slopes.begin(), slopes.end()});
    const auto numbers = flat(net->gradients());
    return {numbers.begin(), numbers.end()};
  }
  /// The error of about a hundred of the gradient's numbers.
  double error() {
    const std::vector<float> gradients = gradient();
    exact.hold_features(exact_inputs());
    const std::span<double> parameters = exact.parameters();
    return gradient_error<double>(parameters, gradients, [&] { return exact_loss(); },
                                  {.step = 1e-4, .stride = 1 + parameters.size() / 100});
  }
};

using Maker = std::unique_ptr<TrainableNet> (*)(const NetSpec&, const Weights&);

template <class Net>
std::unique_ptr<TrainableNet> make(const NetSpec& spec, const Weights& weights) {
  return std::make_unique<Net>(spec, weights);
}

class NetGradients : public ::testing::TestWithParam<Maker> {};

INSTANTIATE_TEST_SUITE_P(Torch, NetGradients, ::testing::Values(make<TorchNet>));
INSTANTIATE_TEST_SUITE_P(Fused, NetGradients, ::testing::Values(make<fast::FusedNet>));

TEST_P(NetGradients, OfRandomNetsAreThoseOfDifferencesInDoublePrecision) {
  Rng rng(21);
  for (int trial = 0; trial < 30; ++trial) {
    SCOPED_TRACE(trial);
    const NetSpec spec = random_spec(rng, true);
    const Weights weights = fresh_weights(spec, Rng(static_cast<std::uint64_t>(trial)));
    Pair pair(GetParam()(spec, weights), DoubleNet(spec, weights.tensors), spec, rng);
    EXPECT_LT(pair.error(), kGradientError);
  }
}

TEST_P(NetGradients, OfNoisyNetsAreThoseOfDifferencesInDoublePrecision) {
  Rng rng(22);
  const NetSpec spec = make_net(
      4, {.units = {6}, .activation = Activation::silu},
      {{.name = "q", .output = "scores", .size = 3, .hidden = {.units = {5}}, .sigma0 = 0.5},
       {.name = "v", .output = "state", .hidden = {.units = {4}}, .sigma0 = 0.5}});
  const Weights weights = fresh_weights(spec, Rng(1));
  const RecordBatch noise = draw_noise(spec, Rng(2));
  const NetSpec plain = without_noise(spec);
  Pair pair(make_noisy_net(spec, weights, GetParam()(plain, plain_weights(spec, weights, nullptr))),
            DoubleNet(spec, weights.tensors, &noise), spec, rng);
  pair.net->draw_noise(Rng(2));
  EXPECT_LT(pair.error(), kGradientError);
}

// the filter's tensors are not learnt: differences see them move, gradients do not
TEST_P(NetGradients, BehindAFilterAreThoseOfDifferencesInDoublePrecision) {
  Rng rng(23);
  const NetSpec spec = with_filter(make_net(
      3, {.units = {5}}, {{.name = "policy", .output = "logits", .size = 2, .init_norm = 1.0}}));
  Weights weights = fresh_weights(spec, Rng(1));
  for (float& x : weights.tensors.column<float>("filter.scale").span()) x = 0.5F;
  for (float& x : weights.tensors.column<float>("filter.mean").span()) x = 0.25F;
  Pair pair(GetParam()(spec, weights), DoubleNet(spec, weights.tensors), spec, rng);
  const std::vector<float> gradients = pair.gradient();
  const RecordBatch& columns = pair.net->gradients();
  for (const ColumnSpec& column : columns.columns()) {
    const auto tensor = columns.column<float>(column.name).span();
    const auto start = static_cast<std::size_t>(tensor.data() - flat(columns).data());
    if (column.name.starts_with("filter.")) {
      for (const float g : tensor) EXPECT_EQ(g, 0.0F);
      continue;
    }
    EXPECT_LT(gradient_error<double>(pair.exact.parameters().subspan(start, tensor.size()), tensor,
                                     [&] { return pair.exact_loss(); }, {.step = 1e-4}),
              kGradientError)
        << column.name;
  }
}

TEST_P(NetGradients, AnErrorOfAThousandthIsFound) {
  Rng rng(24);
  const NetSpec spec = make_net(
      3, {.units = {5}}, {{.name = "policy", .output = "logits", .size = 2, .init_norm = 1.0}});
  const Weights weights = fresh_weights(spec, Rng(1));
  Pair pair(GetParam()(spec, weights), DoubleNet(spec, weights.tensors), spec, rng);
  std::vector<float> gradients = pair.gradient();
  for (float& g : gradients) g *= 1.001F;
  EXPECT_GT(gradient_error<double>(pair.exact.parameters(), gradients,
                                   [&] { return pair.exact_loss(); }, {.step = 1e-4}),
            2.0 * kGradientError);
}

}  // namespace
}  // namespace knurl
