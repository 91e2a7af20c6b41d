#include "knurl/models/net_spec.h"

#include <cmath>

#include <gtest/gtest.h>

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
      (DenseLayer{
          .name = "policy.hidden.0", .inputs = 4, .outputs = 64, .activation = Activation::tanh}));
  EXPECT_EQ(net.layers[2].name, "policy.out");
  EXPECT_EQ(net.layers[2].source, 1);
  EXPECT_EQ(net.layers[3].source, std::nullopt);
  EXPECT_EQ(net.outputs, (std::vector<NetOutput>{{"action_dist_inputs", 2}, {"vf_preds", 4}}));
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

}  // namespace
}  // namespace knurl
