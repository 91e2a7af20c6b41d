#include "knurl/models/net_spec.h"

#include <algorithm>
#include <cmath>
#include <tuple>

#include <gtest/gtest.h>

#include "knurl/core/base/error.h"

namespace knurl {
namespace {

TEST(NetSpec, SeparateHeadsReadTheObservation) {
  const NetSpec net = make_net(
      4, {},
      {{.name = "policy", .output = "action_dist_inputs", .size = 2, .hidden = {.units = {64, 64}}},
       {.name = "value", .output = "vf_preds", .hidden = {.units = {64}}}});
  ASSERT_EQ(net.layers.size(), 5U);
  EXPECT_EQ(
      net.layers[0],
      (LayerSpec{
          .name = "policy.hidden.0", .inputs = 4, .outputs = 64, .activation = Activation::tanh}));
  EXPECT_EQ(net.layers[2].name, "policy.out");
  EXPECT_EQ(net.layers[2].source, 1);
  EXPECT_EQ(net.layers[3].source, std::nullopt);
  EXPECT_EQ(net.outputs, (std::vector<NetOutput>{{"action_dist_inputs", {2}}, {"vf_preds", {4}}}));
}

TEST(NetSpec, ASharedTrunkFeedsBothHeads) {
  const NetSpec net = make_net(4, {.units = {32}},
                               {{.name = "policy", .output = "action_dist_inputs", .size = 2},
                                {.name = "value", .output = "vf_preds"}});
  ASSERT_EQ(net.layers.size(), 3U);
  EXPECT_EQ(net.layers[1].source, 0);
  EXPECT_EQ(net.layers[2].source, 0);
}

TEST(NetSpec, FreshRowsHaveTheLengthOfTheirNorm) {
  const NetSpec net =
      make_net(4, {.units = {32}}, {{.name = "policy", .output = "action_dist_inputs", .size = 2}});
  const Weights weights = fresh_weights(net, Rng(1));
  const auto norm = [&](const std::string& tensor, std::int64_t width) {
    double squares = 0.0;
    const float* w = weights.tensors.column<float>(tensor).data();
    for (std::int64_t i = 0; i < width; ++i) squares += static_cast<double>(w[i]) * w[i];
    return std::sqrt(squares);
  };
  EXPECT_NEAR(norm("hidden.0.weight", 4), 1.0, 1e-6);
  EXPECT_NEAR(norm("policy.out.weight", 32), 0.01, 1e-8);
  for (const float b : weights.tensors.column<float>("hidden.0.bias").span()) EXPECT_EQ(b, 0.0F);
}

TEST(NetSpec, TheSameSeedMakesTheSameNet) {
  const NetSpec net = make_net(4, {.units = {32}}, {{.name = "q", .output = "q", .size = 2}});
  const auto a = fresh_weights(net, Rng(1));
  const auto b = fresh_weights(net, Rng(1));
  const auto c = fresh_weights(net, Rng(2));
  EXPECT_EQ(0,
            std::memcmp(flat(a.tensors).data(), flat(b.tensors).data(), a.tensors.memory().size()));
  EXPECT_NE(0,
            std::memcmp(flat(a.tensors).data(), flat(c.tensors).data(), a.tensors.memory().size()));
}

TEST(NetSpec, TensorsAreAlignedInOneBuffer) {
  const NetSpec net = make_net(3, {.units = {5}}, {{.name = "q", .output = "q", .size = 2}});
  Weights weights = fresh_weights(net, Rng(1));
  EXPECT_EQ(flat(weights.tensors).size(), 16U + 16U + 16U + 16U);
  for (std::size_t i = 0; i < weights.tensors.columns().size(); ++i) {
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(weights.tensors.data(i)) % 64, 0U);
  }
}

TEST(NetSpec, SummaryCountsParameters) {
  // the layers of RLlib's default net on the maze's 25 one-hot cells
  const NetSpec net =
      make_net(25, {.units = {256, 256}}, {{.name = "value", .output = "vf_preds"}});
  const std::string table = summary(net);
  EXPECT_NE(table.find("6,656"), std::string::npos) << table;
  EXPECT_NE(table.find("65,792"), std::string::npos);
  EXPECT_NE(table.find("257"), std::string::npos);
  EXPECT_NE(table.find("Total params: 72,705"), std::string::npos);
}

TEST(NetSpec, OrthogonalWeightsHaveOrthonormalRowsOrColumnsTimesTheirNorm) {
  for (const auto& [inputs, outputs] : {std::pair{5, 3}, std::pair{3, 5}, std::pair{4, 4}}) {
    const NetSpec net = make_net(inputs, {},
                                 {{.name = "q",
                                   .output = "q",
                                   .size = outputs,
                                   .init_norm = 2.0,
                                   .init = WeightInit::orthogonal}});
    const Weights weights = fresh_weights(net, Rng(3));
    const auto w = weights.tensors.column<float>("q.out.weight").span();
    const auto at = [&](int unit, int i) {
      return static_cast<double>(w[static_cast<std::size_t>(unit * inputs + i)]);
    };
    const int count = std::min(inputs, outputs);
    for (int a = 0; a < count; ++a) {
      for (int b = 0; b < count; ++b) {
        double product = 0.0;
        for (int i = 0; i < std::max(inputs, outputs); ++i) {
          product += outputs <= inputs ? at(a, i) * at(b, i) : at(i, a) * at(i, b);
        }
        EXPECT_NEAR(product, a == b ? 4.0 : 0.0, 1e-5) << inputs << " " << outputs;
      }
    }
  }
}

TEST(NetSpec, UniformWeightsStayWithinTheirBoundAndFillIt) {
  for (const auto& [init, bound, bias] : {std::tuple{WeightInit::torch_linear, 0.1, true},
                                          std::tuple{WeightInit::xavier_uniform, 0.2, false}}) {
    const NetSpec net = make_net(100, {}, {{.name = "q", .output = "q", .size = 50, .init = init}});
    const Weights weights = fresh_weights(net, Rng(3));
    float most = 0.0F;
    for (const float x : weights.tensors.column<float>("q.out.weight").span()) {
      most = std::max(most, std::abs(x));
    }
    EXPECT_LE(most, bound);
    EXPECT_GT(most, 0.99 * bound);
    EXPECT_EQ(weights.tensors.column<float>("q.out.bias")[0] != 0.0F, bias);
  }
}

TEST(NetSpec, ASummaryShowsOnePart) {
  const NetSpec net = make_net(25, {.units = {256, 256}},
                               {{.name = "q_value_head",
                                 .output = "q",
                                 .size = 4,
                                 .hidden = {.units = {256}, .activation = Activation::relu}},
                                {.name = "state_value_head",
                                 .output = "v",
                                 .hidden = {.units = {256}, .activation = Activation::relu}}});
  EXPECT_NE(summary(net, "base_model").find("Total params: 72,448"), std::string::npos);
  EXPECT_NE(summary(net, "q_value_head").find("Total params: 66,820"), std::string::npos);
  EXPECT_NE(summary(net, "state_value_head").find("Total params: 66,049"), std::string::npos);
  EXPECT_EQ(summary(net, "q_value_head").find("observations (Input)"), std::string::npos);
  EXPECT_THROW(summary(net, "value_head"), Error);
}

TEST(NetSpec, AnLstmStandsBetweenTrunkAndHeadsWithPytorchsTensors) {
  const NetSpec net =
      with_filter(make_net(3, {.units = {8}}, {{.name = "q", .output = "q", .size = 2}},
                           LstmSpec{.cells = 4, .extras = {{"prev_rewards", DType::float32, {}}}}));
  EXPECT_EQ(net.inputs, 4);
  EXPECT_EQ(observation_inputs(net), 3);
  EXPECT_EQ(net.layers[0].outputs, 3) << "extras are not filtered";
  EXPECT_EQ(lstm_layer(net), 2U);
  EXPECT_EQ(net.layers[2].source, 1U);
  EXPECT_EQ(net.layers[3].source, 2U);
  const Weights weights = fresh_weights(net, Rng(1));
  EXPECT_EQ(weights.tensors.column<float>("lstm.weight_ih").span().size(), 16U * 9U);
  EXPECT_EQ(weights.tensors.column<float>("lstm.weight_hh").span().size(), 16U * 4U);
  for (const char* name : {"lstm.weight_ih", "lstm.weight_hh", "lstm.bias_ih", "lstm.bias_hh"}) {
    float most = 0.0F;
    for (const float x : weights.tensors.column<float>(name).span()) {
      most = std::max(most, std::abs(x));
    }
    EXPECT_LE(most, 0.5F) << name << ": 1 / sqrt(cells)";
    EXPECT_GT(most, 0.3F) << name;
  }
  EXPECT_NE(summary(net, "base_model").find("lstm (LSTM)"), std::string::npos);
  EXPECT_NE(summary(net).find("240"), std::string::npos) << "4 * 4 * (9 + 4 + 2) parameters";
}

}  // namespace
}  // namespace knurl
