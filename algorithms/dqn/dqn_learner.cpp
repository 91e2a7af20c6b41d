#include "knurl/algorithms/dqn/dqn_learner.h"

#include <algorithm>
#include <numeric>

#include "knurl/core/base/error.h"
#include "knurl/models/columns.h"
#include "knurl/models/noisy.h"

namespace knurl {
namespace {

constexpr const char* kTargetFile = "target.safetensors";

}  // namespace

DqnLearner::DqnLearner(const DQNConfig& config, const SpaceLayout& observations,
                       const SpaceLayout& actions, const Rng& rng)
    : options_(config.own()),
      observations_(observations),
      spec_(config.net_for(observations, actions)),
      head_(config.head_for(actions)),
      lr_(config.common().training.lr),
      learner_(spec_, fresh_weights(spec_, rng.split("weights")), config.common().training,
               config.common().resources),
      target_(learner_.weights()),
      noise_(rng.split("noise")),
      online_net_(without_noise(spec_)),
      target_net_(without_noise(spec_)),
      encoder_(observations),
      next_encoder_(observations) {
  learner_.set_filter_epsilon(config.filter_epsilon());
}

/// A net's weights with the noise of the next update.
Weights DqnLearner::acting_weights(const Weights& weights, const char* who) const {
  const Rng stream = noise_.split(who, static_cast<std::uint64_t>(version()));
  const RecordBatch noise = draw_noise(spec_, stream);
  return plain_weights(spec_, weights, &noise);
}

void DqnLearner::judge(fast::FastNet& net, const float* inputs, std::int64_t rows,
                       std::vector<float>& out) {
  net.forward(inputs, rows, encoder_.size());
  const fast::FastNet::Output scores = net.output(column::kActionScores);
  out.resize(static_cast<std::size_t>(rows * head_.size()));
  for (std::int64_t row = 0; row < rows; ++row) {
    const float* state = head_.dueling ? net.output(column::kStateScores).row(row).data() : nullptr;
    head_.combine(scores.row(row).data(), state, out.data() + row * head_.size());
  }
}

void DqnLearner::run_target(const float* inputs, std::int64_t rows) {
  if (has_noise(spec_)) {
    target_net_.set_weights(acting_weights(target_, "target"));
  } else if (!target_is_current_) {
    target_net_.set_weights(target_);
    target_is_current_ = true;
  }
  judge(target_net_, inputs, rows, next_target_);
}

void DqnLearner::run_online(const float* inputs, std::int64_t rows) {
  if (!options_.double_q) return;
  const Weights weights = learner_.weights();
  online_net_.set_weights(has_noise(spec_) ? acting_weights(weights, "choice") : weights);
  judge(online_net_, inputs, rows, next_online_);
  next_q_.resize(static_cast<std::size_t>(rows * head_.actions));
  for (std::int64_t row = 0; row < rows; ++row) {
    head_.values(next_online_.data() + row * head_.size(), next_q_.data() + row * head_.actions);
  }
}

TdLoss DqnLearner::loss(const TdBatch& batch, const OutputValues& values,
                        const OutputGradients& gradients) {
  const auto size = static_cast<std::size_t>(head_.size());
  const auto atoms = static_cast<std::size_t>(head_.atoms);
  const std::size_t rows = batch.actions.size();
  scores_.resize(rows * size);
  gradient_.resize(rows * size);
  for (std::size_t row = 0; row < rows; ++row) {
    head_.combine(values[0].data() + row * size,
                  head_.dueling ? values[1].data() + row * atoms : nullptr,
                  scores_.data() + row * size);
  }
  const TdLossOptions options{.double_q = options_.double_q,
                              .error_loss = options_.td_error_loss_fn};
  const DqnOutputs outputs{
      .scores = scores_, .next_q_online = next_q_, .next_scores_target = next_target_};
  TdLoss out = head_.atoms > 1 ? categorical_loss(options, head_, batch, outputs, gradient_)
                               : dqn_loss(options, head_, batch, outputs, gradient_);
  for (std::size_t row = 0; row < rows; ++row) {
    head_.combine_gradient(gradient_.data() + row * size, gradients[0].data() + row * size,
                           head_.dueling ? gradients[1].data() + row * atoms : nullptr);
  }
  return out;
}

std::vector<float> DqnLearner::update(const RecordBatch& transitions,
                                      std::span<const float> weights, std::int64_t timestep) {
  const std::int64_t rows = transitions.rows();
  const ConstRows next(observations_, transitions, column::kNextObservations);
  const float* next_inputs = next_encoder_.encode(next, rows);
  run_target(next_inputs, rows);
  run_online(next_inputs, rows);

  if (minibatch_.rows() != rows) {
    minibatch_ = RecordBatch({{column::kNetInputs, DType::float32, {encoder_.size()}}}, rows);
  }
  const ConstRows seen(observations_, transitions, column::kObservations);
  std::copy_n(encoder_.encode(seen, rows), rows * encoder_.size(),
              minibatch_.column<float>(column::kNetInputs).data());
  const TdBatch batch{.actions = transitions.column<std::int64_t>(column::kActions).span(),
                      .rewards = transitions.column<float>(column::kRewards).span(),
                      .discounts = transitions.column<float>(column::kDiscounts).span(),
                      .weights = weights};
  TdLoss result;
  last_lr_ = lr_.at(timestep);
  learner_.draw_noise(noise_.split("update", static_cast<std::uint64_t>(version())));
  learner_.update(minibatch_, last_lr_,
                  [&](const OutputValues& values, const OutputGradients& gradients) {
                    result = loss(batch, values, gradients);
                    return result.total;
                  });
  sums_.mean_q += result.mean_q;
  sums_.min_q += result.min_q;
  sums_.max_q += result.max_q;
  sums_.td_error += std::accumulate(result.td_error.begin(), result.td_error.end(), 0.0) /
                    static_cast<double>(rows);
  sums_.loss += result.total;
  sums_.gradient_norm += learner_.gradient_norm();
  ++sums_.updates;
  return std::move(result.td_error);
}

void DqnLearner::observe(const std::vector<Fragment>& fragments) {
  if (!learner_.has_filter()) return;
  for (const SegmentPlace& place : in_order(fragments)) {
    const PolicySteps& steps = fragments[place.fragment].policies[0];
    const ConstRows seen(observations_, steps.columns, column::kObservations);
    for (std::int64_t step = 0; step < place.segment->length; ++step) {
      learner_.observe(encoder_.encode(seen.from(place.segment->row(step)), 1));
    }
  }
}

std::vector<float> DqnLearner::action_values(const Weights& weights,
                                             const std::vector<Fragment>& fragments) {
  std::vector<float> out;
  std::vector<float> scores;
  online_net_.set_weights(plain_weights(spec_, weights, nullptr));
  for (const SegmentPlace& place : in_order(fragments)) {
    const PolicySteps& steps = fragments[place.fragment].policies[0];
    const ConstRows seen(observations_, steps.columns, column::kObservations);
    for (std::int64_t step = 0; step < place.segment->length; ++step) {
      judge(online_net_, encoder_.encode(seen.from(place.segment->row(step)), 1), 1, scores);
      out.resize(out.size() + static_cast<std::size_t>(head_.actions));
      head_.values(scores.data(), out.data() + out.size() - head_.actions);
    }
  }
  return out;
}

void DqnLearner::apply_filter() {
  if (!learner_.has_filter()) return;
  learner_.apply_filter();
  const Weights now = learner_.weights();
  for (const char* name : {"filter.mean", "filter.scale"}) {
    std::ranges::copy(now.tensors.column<float>(name).span(),
                      target_.tensors.column<float>(name).data());
  }
  target_is_current_ = false;
}

void DqnLearner::update_target() {
  const Weights now = learner_.weights();
  const auto from = flat(now.tensors);
  const auto to = flat(target_.tensors);
  const auto tau = static_cast<float>(options_.tau.value());
  if (tau == 1.0F) {
    std::ranges::copy(from, to.begin());
  } else {
    for (std::size_t i = 0; i < to.size(); ++i) to[i] += tau * (from[i] - to[i]);
  }
  target_is_current_ = false;
}

Result DqnLearner::take_stats() {
  Result stats;
  const auto set = [&](const char* name, double sum) {
    if (sums_.updates == 0) {
      stats.set(name, Result::Nothing{"nothing learnt yet"});
    } else {
      stats.set(name, sum / static_cast<double>(sums_.updates));
    }
  };
  set("mean_q", sums_.mean_q);
  set("min_q", sums_.min_q);
  set("max_q", sums_.max_q);
  set("mean_td_error", sums_.td_error);
  set("total_loss", sums_.loss);
  set("grad_gnorm", sums_.gradient_norm);
  stats.set("cur_lr", last_lr_);
  sums_ = {};
  return stats;
}

void DqnLearner::save(CheckpointData& out) const {
  learner_.save(out);
  out.add_tensors(kTargetFile, target_.tensors);
}

void DqnLearner::load(const CheckpointData& in) {
  learner_.load(in);
  RecordBatch target = in.tensors(kTargetFile);
  if (target.columns() != target_.tensors.columns()) {
    fail(ErrorKind::checkpoint, "{}: the weights are those of another model",
         in.path_of(kTargetFile));
  }
  target_.tensors = std::move(target);
  target_is_current_ = false;
}

}  // namespace knurl
