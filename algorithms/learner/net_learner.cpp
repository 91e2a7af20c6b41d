#include "knurl/algorithms/learner/net_learner.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "knurl/core/base/error.h"
#include "knurl/models/noisy.h"

namespace knurl {
namespace {

constexpr const char* kOptimizerFile = "optimizer.safetensors";

std::unique_ptr<TrainableNet> make_net_for(const NetSpec& spec, const Weights& weights,
                                           int num_threads) {
  if (!has_noise(spec)) return make_torch_net(spec, weights, num_threads);
  return make_noisy_net(
      spec, weights,
      make_torch_net(without_noise(spec), plain_weights(spec, weights, nullptr), num_threads));
}

}  // namespace

NetLearner::NetLearner(const NetSpec& spec, const Weights& weights, const TrainingOptions& options,
                       int num_threads)
    : options_(options),
      net_(make_net_for(spec, weights, num_threads)),
      optimizer_(make_optimizer(options.optimizer, net_->parameters())),
      version_(weights.version) {
  if (std::ranges::count(spec.layers, LayerKind::filter, &LayerSpec::kind) > 0) {
    filter_.emplace(observation_inputs(spec));
  }
  for (const NetOutput& output : spec.outputs) {
    output_sizes_.push_back(size_of(spec, output));
  }
  output_gradients_.resize(output_sizes_.size());
}

double NetLearner::compute_gradients(const RecordBatch& minibatch, const Sequences& sequences,
                                     const LossFunction& loss) {
  const OutputValues values = net_->forward(minibatch, sequences);
  OutputGradients gradients;
  for (std::size_t i = 0; i < output_sizes_.size(); ++i) {
    output_gradients_[i].assign(static_cast<std::size_t>(minibatch.rows() * output_sizes_[i]),
                                0.0F);
    gradients.emplace_back(output_gradients_[i]);
  }
  const double value = loss(values, gradients);
  if (!std::isfinite(value)) {
    fail(ErrorKind::env, "update {}: the loss is {}: training stops before it spoils the weights",
         version_ + 1, value);
  }
  net_->backward({gradients.begin(), gradients.end()});
  return value;
}

void NetLearner::apply_gradients(double lr) {
  const ClippedGradients clipped =
      clip_gradients(net_->gradients(), options_.grad_clip, options_.grad_clip_by);
  gradient_norm_ = clipped.norm;
  if (!std::isfinite(gradient_norm_)) {
    fail(ErrorKind::env,
         "update {}: the gradient's norm is {}: training stops before it spoils the weights",
         version_ + 1, gradient_norm_);
  }
  optimizer_->step(net_->parameters(), net_->gradients(), lr, clipped.scale);
  ++version_;
}

Weights NetLearner::weights() const {
  return {.tensors = net_->parameters(),
          .version = version_,
          .observed = filter_ ? filter_->observed() : 0};
}

void NetLearner::set_weights(const Weights& weights) {
  RecordBatch& parameters = net_->parameters();
  require_same_tensors(weights.tensors, parameters);
  const auto from = weights.tensors.memory();
  std::memcpy(parameters.memory().data(), from.data(), from.size());
  version_ = weights.version;
  if (filter_) filter_->read(parameters, weights.observed);
}

void NetLearner::apply_filter() {
  if (!filter_) return;
  filter_->write(net_->parameters());
  ++version_;
}

void NetLearner::save(CheckpointData& out) const {
  out.add_tensors(kOptimizerFile, optimizer_->state());
  if (filter_) filter_->save(out);
}

void NetLearner::load(const CheckpointData& in) {
  optimizer_->restore(in.tensors(kOptimizerFile));
  if (filter_) filter_->load(in);
}

}  // namespace knurl
