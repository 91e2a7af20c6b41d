#include "knurl/algorithms/ppo/ppo_learner.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include <nlohmann/json.hpp>

#include "knurl/core/base/error.h"
#include "knurl/models/columns.h"

namespace knurl {
namespace {

constexpr const char* kStateFile = "ppo.json";

/// Fisher and Yates with our own random numbers: the same on every standard library.
void shuffle(std::vector<std::int32_t>& rows, Rng& rng) {
  for (std::size_t i = rows.size(); i > 1; --i) std::swap(rows[i - 1], rows[rng.below(i)]);
}

/// The weight of the KL penalty that a run begins with.
double first_kl_coeff(const PpoOptions& options) {
  return options.use_kl_loss ? options.kl_coeff.value() : 0.0;
}

/// How many rows make a minibatch; of a recurrent net, how many sequences, as if all were as long
/// as they may be.
std::size_t units_per_minibatch(const PPOConfig& config, const NetSpec& net) {
  const int rows = config.own().sgd_minibatch_size;
  const int length = lstm_layer(net) ? config.common().training.model.max_seq_len.value() : 1;
  return static_cast<std::size_t>(rows / length);
}

}  // namespace

PpoLearner::PpoLearner(const PPOConfig& config, const SpaceLayout& observations,
                       const SpaceLayout& actions, const Rng& rng)
    : options_(config.own()),
      net_(config.net_for(observations, actions)),
      mask_(config.action_mask(observations, actions)),
      units_per_minibatch_(units_per_minibatch(config, net_)),
      lr_(config.common().training.lr),
      distribution_(config.distribution(actions)),
      learner_(net_, fresh_weights(net_, rng.split("weights")), config.common().training,
               config.common().resources),
      shuffle_(rng.split("shuffle")),
      kl_coeff_(first_kl_coeff(options_)),
      loss_options_{.vf_clip_param = static_cast<float>(options_.vf_clip_param.value()),
                    .vf_loss_coeff = options_.use_critic
                                         ? static_cast<float>(options_.vf_loss_coeff.value())
                                         : 0.0F} {
  learner_.set_filter_epsilon(config.filter_epsilon());
}

void PpoLearner::update(const PpoBatch& batch, std::int64_t timestep) {
  const double lr = lr_.at(timestep);
  const double entropy_coeff = options_.entropy_coeff->at(timestep);
  loss_options_.clip_param = static_cast<float>(options_.clip_param->at(timestep));
  loss_options_.entropy_coeff = static_cast<float>(entropy_coeff);
  loss_options_.kl_coeff = static_cast<float>(kl_coeff_);
  current_.set("cur_kl_coeff", kl_coeff_);
  current_.set("cur_lr", lr);
  current_.set("entropy_coeff", entropy_coeff);

  double kl_sum = 0.0;
  std::int64_t minibatches = 0;
  const std::size_t size = units_per_minibatch_;
  std::vector<std::int32_t> order = batch.order;  // or the sequences
  if (!batch.sequences.empty()) {
    order.resize(batch.sequences.size());
    std::iota(order.begin(), order.end(), 0);
  }
  bool near = true;  // to the policy that acted
  for (int epoch = 0; epoch < options_.num_sgd_iter && near; ++epoch) {
    if (options_.shuffle_sequences) shuffle(order, shuffle_);
    for (std::size_t first = 0; first < order.size() && near; first += size) {
      const std::size_t count = std::min(size, order.size() - first);
      const PpoLoss loss = judge_minibatch(batch, std::span(order).subspan(first, count));
      kl_sum += loss.kl;
      ++minibatches;
      near = !options_.target_kl->has_value() || loss.kl <= 1.5 * **options_.target_kl;
      if (!near) break;
      learner_.apply_gradients(lr);
      sums_.gradient_norm += learner_.gradient_norm();
    }
  }
  if (learner_.has_filter()) {  // the next batch is seen through what this one showed
    const auto seen = batch.rows.column<float>(column::kNetInputs);
    for (const std::int32_t row : batch.order) learner_.observe(seen.row(row).data());
    learner_.apply_filter();
  }
  if (options_.use_kl_loss) {
    const double kl = kl_sum / static_cast<double>(minibatches);
    kl_coeff_ = adapted_kl_coeff(kl_coeff_, kl, options_.kl_target);
  }
}

Result PpoLearner::take_stats() {
  const double share = 1.0 / static_cast<double>(std::max<std::int64_t>(sums_.minibatches, 1));
  Result stats = current_;
  stats.set("total_loss", sums_.loss.total * share);
  stats.set("policy_loss", sums_.loss.policy * share);
  stats.set("vf_loss", sums_.loss.vf * share);
  stats.set("vf_explained_var", sums_.loss.vf_explained_var * share);
  stats.set("kl", sums_.loss.kl * share);
  stats.set("entropy", sums_.loss.entropy * share);
  stats.set("grad_gnorm", sums_.gradient_norm * share);
  sums_ = {};
  return stats;
}

/// The minibatch's logits without the actions that were not allowed: they have no gradient.
std::span<const float> PpoLearner::allowed(std::span<const float> logits) {
  if (!mask_) return logits;
  masked_.assign(logits.begin(), logits.end());
  mask_alike(minibatch_.column<float>(column::kDistInputs).span(), masked_);
  return masked_;
}

/// The loss of a minibatch; its gradients are ready to be applied.
PpoLoss PpoLearner::judge_minibatch(const PpoBatch& batch, std::span<const std::int32_t> chosen) {
  PackedSequences packed;
  std::span<const std::int32_t> rows = chosen;
  if (!batch.sequences.empty()) {
    packed = pack(batch, chosen);
    rows = packed.rows;
  }
  if (minibatch_.columns() != batch.rows.columns()) {
    minibatch_ = RecordBatch(batch.rows.columns(), options_.sgd_minibatch_size);
  }
  minibatch_.set_rows(static_cast<std::int64_t>(rows.size()));
  minibatch_.gather(batch.rows, rows);
  if (*options_.advantage_scaling == AdvantageScaling::minibatch) {
    standardise_sample(minibatch_.column<float>(column::kAdvantages).span());
  }
  PpoLoss loss;
  learner_.compute_gradients(minibatch_, packed.sequences,
                             [&](const OutputValues& values, const OutputGradients& gradients) {
                               loss = ppo_loss(
                                   loss_options_, distribution_, minibatch_,
                                   {.dist_inputs = allowed(values[0]), .values = values[1]},
                                   {.dist_inputs = gradients[0], .values = gradients[1]}, scratch_);
                               return loss.total;
                             });
  sums_.loss += loss;
  ++sums_.minibatches;
  return loss;
}

void PpoLearner::save(CheckpointData& out) const {
  learner_.save(out);
  out.add_json(kStateFile, nlohmann::ordered_json{{"kl_coeff", kl_coeff_},
                                                  {"first_kl_coeff", first_kl_coeff(options_)},
                                                  {"shuffle_rng", shuffle_.state()}}
                               .dump(1));
}

void PpoLearner::load(const CheckpointData& in) {
  learner_.load(in);
  try {
    const auto json = nlohmann::json::parse(in.json(kStateFile));
    // it goes on adapting, unless the run is to go on with another one
    const double first = first_kl_coeff(options_);
    kl_coeff_ = first == json.at("first_kl_coeff") ? json.at("kl_coeff").get<double>() : first;
    shuffle_.restore(json.at("shuffle_rng").get<Rng::State>());
  } catch (const nlohmann::json::exception& error) {
    fail(ErrorKind::checkpoint, "{}: {}", kStateFile, error.what());
  }
}

}  // namespace knurl
