#include <cmath>

#include <gtest/gtest.h>

#include "knurl/core/base/error.h"
#include "knurl/core/config/yaml.h"
#include "knurl/models/columns.h"
#include "knurl/models/fast/fast_net.h"
#include "knurl/models/fast/kernels.h"
#include "knurl/models/trunk.h"

namespace knurl {
namespace {

TEST(ConvShape, SizesAndPaddingAreTensorFlows) {
  // 5 lines, kernel 4, stride 2: 3 places read 8 lines, 1 zero above and 2 below
  const ConvShape same{
      .size = {5, 6}, .kernel = {4, 3}, .stride = {2, 1}, .padding = Padding::same};
  EXPECT_EQ(same.output(), (Extent{3, 6}));
  EXPECT_EQ(same.before(), (Extent{1, 1}));
  EXPECT_EQ(same.after(), (Extent{2, 1}));
  // a stride beyond the kernel leaves pixels out and needs no zeros
  const ConvShape sparse{
      .size = {7, 7}, .kernel = {2, 2}, .stride = {5, 5}, .padding = Padding::same};
  EXPECT_EQ(sparse.output(), (Extent{2, 2}));
  EXPECT_EQ(sparse.before(), (Extent{0, 0}));
  EXPECT_EQ(sparse.after(), (Extent{0, 0}));
  const ConvShape valid{
      .size = {5, 6}, .channels = 3, .filters = 7, .kernel = {4, 3}, .stride = {2, 1}};
  EXPECT_EQ(valid.output(), (Extent{1, 4}));
  EXPECT_EQ(valid.patch(), 36);
  EXPECT_EQ(valid.num_inputs(), 90);
  EXPECT_EQ(valid.num_outputs(), 28);
  EXPECT_EQ((ConvShape{.size = {3, 3}, .kernel = {4, 1}}.num_outputs()), 0);
}

/// Sizes of what each layer makes of a picture.
std::vector<Extent> sizes_of(Extent size, int channels = 3) {
  std::vector<Extent> out;
  const Picture picture{.size = size, .channels = channels};
  for (const LayerSpec& layer : conv_layers(picture, default_filters(size), {})) {
    out.push_back(layer.conv.output());
  }
  return out;
}

TEST(DefaultFilters, AreRLlibsForItsSizes) {
  EXPECT_EQ(sizes_of({84, 84}), (std::vector<Extent>{{21, 21}, {11, 11}, {1, 1}}));
  EXPECT_EQ(sizes_of({42, 42}), (std::vector<Extent>{{21, 21}, {11, 11}, {1, 1}}));
  EXPECT_EQ(sizes_of({96, 96}), (std::vector<Extent>{{24, 24}, {12, 12}, {1, 1}}));
  EXPECT_EQ(sizes_of({64, 64}), (std::vector<Extent>{{32, 32}, {16, 16}, {8, 8}, {3, 3}}));
  EXPECT_EQ(sizes_of({10, 10}), (std::vector<Extent>{{5, 5}, {1, 1}}));
  EXPECT_EQ(sizes_of({240, 320}), (std::vector<Extent>{{35, 36}, {9, 9}, {1, 1}}));
  EXPECT_EQ(sizes_of({480, 640}), (std::vector<Extent>{{35, 36}, {9, 9}, {1, 1}}));
  EXPECT_EQ(default_filters({84, 84}),
            (std::vector<ConvFilter>{
                {16, {8, 8}, {4, 4}}, {32, {4, 4}, {2, 2}}, {256, {11, 11}, {1, 1}}}));
}

TEST(DefaultFilters, FitEveryOtherSize) {
  EXPECT_EQ(default_filters({80, 30}), (std::vector<ConvFilter>{{16, {4, 4}, {2, 2}},
                                                                {32, {4, 4}, {2, 2}},
                                                                {64, {4, 4}, {2, 2}},
                                                                {128, {4, 4}, {2, 2}},
                                                                {256, {5, 2}, {1, 1}}}));
  EXPECT_EQ(default_filters({7, 8}),
            (std::vector<ConvFilter>{{16, {3, 3}, {1, 1}}, {256, {7, 8}, {1, 1}}}));
  for (int height = 1; height < 130; height += 3) {
    for (int width = 1; width < 130; width += 7) {
      if (height == width && (height == 10 || height == 64)) continue;
      const auto sizes = sizes_of({height, width}, 1);
      EXPECT_EQ(sizes.back(), (Extent{1, 1})) << height << " x " << width;
      EXPECT_GE(sizes.size(), 2U);
    }
  }
}

TEST(ConvFilter, IsReadAndWrittenAsRLlibHasIt) {
  const auto read = [](const char* yaml) {
    ModelConfig model;
    read_fields(parse_yaml(yaml, "a.yaml"), schema_of<ModelConfig>(), &model, "model");
    return model;
  };
  const ModelConfig model = read("conv_filters: [[16, 4, 2], [32, [3, 5], [1, 2]]]");
  ASSERT_TRUE(model.conv_filters->has_value());
  EXPECT_EQ(**model.conv_filters,
            (std::vector<ConvFilter>{{16, {4, 4}, {2, 2}}, {32, {3, 5}, {1, 2}}}));
  EXPECT_EQ(to_json(*schema_of<ModelConfig>().write(&model).find("conv_filters")),
            "[[16,4,2],[32,[3,5],[1,2]]]");
  const auto refusal_of = [&](const char* yaml) -> std::string {
    try {
      read(yaml);
    } catch (const Error& error) {
      return error.what();
    }
    return "accepted";
  };
  EXPECT_EQ(refusal_of("conv_filters: [[16, 4]]"),
            "a.yaml:1: model.conv_filters[0] = a list of 2: must be a list [channels, kernel, "
            "stride], kernel and stride a number or [height, width]");
  EXPECT_EQ(refusal_of("conv_filters: [[16, [4, 4, 4], 1]]"),
            "a.yaml:1: model.conv_filters[0][1] = a list of 3: must be a list of exactly 2");
  EXPECT_EQ(refusal_of("conv_filters: [[16, 4, 0]]"),
            "a.yaml:1: model.conv_filters[0][2] = 0: must be in [1, 1048576]");
}

/// A net that is one convolution.
NetSpec net_of(const ConvShape& shape, Activation activation = Activation::linear) {
  const LayerSpec conv{.name = "conv.0",
                       .inputs = static_cast<int>(shape.num_inputs()),
                       .outputs = static_cast<int>(shape.num_outputs()),
                       .activation = activation,
                       .kind = LayerKind::conv,
                       .conv = shape};
  return {.inputs = conv.inputs, .layers = {conv}, .outputs = {{"y", {0}}}};
}

TEST(Convolution, IsTheSumOverEachPlacesPatch) {
  // 2 x 3 pixels of one channel, kernel [1, 2], padded: one zero on the right
  const ConvShape shape{.size = {2, 3}, .filters = 2, .kernel = {1, 2}, .padding = Padding::same};
  fast::FastNet net(net_of(shape, Activation::relu));
  Weights weights{.tensors = RecordBatch(tensors_of(net.spec()), 1)};
  EXPECT_EQ(weights.tensors.columns()[0].row_shape, (Shape{2, 1, 1, 2}));
  std::ranges::copy(std::vector<float>{1, 10, -1, 0},
                    weights.tensors.column<float>("conv.0.weight").data());
  std::ranges::copy(std::vector<float>{0.5F, 4},
                    weights.tensors.column<float>("conv.0.bias").data());
  net.set_weights(weights);
  const std::vector<float> picture{1, 2, 3, 4, 5, 6};
  net.forward(picture.data(), 1, 6);
  const auto y = net.output("y").row(0);
  // [place][filter]: x + 10 right + 0.5 and 4 - x, none below 0
  EXPECT_EQ(std::vector<float>(y.begin(), y.end()),
            (std::vector<float>{21.5F, 3, 32.5F, 2, 3.5F, 1, 54.5F, 0, 65.5F, 0, 6.5F, 0}));
}

TEST(Convolution, ChannelsLieTogetherAndWeightsAsPyTorchHasThem) {
  // one pixel of 3 channels, 1 filter: w . x
  const ConvShape shape{.size = {1, 2}, .channels = 3, .filters = 1, .kernel = {1, 2}};
  fast::FastNet net(net_of(shape));
  Weights weights{.tensors = RecordBatch(tensors_of(net.spec()), 1)};
  // [channel][column]
  std::ranges::copy(std::vector<float>{1, 2, 10, 20, 100, 200},
                    weights.tensors.column<float>("conv.0.weight").data());
  net.set_weights(weights);
  const std::vector<float> picture{1, 1, 1, 0, 1, 0};  // [column][channel]
  net.forward(picture.data(), 1, 6);
  EXPECT_EQ(net.output("y").row(0)[0], 131.0F);
}

TEST(Convolution, ARowHasTheSameBitsInEveryBatch) {
  Rng rng(4);
  for (const int filters : {5, 16}) {
    const ConvShape shape{.size = {7, 5},
                          .channels = 3,
                          .filters = filters,
                          .kernel = {3, 2},
                          .stride = {2, 1},
                          .padding = Padding::same};
    fast::FastNet net(net_of(shape, Activation::tanh));
    net.set_weights(fresh_weights(net.spec(), Rng(1)));
    std::vector<float> pictures(static_cast<std::size_t>(9 * net.spec().inputs));
    for (float& x : pictures) x = static_cast<float>(rng.normal());
    net.forward(pictures.data(), 9, net.spec().inputs);
    std::vector<std::vector<float>> expected;
    for (int row = 0; row < 9; ++row) {
      const auto y = net.output("y").row(row);
      expected.emplace_back(y.begin(), y.end());
    }
    for (int first = 0; first < 9; ++first) {
      for (int count = 1; first + count <= 9; ++count) {
        net.forward(pictures.data() + first * net.spec().inputs, count, net.spec().inputs);
        for (int row = 0; row < count; ++row) {
          const auto y = net.output("y").row(row);
          ASSERT_EQ(std::vector<float>(y.begin(), y.end()),
                    expected[static_cast<std::size_t>(first + row)]);
        }
      }
    }
  }
}

std::string refusal(const ModelConfig& model, const Space& space) {
  try {
    model_trunk(model, SpaceLayout(space), SpaceLayout(Discrete{.n = 2}));
  } catch (const Error& error) {
    return error.what();
  }
  return "accepted";
}

TEST(ModelTrunk, RefusesFiltersThatDoNotFit) {
  EXPECT_EQ(
      refusal({.conv_filters = std::vector<ConvFilter>{{8, {2, 2}, {2, 2}}, {8, {5, 4}, {1, 1}}}},
              Box{.shape = {8, 8, 1}}),
      "training.model.conv_filters[1]: kernel [5, 4] is larger than the picture [4, 4] that "
      "is left for it; give a smaller one, or null for filters that fit");
  EXPECT_EQ(refusal({.conv_filters = std::vector<ConvFilter>{{1 << 20, {1, 1}, {1, 1}}}},
                    Box{.shape = {100, 100, 3}}),
            "training.model.conv_filters[0]: makes 10485760000 numbers of a picture: at most "
            "100000000");
  EXPECT_EQ(
      refusal({.conv_filters = std::vector<ConvFilter>{{8, {1, 1}, {1, 1}}}}, Box{.shape = {4}}),
      "training.model.conv_filters: the observation Box([4], -inf, inf, float32) is no "
      "picture, a Box [height, width, channels]; leave them out");
}

/// Names of the layers that a model has for a space.
std::vector<std::string> names_of(const ModelConfig& model, const Space& space) {
  const HiddenLayers hidden = model_trunk(model, SpaceLayout(space), SpaceLayout());
  const int size = static_cast<int>(flat_size(SpaceLayout(space)));
  std::vector<std::string> out;
  for (const LayerSpec& layer : make_net(size, hidden, {{.name = "q", .output = "q"}}).layers) {
    out.push_back(fmt::format("{} {} {}", layer.name, layer.outputs, name_of(layer.activation)));
  }
  return out;
}

TEST(ModelTrunk, PicturesAreReadByConvolutionsThenByPostFcnetHiddens) {
  const ModelConfig model{
      .conv_filters = std::vector<ConvFilter>{{4, {3, 3}, {2, 2}}, {5, {2, 2}, {1, 1}}},
      .post_fcnet_hiddens = {6}};
  EXPECT_EQ(names_of(model, Box{.shape = {5, 5, 2}}),
            (std::vector<std::string>{"conv.0 36 relu", "conv.1 20 relu", "hidden.0 6 relu",
                                      "q.out 1 linear"}));
  EXPECT_EQ(names_of({.fcnet_hiddens = {3}, .post_fcnet_hiddens = {6}}, Box{.shape = {5}}),
            (std::vector<std::string>{"hidden.0 3 tanh", "hidden.1 6 tanh", "q.out 1 linear"}));
  EXPECT_EQ(names_of({.fcnet_hiddens = std::vector<int>{}, .post_fcnet_hiddens = {6}},
                     Box{.shape = {5, 5}}),
            (std::vector<std::string>{"hidden.0 6 relu", "q.out 1 linear"}));
}

TEST(ModelTrunk, SaysThatPicturesDoNotReadFcnetHiddens) {
  const auto warning = [](const ModelConfig& model) {
    ::testing::internal::CaptureStderr();
    names_of(model, Box{.shape = {5, 5, 2}});
    return ::testing::internal::GetCapturedStderr();
  };
  EXPECT_EQ(warning({}), "");
  EXPECT_EQ(warning({.fcnet_hiddens = {3}}),
            "knurl: warning: training.model.fcnet_hiddens is not read by a net of pictures: "
            "post_fcnet_hiddens are the layers behind its convolutions\n");
}

TEST(ModelTrunk, FreshConvolutionsAreXavierUniform) {
  const HiddenLayers hidden =
      model_trunk({.conv_filters = std::vector<ConvFilter>{{40, {5, 4}, {1, 1}}}},
                  SpaceLayout(Box{.shape = {5, 4, 10}}), SpaceLayout());
  const NetSpec net = make_net(200, hidden, {{.name = "q", .output = "q"}});
  const Weights weights = fresh_weights(net, Rng(1));
  // 5 * 4 * 10 numbers are read, 5 * 4 * 40 units read each
  const double bound = std::sqrt(6.0 / (200 + 800));
  double largest = 0.0;
  double squares = 0.0;
  const auto numbers = weights.tensors.column<float>("conv.0.weight").span();
  for (const float w : numbers) {
    largest = std::max(largest, std::abs(double{w}));
    squares += double{w} * w;
  }
  EXPECT_LE(largest, bound);
  EXPECT_GT(largest, 0.99 * bound);
  EXPECT_NEAR(squares / static_cast<double>(numbers.size()), bound * bound / 3.0, 2e-5);
  for (const float b : weights.tensors.column<float>("conv.0.bias").span()) EXPECT_EQ(b, 0.0F);
}

TEST(Summary, ShowsConvolutionsByTheSizeOfTheirPictures) {
  const HiddenLayers hidden = model_trunk(
      {.conv_filters = std::vector<ConvFilter>{{4, {3, 3}, {2, 2}}, {5, {2, 2}, {1, 1}}}},
      SpaceLayout(Box{.shape = {5, 5, 2}}), SpaceLayout());
  const std::string text = summary(make_net(50, hidden, {{.name = "q", .output = "q"}}));
  EXPECT_NE(text.find("conv.0 (Conv)             [N, 3, 3, 4]    relu                  76   "
                      "observations\n"),
            std::string::npos)
      << text;  // 3 * 3 * 2 * 4 + 4
  EXPECT_NE(
      text.find("conv.1 (Conv)             [N, 2, 2, 5]    relu                  85   conv.0"),
      std::string::npos)
      << text;
  EXPECT_NE(text.find("Total params: 182\n"), std::string::npos) << text;
  EXPECT_NE(summary(make_net(50, hidden, {{.name = "q", .output = "q"}}), "base_model")
                .find("Total params: 161\n"),
            std::string::npos);
}

}  // namespace
}  // namespace knurl
