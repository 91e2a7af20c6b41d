#include <cmath>
#include <limits>

#include <gtest/gtest.h>

#include "knurl/algorithms/learner/optimizer.h"
#include "knurl/core/config/schedule.h"
#include "knurl/core/config/yaml.h"
#include "knurl/models/weights.h"

namespace knurl {
namespace {

RecordBatch tensors(std::vector<float> a, std::vector<float> b) {
  RecordBatch out({{"a", DType::float32, {static_cast<std::int64_t>(a.size())}},
                   {"b", DType::float32, {static_cast<std::int64_t>(b.size())}}},
                  1);
  std::ranges::copy(a, out.column<float>("a").data());
  std::ranges::copy(b, out.column<float>("b").data());
  return out;
}

TEST(Optimizer, TheFirstStepOfAdamIsTheLearningRate) {
  RecordBatch parameters = tensors({1, 1}, {1});
  const RecordBatch gradients = tensors({5, -0.01F}, {0});
  const auto adam = make_optimizer({}, parameters);
  adam->step(parameters, gradients, 0.1, 1.0);
  EXPECT_NEAR(parameters.column<float>("a").data()[0], 0.9, 1e-6);
  EXPECT_NEAR(parameters.column<float>("a").data()[1], 1.1, 1e-6);
  EXPECT_EQ(parameters.column<float>("b").data()[0], 1.0F);
}

TEST(Optimizer, SgdWithMomentumAddsUp) {
  RecordBatch parameters = tensors({0}, {0});
  const RecordBatch gradients = tensors({1}, {2});
  const auto sgd = make_optimizer({.type = OptimizerType::sgd, .momentum = 0.5}, parameters);
  sgd->step(parameters, gradients, 0.1, 1.0);
  EXPECT_FLOAT_EQ(parameters.column<float>("a")[0], -0.1F);
  sgd->step(parameters, gradients, 0.1, 1.0);
  EXPECT_FLOAT_EQ(parameters.column<float>("a")[0], -0.1F - 0.15F);
  EXPECT_FLOAT_EQ(parameters.column<float>("b")[0], -0.5F);
}

TEST(Optimizer, ARestoredOneGoesOnAsIfNothingHadHappened) {
  for (const OptimizerType type : {OptimizerType::adam, OptimizerType::sgd}) {
    const OptimizerConfig config{.type = type, .momentum = 0.9};
    RecordBatch parameters = tensors({1, 2, 3}, {4});
    const RecordBatch gradients = tensors({0.1F, -0.2F, 0.3F}, {0.4F});
    const auto first = make_optimizer(config, parameters);
    for (int i = 0; i < 3; ++i) first->step(parameters, gradients, 0.01, 1.0);
    RecordBatch copy = parameters;
    const auto second = make_optimizer(config, copy);
    second->restore(first->state());
    first->step(parameters, gradients, 0.01, 1.0);
    second->step(copy, gradients, 0.01, 1.0);
    for (std::size_t i = 0; i < flat(copy).size(); ++i) {
      EXPECT_EQ(flat(copy)[i], flat(parameters)[i]);
    }
  }
}

TEST(Optimizer, AStateOfAnotherNetIsRefused) {
  const RecordBatch small = tensors({1}, {1});
  const RecordBatch large = tensors({1, 2}, {1});
  EXPECT_THROW(make_optimizer({}, small)->restore(make_optimizer({}, large)->state()), Error);
  EXPECT_THROW(make_optimizer({}, small)->restore(
                   make_optimizer({.type = OptimizerType::sgd}, small)->state()),
               Error);
}

TEST(ClipGradients, GlobalNormScalesAllAlike) {
  RecordBatch gradients = tensors({3, 0}, {4});
  const ClippedGradients clipped = clip_gradients(gradients, 2.5, GradClipBy::global_norm);
  EXPECT_NEAR(clipped.scale, 0.5, 1e-6);
  EXPECT_DOUBLE_EQ(clipped.norm, 5.0);
  EXPECT_EQ(clip_gradients(gradients, 10.0, GradClipBy::global_norm).scale, 1.0);
  EXPECT_EQ(clip_gradients(gradients, std::nullopt, GradClipBy::global_norm).scale, 1.0);
}

TEST(ClipGradients, NormClipsEachTensorByItself) {
  RecordBatch gradients = tensors({3, 4}, {1});
  EXPECT_EQ(clip_gradients(gradients, 2.5, GradClipBy::norm).scale, 1.0);
  EXPECT_NEAR(gradients.column<float>("a").data()[0], 1.5, 1e-5);
  EXPECT_NEAR(gradients.column<float>("b").data()[0], 1.0, 1e-6);
}

TEST(ClipGradients, ValueClipsEachNumber) {
  RecordBatch gradients = tensors({3, -4}, {0.5F});
  clip_gradients(gradients, 1.0, GradClipBy::value);
  EXPECT_EQ(gradients.column<float>("a").data()[0], 1.0F);
  EXPECT_EQ(gradients.column<float>("a").data()[1], -1.0F);
  EXPECT_EQ(gradients.column<float>("b").data()[0], 0.5F);
}

TEST(ClipGradients, TheNormOfNaNIsNaN) {
  RecordBatch gradients = tensors({std::nanf(""), 1}, {1});
  EXPECT_TRUE(std::isnan(clip_gradients(gradients, 1.0, GradClipBy::global_norm).norm));
}

TEST(Schedule, GoesInLinesBetweenItsPoints) {
  const Schedule schedule(std::vector<Schedule::Point>{{100, 1.0}, {200, 0.0}, {300, 0.5}});
  EXPECT_EQ(schedule.at(0), 1.0);
  EXPECT_EQ(schedule.at(100), 1.0);
  EXPECT_EQ(schedule.at(150), 0.5);
  EXPECT_EQ(schedule.at(200), 0.0);
  EXPECT_EQ(schedule.at(250), 0.25);
  EXPECT_EQ(schedule.at(1'000), 0.5);
  EXPECT_EQ(Schedule(0.3).at(77), 0.3);
}

TEST(Schedule, FilesWriteANumberOrPoints) {
  const auto read = [](const std::string& text) {
    return ValueType<Schedule>::read(parse_yaml(text, "a.yaml"), "lr", at_least(0));
  };
  EXPECT_EQ(read("0.5").at(10), 0.5);
  EXPECT_EQ(read("[[0, 1.0], [10, 0.0]]").at(5), 0.5);
  EXPECT_THROW(read("[[10, 1.0], [0, 0.0]]"), Error);
  EXPECT_THROW(read("[[0, -1.0]]"), Error);
  EXPECT_THROW(read("[]"), Error);
  EXPECT_THROW(read("fast"), Error);
}

}  // namespace
}  // namespace knurl
