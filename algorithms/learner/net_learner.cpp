#include "knurl/algorithms/learner/net_learner.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "knurl/core/base/error.h"
#include "knurl/core/base/log.h"
#include "knurl/models/fast/fused_net.h"
#include "knurl/models/fast/kernels.h"
#include "knurl/models/noisy.h"

namespace knurl {
namespace {

constexpr const char* kOptimizerFile = "optimizer.safetensors";

/// What trains a plain net.
std::unique_ptr<TrainableNet> make_plain_net(const NetSpec& spec, const Weights& weights,
                                             const ResourceOptions& resources) {
  const std::optional<std::string> not_fused = fast::why_not_fused(spec);
  if (*resources.learner_backend == LearnerBackend::fused && not_fused) {
    fail(ErrorKind::config, "resources.learner_backend = fused: {}; auto and torch can",
         *not_fused);
  }
  if (*resources.learner_backend == LearnerBackend::torch || not_fused) {
    log(LogLevel::info, "learning with LibTorch: {}",
        not_fused.value_or("resources.learner_backend asks for it"));
    return make_torch_net(spec, weights, resources.num_cpus_for_local_worker);
  }
  log(LogLevel::info, "learning with fused kernels, {}", fast::kernels().name);
  return std::make_unique<fast::FusedNet>(spec, weights);
}

std::unique_ptr<TrainableNet> make_net_for(const NetSpec& spec, const Weights& weights,
                                           const ResourceOptions& resources) {
  if (!has_noise(spec)) return make_plain_net(spec, weights, resources);
  const NetSpec plain = without_noise(spec);
  return make_noisy_net(spec, weights,
                        make_plain_net(plain, plain_weights(spec, weights, nullptr), resources));
}

}  // namespace

NetLearner::NetLearner(const NetSpec& spec, const Weights& weights, const TrainingOptions& options,
                       const ResourceOptions& resources)
    : options_(options),
      net_(make_net_for(spec, weights, resources)),
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
  OutputGradients& gradients = gradient_spans_;
  gradients.clear();
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
