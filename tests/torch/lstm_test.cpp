#include <gtest/gtest.h>

#include "gradient_check.h"
#include "knurl/models/columns.h"
#include "knurl/models/fast/fast_net.h"
#include "knurl/models/torch/torch_net.h"

namespace knurl {
namespace {

const std::vector<ColumnSpec> kExtras{{column::kPreviousActions, DType::float32, {2}},
                                      {column::kPreviousRewards, DType::float32, {}}};

NetSpec lstm_net(const HiddenLayers& trunk, int cells, const std::vector<ColumnSpec>& extras) {
  return make_net(3, trunk,
                  {{.name = "policy", .output = "logits", .size = 2, .init_norm = 1.0},
                   {.name = "value", .output = "values", .init_norm = 1.0}},
                  LstmSpec{.cells = cells, .extras = extras});
}

/// Three sequences of 4, 2 and 1 steps, packed, with what a net reads at each step and the states
/// that they begin with.
struct Scene {
  explicit Scene(const NetSpec& spec, std::uint64_t seed)
      : minibatch({{column::kNetInputs, DType::float32, {spec.inputs}}}, 7),
        sequences{.batch_sizes = {3, 2, 1, 1}, .states = RecordBatch(state_of(spec), 3)} {
    Rng rng(seed);
    for (float& x : minibatch.column<float>(column::kNetInputs).span()) {
      x = static_cast<float>(rng.normal());
    }
    for (float& x : flat(sequences.states)) x = static_cast<float>(rng.normal());
  }
  RecordBatch minibatch;
  Sequences sequences;
};

TEST(TorchLstm, AgreesWithTheFastNetThatGoesStepByStep) {
  for (const bool extras : {false, true}) {
    for (const bool filter : {false, true}) {
      for (const bool trunk : {false, true}) {
        NetSpec spec = lstm_net({.units = trunk ? std::vector{5} : std::vector<int>{}}, 19,
                                extras ? kExtras : std::vector<ColumnSpec>{});
        if (filter) spec = with_filter(spec);
        Weights weights = fresh_weights(spec, Rng(3));
        if (filter) weights.tensors.column<float>("filter.mean")[1] = 0.5F;
        Scene scene(spec, 4);
        TorchNet torch_net(spec, weights);
        const auto expected = torch_net.forward(scene.minibatch, scene.sequences);

        fast::FastNet net(spec);
        net.set_weights(weights);
        RecordBatch memory = scene.sequences.states;
        std::int64_t first = 0;
        for (const std::int64_t size : scene.sequences.batch_sizes) {
          net.forward(scene.minibatch.column<float>(column::kNetInputs).row(first).data(), size,
                      spec.inputs, &memory);
          for (std::int64_t row = 0; row < size; ++row) {
            const auto at = static_cast<std::size_t>(first + row);
            EXPECT_NEAR(net.output("logits").row(row)[1], expected[0][at * 2 + 1], 2e-6);
            EXPECT_NEAR(net.output("values").row(row)[0], expected[1][at], 2e-6);
            std::ranges::copy(net.layer_output(*lstm_layer(spec)).row(row),
                              memory.column<float>(column::kStateH).row(row).data());
            std::ranges::copy(net.lstm_cells().row(row),
                              memory.column<float>(column::kStateC).row(row).data());
          }
          first += size;
        }
      }
    }
  }
}

TEST(TorchLstm, RowsWithoutSequencesBeginFromZero) {
  const NetSpec spec = lstm_net({.units = {5}}, 6, {});
  const Weights weights = fresh_weights(spec, Rng(3));
  const Scene scene(spec, 4);
  TorchNet net(spec, weights);
  const auto together = net.forward(scene.minibatch);
  const std::vector<float> values(together[1].begin(), together[1].end());
  Sequences alone{.batch_sizes = {7}, .states = RecordBatch(state_of(spec), 7)};
  const auto again = net.forward(scene.minibatch, alone);
  for (std::size_t i = 0; i < values.size(); ++i) EXPECT_EQ(values[i], again[1][i]);
}

TEST(TorchLstm, GradientsGoBackThroughTime) {
  const NetSpec spec = with_filter(lstm_net({.units = {4}}, 3, kExtras));
  TorchNet net(spec, fresh_weights(spec, Rng(7)));
  const Scene scene(spec, 8);
  Rng rng(9);
  std::vector<std::vector<float>> weight{std::vector<float>(14), std::vector<float>(7)};
  for (auto& part : weight) {
    for (float& x : part) x = static_cast<float>(rng.normal());
  }
  const auto loss = [&] {
    double sum = 0.0;
    const auto out = net.forward(scene.minibatch, scene.sequences);
    for (std::size_t k = 0; k < out.size(); ++k) {
      for (std::size_t i = 0; i < out[k].size(); ++i) sum += weight[k][i] * out[k][i];
    }
    return sum;
  };
  loss();
  net.backward({weight[0], weight[1]});
  for (const ColumnSpec& tensor : tensors_of(spec)) {
    const auto parameters = net.parameters().column<float>(tensor.name).span();
    const auto gradients = net.gradients().column<float>(tensor.name).span();
    const std::vector<float> gradient(gradients.begin(), gradients.end());
    if (tensor.name.starts_with("filter.")) {
      for (const float g : gradient) EXPECT_EQ(g, 0.0F);
      continue;
    }
    EXPECT_LT(testing::gradient_error<float>(parameters, gradient, loss), testing::kGradientError)
        << tensor.name;
  }
}

}  // namespace
}  // namespace knurl
