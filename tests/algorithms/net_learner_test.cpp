#include "knurl/algorithms/learner/net_learner.h"

#include <algorithm>
#include <cmath>
#include <functional>

#include <gtest/gtest.h>

#include "knurl/core/base/error.h"
#include "knurl/models/columns.h"

namespace knurl {
namespace {

NetSpec two_outputs(int inputs = 2) {
  return make_net(inputs, {.units = {4}},
                  {{.name = "policy", .output = "logits", .size = 2, .init_norm = 1.0},
                   {.name = "value", .output = "values", .init_norm = 1.0}});
}

NetLearner fresh_learner(const TrainingOptions& options = {}) {
  return {two_outputs(), fresh_weights(two_outputs(), Rng(1)), options};
}

RecordBatch minibatch() {
  RecordBatch out({{column::kNetInputs, DType::float32, {2}}}, 3);
  std::ranges::copy(std::vector<float>{1, -1, 0.5F, 2, 0, 1},
                    out.column<float>(column::kNetInputs).data());
  return out;
}

/// Half the squares of all outputs.
double squares(const OutputValues& values, const OutputGradients& gradients) {
  double sum = 0.0;
  for (std::size_t k = 0; k < values.size(); ++k) {
    for (std::size_t i = 0; i < values[k].size(); ++i) {
      gradients[k][i] = values[k][i];
      sum += 0.5 * static_cast<double>(values[k][i]) * values[k][i];
    }
  }
  return sum;
}

/// A loss that is not finite.
LossFunction worth(double value) {
  return [value](const OutputValues& values, const OutputGradients& gradients) {
    squares(values, gradients);
    return value;
  };
}

/// A finite loss, one of whose gradients is not.
LossFunction with_slope(float slope) {
  return [slope](const OutputValues& values, const OutputGradients& gradients) {
    const double value = squares(values, gradients);
    gradients[1][2] = slope;
    return value;
  };
}

std::vector<float> parameters_of(const NetLearner& learner) {
  const Weights weights = learner.weights();
  const auto numbers = flat(weights.tensors);
  return {numbers.begin(), numbers.end()};
}

std::string refusal(const std::function<void()>& call) {
  try {
    call();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::env);
    return error.what();
  }
  return "accepted";
}

TEST(NetLearner, UpdatesMakeTheLossSmaller) {
  NetLearner learner = fresh_learner();
  const RecordBatch rows = minibatch();
  const double first = learner.update(rows, 0.01, squares);
  double last = first;
  for (int i = 0; i < 20; ++i) last = learner.update(rows, 0.01, squares);
  EXPECT_LT(last, 0.5 * first);
}

TEST(NetLearner, EachUpdateMakesTheVersionOneHigher) {
  NetLearner learner = fresh_learner();
  EXPECT_EQ(learner.version(), 0);
  for (std::int64_t i = 1; i <= 3; ++i) {
    learner.update(minibatch(), 0.01, squares);
    EXPECT_EQ(learner.version(), i);
    EXPECT_EQ(learner.weights().version, i);
  }
  learner.compute_gradients(minibatch(), squares);
  EXPECT_EQ(learner.version(), 3);  // nothing has moved yet
  Weights weights = learner.weights();
  weights.version = 41;
  learner.set_weights(weights);
  learner.update(minibatch(), 0.01, squares);
  EXPECT_EQ(learner.version(), 42);
}

TEST(NetLearner, WhatTheFilterHasSeenIsAVersion) {
  const NetSpec spec = with_filter(two_outputs());
  NetLearner learner(spec, fresh_weights(spec, Rng(1)), {});
  const float rows[2][2] = {{1, 2}, {3, 5}};
  for (const auto& row : rows) learner.observe(row);
  EXPECT_EQ(learner.version(), 0);
  learner.apply_filter();
  EXPECT_EQ(learner.version(), 1) << "who acts by it must take it over";
  NetLearner without = fresh_learner();
  without.apply_filter();
  EXPECT_EQ(without.version(), 0);
}

TEST(NetLearner, ALossThatIsNotFiniteChangesNothing) {
  for (const double spoilt : {std::nan(""), HUGE_VAL, -HUGE_VAL}) {
    NetLearner learner = fresh_learner();
    NetLearner other = fresh_learner();
    const auto before = parameters_of(learner);
    EXPECT_EQ(refusal([&] { learner.update(minibatch(), 0.01, worth(spoilt)); }),
              fmt::format("update 1: the loss is {}: training stops before it spoils the weights",
                          spoilt));
    EXPECT_EQ(parameters_of(learner), before);
    EXPECT_EQ(learner.version(), 0);
    // nor has the optimizer seen it
    learner.update(minibatch(), 0.01, squares);
    other.update(minibatch(), 0.01, squares);
    EXPECT_EQ(parameters_of(learner), parameters_of(other));
  }
}

TEST(NetLearner, AGradientThatIsNotFiniteChangesNothingHoweverItIsClipped) {
  for (const GradClipBy by : {GradClipBy::global_norm, GradClipBy::norm, GradClipBy::value}) {
    for (const std::optional<double> clip : {std::optional<double>(), std::optional(0.5)}) {
      for (const float spoilt : {std::nanf(""), HUGE_VALF}) {
        const TrainingOptions options{.grad_clip = clip, .grad_clip_by = by};
        NetLearner learner = fresh_learner(options);
        NetLearner other = fresh_learner(options);
        const auto before = parameters_of(learner);
        const std::string said =
            refusal([&] { learner.update(minibatch(), 0.01, with_slope(spoilt)); });
        EXPECT_EQ(said.rfind("update 1: the gradient's norm is ", 0), 0U) << said;
        EXPECT_FALSE(std::isfinite(learner.gradient_norm()));
        EXPECT_EQ(parameters_of(learner), before);
        EXPECT_EQ(learner.version(), 0);
        learner.update(minibatch(), 0.01, squares);
        other.update(minibatch(), 0.01, squares);
        EXPECT_EQ(parameters_of(learner), parameters_of(other));
      }
    }
  }
}

TEST(NetLearner, OutputsThatTheLossLeavesAloneTeachNothing) {
  NetLearner learner = fresh_learner();
  learner.compute_gradients(minibatch(), squares);
  learner.compute_gradients(minibatch(), [](const OutputValues&, const OutputGradients& gradients) {
    gradients[1][0] = 1.0F;
    return 0.0;
  });
  const auto bias = [&](const char* name) {
    return learner.gradients().column<float>(name).row(0);
  };
  EXPECT_TRUE(std::ranges::equal(bias("policy.out.bias"), std::vector<float>{0, 0}));
  EXPECT_TRUE(std::ranges::equal(bias("value.out.bias"), std::vector<float>{1}));
}

TEST(NetLearner, TheGradientsNormIsTheOneBeforeClipping) {
  NetLearner learner = fresh_learner({.grad_clip = 1e-3});
  learner.compute_gradients(minibatch(), squares);
  double sum = 0.0;
  for (const float x : flat(learner.gradients())) sum += static_cast<double>(x) * x;
  learner.apply_gradients(0.01);
  EXPECT_NEAR(learner.gradient_norm(), std::sqrt(sum), 1e-6);
  EXPECT_GT(learner.gradient_norm(), 1e-3);
}

TEST(NetLearner, ARestoredOneGoesOnAsIfNothingHadHappened) {
  NetLearner learner = fresh_learner();
  for (int i = 0; i < 3; ++i) learner.update(minibatch(), 0.01, squares);
  CheckpointData data;
  learner.save(data);
  NetLearner restored(two_outputs(), fresh_weights(two_outputs(), Rng(9)), {});
  restored.set_weights(learner.weights());
  restored.load(data);
  learner.update(minibatch(), 0.01, squares);
  restored.update(minibatch(), 0.01, squares);
  EXPECT_EQ(parameters_of(restored), parameters_of(learner));
  EXPECT_EQ(restored.version(), 4);
}

TEST(NetLearner, WeightsOfAnotherNetAreRefusedAndTheOldOnesStay) {
  NetLearner learner = fresh_learner();
  const auto before = parameters_of(learner);
  Weights other = fresh_weights(two_outputs(3), Rng(1));
  other.version = 7;
  try {
    learner.set_weights(other);
    ADD_FAILURE() << "accepted";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::config);
  }
  EXPECT_EQ(parameters_of(learner), before);
  EXPECT_EQ(learner.version(), 0);
}

TEST(NetLearner, BothBackendsTakeTheSameSteps) {
  std::vector<NetLearner> learners;
  for (const LearnerBackend backend : {LearnerBackend::fused, LearnerBackend::torch}) {
    learners.push_back({two_outputs(), fresh_weights(two_outputs(), Rng(1)), TrainingOptions{},
                        ResourceOptions{.learner_backend = backend}});
    for (int i = 0; i < 20; ++i) learners.back().update(minibatch(), 1e-2, squares);
  }
  const Weights fused = learners[0].weights();
  const Weights torch = learners[1].weights();
  for (std::size_t i = 0; i < flat(fused.tensors).size(); ++i) {
    EXPECT_NEAR(flat(fused.tensors)[i], flat(torch.tensors)[i], 1e-5);
  }
}

TEST(NetLearner, ABackendThatCannotSaysWhy) {
  const NetSpec spec =
      make_net(2, {.units = {3}}, {{.name = "q", .output = "q"}}, LstmSpec{.cells = 4});
  try {
    const NetLearner learner(spec, fresh_weights(spec, Rng(1)), {},
                             ResourceOptions{.learner_backend = LearnerBackend::fused});
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(std::string(error.what()),
              "resources.learner_backend = fused: there are no fused kernels for layer lstm, an "
              "LSTM; auto and torch can");
  }
}

}  // namespace
}  // namespace knurl
