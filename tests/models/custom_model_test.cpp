#include "knurl/models/custom_model.h"

#include <limits>

#include <gtest/gtest.h>

#include "knurl/apps/examples/my_model/wave_features.h"
#include "knurl/core/base/error.h"
#include "knurl/core/config/yaml.h"
#include "knurl/models/check_layer.h"
#include "knurl/models/fast/fast_net.h"
#include "knurl/models/trunk.h"

namespace knurl {
namespace {

std::string message_of(const std::function<void()>& body) {
  try {
    body();
  } catch (const Error& error) {
    return error.what();
  }
  return "accepted";
}

const SpaceLayout kThree(Box{.shape = {3}});
const SpaceLayout kTwoActions(Discrete{.n = 2});

/// A trunk on 3 numbers.
Trunk empty_trunk() {
  static const ModelConfig model;
  return Trunk({.observations = kThree, .actions = kTwoActions, .size = 3, .model = model});
}

TEST(Trunk, FillsInWhatFollows) {
  Trunk trunk = empty_trunk();
  EXPECT_EQ(trunk.add({.name = "a", .outputs = 5}), 0U);
  EXPECT_EQ(
      trunk.add(
          {.name = "b", .kind = LayerKind::custom, .custom = std::make_shared<WaveFeatures>(5, 4)}),
      1U);
  trunk.add({.name = "c", .outputs = 2}, std::nullopt);
  trunk.add({.name = "d", .kind = LayerKind::conv, .conv = {.size = {2, 4}, .filters = 6}}, 1);
  ASSERT_EQ(trunk.layers().size(), 4U);
  EXPECT_EQ(trunk.layers()[0].inputs, 3);
  EXPECT_EQ(trunk.layers()[1].source, 0);
  EXPECT_EQ(trunk.layers()[1].outputs, 8);
  EXPECT_EQ(trunk.layers()[2].inputs, 3);
  EXPECT_EQ(trunk.layers()[3].outputs, 48);
  EXPECT_EQ(trunk.size_of(std::nullopt), 3);
}

TEST(Trunk, RefusesLayersThatCannotBe) {
  const auto refusal = [](LayerSpec layer, Trunk::Source source) {
    return message_of([&] {
      Trunk trunk = empty_trunk();
      trunk.add({.name = "first", .outputs = 5});
      trunk.add(std::move(layer), source);
    });
  };
  EXPECT_EQ(refusal({.name = "deep", .outputs = 1}, 4),
            "layer deep: reads layer 4, but only 1 come before it");
  EXPECT_EQ(refusal({.name = "deep", .inputs = 4, .outputs = 1}, 0),
            "layer deep: reads rows of 4 numbers, but layer first has 5");
  EXPECT_EQ(refusal({.name = "deep",
                     .kind = LayerKind::custom,
                     .custom = std::make_shared<WaveFeatures>(4, 4)},
                    std::nullopt),
            "layer deep: reads rows of 4 numbers, but the observation has 3");
  EXPECT_EQ(refusal({.name = "first", .outputs = 1}, 0), "layer first: there are two of this name");
  EXPECT_EQ(refusal({.outputs = 1}, 0), "layer 1 of the model has no name");
  EXPECT_EQ(refusal({.name = "deep"}, 0), "layer deep: outputs = 0: must be at least 1");
  EXPECT_EQ(refusal({.name = "deep", .kind = LayerKind::custom}, 0),
            "layer deep: LayerKind::custom without a layer: set .custom");
  EXPECT_EQ(refusal({.name = "deep",
                     .outputs = 9,
                     .kind = LayerKind::custom,
                     .custom = std::make_shared<WaveFeatures>(5, 4)},
                    0),
            "layer deep: outputs = 9: its kind has 8");
  EXPECT_EQ(refusal({.name = "deep",
                     .kind = LayerKind::conv,
                     .conv = {.size = {1, 5}, .filters = 2, .kernel = {2, 2}}},
                    0),
            "layer deep: 2 filters [2, 2] of stride [1, 1] do not fit a picture [1, 5, 1]");
  EXPECT_EQ(refusal({.name = "deep", .outputs = 5, .kind = LayerKind::filter}, 0),
            "layer deep: layers of this kind belong to algorithms");
}

struct WavesConfig {
  int waves = 4;
  static void fields(auto& self, auto&& field) {
    field("waves", self.waves, "how many", Range{1, 100});
  }
};

Trunk build_waves(const ModelInput& input, const WavesConfig& config) {
  if (config.waves == 13) throw std::runtime_error("unlucky");
  Trunk trunk(input);
  trunk.add({.name = "waves",
             .kind = LayerKind::custom,
             .custom = std::make_shared<WaveFeatures>(input.size, config.waves)});
  trunk.add({.name = "dense", .outputs = 6, .activation = input.model.fcnet_activation});
  return trunk;
}

Trunk build_nothing(const ModelInput& input) {
  return Trunk(input);
}

Trunk build_dangling(const ModelInput& input) {
  Trunk trunk(input);
  trunk.add({.name = "side", .outputs = 4});
  trunk.add({.name = "main", .outputs = 4}, std::nullopt);
  return trunk;
}

class CustomModel : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    register_model("waves", "sines and cosines", build_waves);
    register_model("nothing", "heads on the observation", build_nothing);
    register_model("dangling", "a layer for nobody", build_dangling);
  }
  static ModelConfig model(const char* yaml) {
    ModelConfig out;
    read_fields(parse_yaml(yaml, "a.yaml"), schema_of<ModelConfig>(), &out, "model");
    return out;
  }
};

TEST_F(CustomModel, StandsInPlaceOfTheHiddenLayers) {
  const HiddenLayers hidden = model_trunk(
      model("{custom_model: waves, custom_model_config: {waves: 5}, fcnet_activation: elu}"),
      kThree, kTwoActions);
  const NetSpec net = make_net(
      3, {},
      {{.name = "policy", .output = "logits", .size = 2, .hidden = hidden, .init_norm = 1.0},
       {.name = "value", .output = "values", .hidden = hidden}});
  ASSERT_EQ(net.layers.size(), 6U);
  EXPECT_EQ(net.layers[0].name, "policy.trunk.waves");
  EXPECT_EQ(net.layers[1].activation, Activation::elu);
  EXPECT_EQ(net.layers[1].source, 0);
  EXPECT_EQ(net.layers[3].name, "value.trunk.waves");
  EXPECT_EQ(net.layers[3].source, std::nullopt);
  EXPECT_EQ(net.layers[4].source, 3);
  EXPECT_EQ(tensors_of(net)[0],
            (ColumnSpec{"policy.trunk.waves.frequencies", DType::float32, {5, 3}}));
  EXPECT_NE(summary(net, "policy").find("policy.trunk.waves (Waves)  [N, 10] "), std::string::npos)
      << summary(net, "policy");
  const NetSpec shared = make_net(3, hidden, {{.name = "q", .output = "q"}});
  EXPECT_NE(summary(shared, "base_model").find("trunk.dense (Dense)"), std::string::npos);
}

TEST_F(CustomModel, MayHaveNoLayers) {
  EXPECT_TRUE(model_trunk(model("{custom_model: nothing}"), kThree, kTwoActions).first.empty());
}

TEST_F(CustomModel, RefusalsNameWhatIsWrong) {
  const auto refusal = [](const char* yaml) {
    return message_of([&] { check_custom_model(model(yaml)); });
  };
  EXPECT_EQ(refusal("{custom_model: waves, custom_model_config: {waves: 7}}"), "accepted");
  EXPECT_EQ(refusal("{custom_model: wave}"),
            "training.model.custom_model = wave: no model is registered under it; did you mean "
            "waves?");
  EXPECT_EQ(refusal("{custom_model: waves, custom_model_config: {wave: 7}}"),
            "a.yaml:1: training.model.custom_model_config.wave: unknown option; did you mean "
            "waves?");
  EXPECT_EQ(refusal("{custom_model: waves, custom_model_config: {waves: 0}}"),
            "a.yaml:1: training.model.custom_model_config.waves = 0: must be in [1, 100]");
  EXPECT_EQ(refusal("{custom_model: nothing, custom_model_config: {waves: 1}}"),
            "a.yaml:1: training.model.custom_model_config.waves: unknown option");
  EXPECT_EQ(refusal("{custom_model_config: {waves: 7}}"),
            "a.yaml:1: training.model.custom_model_config.waves without a custom_model: give "
            "both");
  EXPECT_EQ(message_of([] { register_model("waves", "again", build_nothing); }),
            "the model name waves is taken");
  EXPECT_EQ(message_of([] {
              model_trunk(model("{custom_model: waves, custom_model_config: {waves: 13}}"), kThree,
                          kTwoActions);
            }),
            "custom model waves: unlucky");
  EXPECT_EQ(
      message_of([] { model_trunk(model("{custom_model: dangling}"), kThree, kTwoActions); }),
      "custom model dangling: layer side: no layer reads it, and the heads read only the last one, "
      "main; leave it out");
}

/// A layer that lacks something.
class Broken final : public WaveFeatures {
 public:
  enum class Part { tensor, rest, rows, dx, d_tensors };
  explicit Broken(Part part) : WaveFeatures(3, 4), part_(part) {}

  void initialise(LayerTensors<float> tensors, Rng& rng) const override {
    WaveFeatures::initialise(tensors, rng);
    if (part_ == Part::tensor) tensors[0][2] = std::numeric_limits<float>::infinity();
  }
  void forward(LayerTensors<const float> tensors, FloatRows<const float> x,
               FloatRows<float> y) const override {
    const float kept = y.row(0)[1];
    WaveFeatures::forward(tensors, x, y);
    if (part_ == Part::rest) y.row(0)[1] = kept;
    if (part_ == Part::rows) y.row(x.rows - 1)[0] += 1e-3F * static_cast<float>(x.rows);
  }
  void backward(const LayerBackward& pass) const override {
    WaveFeatures::backward(pass);
    if (part_ == Part::dx) pass.dx.row(2)[0] += 0.1F;
    if (part_ == Part::d_tensors) pass.d_tensors[0][5] *= 1.1F;
  }

 private:
  Part part_;
};

TEST(CheckLayer, PassesASoundLayer) {
  EXPECT_EQ(check_layer(WaveFeatures(3, 4)), std::vector<std::string>{});
  EXPECT_EQ(check_layer(WaveFeatures(1, 1), 7), std::vector<std::string>{});
  EXPECT_EQ(check_layer(WaveFeatures(40, 70), 1), std::vector<std::string>{});
}

TEST(CheckLayer, FindsWhatIsBroken) {
  const auto found = [](Broken::Part part) {
    const auto problems = check_layer(Broken(part));
    return problems.size() == 1 ? problems[0].substr(0, 30) : std::to_string(problems.size());
  };
  EXPECT_EQ(found(Broken::Part::tensor), "tensor frequencies of a fresh ");
  EXPECT_EQ(found(Broken::Part::rest), "output 1 is not written, or no");
  EXPECT_EQ(found(Broken::Part::rows), "row 0 has other bits among 1 r");
  EXPECT_EQ(found(Broken::Part::dx), "d loss / d x of row 2, element");
  EXPECT_EQ(found(Broken::Part::d_tensors), "d loss / d frequencies, elemen");
  EXPECT_EQ(check_layer(WaveFeatures(0, 4)).size(), 1U);
}

/// Divides 0 by itself where its input is 0.
class ZeroOverZero final : public CustomLayer {
 public:
  [[nodiscard]] int inputs() const override { return 1; }
  [[nodiscard]] int outputs() const override { return 2; }
  void forward(LayerTensors<const float> /*tensors*/, FloatRows<const float> x,
               FloatRows<float> y) const override {
    for (std::int64_t row = 0; row < x.rows; ++row) {
      y.row(row)[0] = x.row(row)[0];
      y.row(row)[1] = x.row(row)[0] / x.row(row)[0];
    }
  }
  void backward(const LayerBackward& /*pass*/) const override {}
};

/// A net of one custom layer, "trunk.odd".
NetSpec net_of(const std::shared_ptr<const CustomLayer>& layer) {
  return {.inputs = layer->inputs(),
          .layers = {{.name = "trunk.odd",
                      .inputs = layer->inputs(),
                      .outputs = layer->outputs(),
                      .kind = LayerKind::custom,
                      .custom = layer}},
          .outputs = {{"y", {0}}}};
}

/// Throws where it is fresh, or where it runs.
class Throwing final : public CustomLayer {
 public:
  enum class When { fresh, running };
  explicit Throwing(When when) : when_(when) {}
  [[nodiscard]] int inputs() const override { return 1; }
  [[nodiscard]] int outputs() const override { return 1; }
  [[nodiscard]] std::string_view type() const override { return "Throwing"; }
  void initialise(LayerTensors<float> /*tensors*/, Rng& /*rng*/) const override {
    if (when_ == When::fresh) throw std::runtime_error("no seed");
  }
  void forward(LayerTensors<const float> /*tensors*/, FloatRows<const float> /*x*/,
               FloatRows<float> /*y*/) const override {
    throw Error(ErrorKind::io, "no table");
  }
  void backward(const LayerBackward& /*pass*/) const override {}

 private:
  When when_;
};

TEST(CustomLayer, WhatItThrowsHasItsName) {
  EXPECT_EQ(message_of([] {
              fresh_weights(net_of(std::make_shared<Throwing>(Throwing::When::fresh)), Rng(1));
            }),
            "layer trunk.odd (Throwing): no seed");
  fast::FastNet net(net_of(std::make_shared<Throwing>(Throwing::When::running)));
  const float x = 1.0F;
  EXPECT_EQ(message_of([&] { net.forward(&x, 1, 1); }), "layer trunk.odd (Throwing): no table");
}

TEST(CustomLayer, AFreshTensorThatIsNotFiniteIsRefusedByName) {
  EXPECT_EQ(message_of([] {
              fresh_weights(net_of(std::make_shared<Broken>(Broken::Part::tensor)), Rng(1));
            }),
            "layer trunk.odd (Waves): a fresh frequencies[2] is inf: must be finite");
}

TEST(CustomLayer, ANumberThatIsNoneEndsTheRunWithItsName) {
  const NetSpec spec = net_of(std::make_shared<ZeroOverZero>());
  fast::FastNet net(spec);
  net.set_weights(fresh_weights(spec, Rng(1)));
  const std::vector<float> x{2.0F, 0.0F, std::numeric_limits<float>::quiet_NaN()};
  net.forward(x.data(), 1, 1);
  EXPECT_EQ(net.output("y").row(0)[1], 1.0F);
  EXPECT_EQ(message_of([&] { net.forward(x.data(), 2, 1); }),
            "layer trunk.odd (Custom): made output 1 of finite numbers -nan: must be finite");
  net.forward(x.data() + 2, 1, 1);  // an observation that is none goes through
}

}  // namespace
}  // namespace knurl
