#include "knurl/algorithms/learner/learner.h"

#include <cmath>
#include <cstring>

#include "knurl/core/base/check.h"
#include "knurl/core/base/error.h"

namespace knurl {
namespace {

constexpr const char* kOptimizerFile = "optimizer.safetensors";

}  // namespace

NetLearner::NetLearner(const NetSpec& spec, const Weights& weights, const TrainingOptions& options,
                       int num_threads)
    : options_(options),
      net_(make_torch_net(spec, weights, num_threads)),
      optimizer_(make_optimizer(options.optimizer, net_->parameters())),
      num_updates_(weights.version) {
  for (const NetOutput& output : spec.outputs) {
    output_sizes_.push_back(spec.layers[static_cast<std::size_t>(output.layer)].outputs);
  }
  output_gradients_.resize(output_sizes_.size());
}

double NetLearner::compute_gradients(const float* inputs, std::int64_t rows,
                                     const LossFunction& loss) {
  const OutputValues values = net_->forward(inputs, rows);
  OutputGradients gradients;
  for (std::size_t i = 0; i < output_sizes_.size(); ++i) {
    output_gradients_[i].assign(static_cast<std::size_t>(rows * output_sizes_[i]), 0.0F);
    gradients.emplace_back(output_gradients_[i]);
  }
  const double value = loss(values, gradients);
  if (!std::isfinite(value)) {
    fail(ErrorKind::env, "update {}: the loss is {}: training stops before it spoils the weights",
         num_updates_ + 1, value);
  }
  net_->backward({gradients.begin(), gradients.end()});
  return value;
}

void NetLearner::apply_gradients(double lr) {
  const double scale =
      clip_gradients(net_->gradients(), options_.grad_clip, options_.grad_clip_by, gradient_norm_);
  if (!std::isfinite(gradient_norm_)) {
    fail(ErrorKind::env,
         "update {}: the gradient's norm is {}: training stops before it spoils "
         "the weights",
         num_updates_ + 1, gradient_norm_);
  }
  optimizer_->step(net_->parameters(), net_->gradients(), lr, scale);
  ++num_updates_;
}

Weights NetLearner::weights() const {
  return {.tensors = net_->parameters(), .version = num_updates_};
}

void NetLearner::set_weights(const Weights& weights) {
  RecordBatch& parameters = net_->parameters();
  check(weights.tensors.columns() == parameters.columns(), "weights are those of this net");
  const auto from = weights.tensors.memory();
  std::memcpy(parameters.memory().data(), from.data(), from.size());
}

void NetLearner::save(CheckpointData& out) const {
  out.add_tensors(kOptimizerFile, optimizer_->state());
}

void NetLearner::load(const CheckpointData& in) {
  const RecordBatch optimizer = in.tensors(kOptimizerFile);
  optimizer_->restore(optimizer);
  num_updates_ = optimizer.column<std::int64_t>("steps")[0];
}

}  // namespace knurl
