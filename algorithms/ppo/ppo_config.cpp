#include "knurl/algorithms/ppo/ppo_config.h"

#include "knurl/algorithms/ppo/ppo.h"
#include "knurl/core/base/error.h"
#include "knurl/models/exploration/state_dependent_noise.h"
#include "knurl/models/fast/net_policy.h"
#include "knurl/models/observation_encoder.h"
#include "knurl/models/trunk.h"

namespace knurl {
namespace {

std::optional<LstmSpec> lstm_for(const ModelConfig& model, const ActionDistribution& actions) {
  if (!model.use_lstm) return std::nullopt;
  LstmSpec lstm{.cells = model.lstm_cell_size};
  if (model.lstm_use_prev_action) {
    lstm.extras.push_back(
        {column::kPreviousActions, DType::float32, {encoded_action_size(actions)}});
  }
  if (model.lstm_use_prev_reward) {
    lstm.extras.push_back({column::kPreviousRewards, DType::float32, {}});
  }
  return lstm;
}

}  // namespace

PPOConfig::PPOConfig() {
  CommonOptions& options = change();
  options.rollouts.num_rollout_workers = Default{2};
  options.rollouts.rollout_fragment_length = Default{OrAuto<int>{}};
  options.training.lr = Default{5e-5};
  options.training.train_batch_size = Default{4000};
  options.training.model.vf_share_layers = Default{false};
}

ActionDistribution PPOConfig::distribution(const SpaceLayout& actions) const {
  return distribution_for(actions.space(), own_.box_distribution);
}

ActionMask PPOConfig::action_mask(const SpaceLayout& observations,
                                  const SpaceLayout& actions) const {
  return {observations, actions, *common().environment.action_mask_key};
}

NetSpec PPOConfig::net_for(const SpaceLayout& all, const SpaceLayout& actions) const {
  const ActionMask mask = action_mask(all, actions);
  const SpaceLayout& observations = mask.rest(all);
  const ModelConfig& model = common().training.model;
  const WeightInit init = model.fcnet_weights_initializer->value_or(WeightInit::normc);
  const HiddenLayers hidden = model_trunk(model, observations, actions);
  const HiddenLayers none;
  const bool shared = model.vf_share_layers || model.use_lstm;
  HeadSpec policy{.name = "policy",
                  .output = column::kDistInputs,
                  .size = num_inputs(distribution(actions)),
                  .hidden = shared ? none : hidden,
                  .init = init};
  if (own_.use_sde || model.free_log_std) {
    if (!actions.space().as<Box>()) {
      fail(ErrorKind::config, "action space {}: training.{} is for Box actions",
           actions.space().text(), own_.use_sde ? "use_sde" : "model.free_log_std");
    }
    policy.size /= 2;
    policy.log_std = {.kind = own_.use_sde ? LayerKind::sde_log_std : LayerKind::free,
                      .size = policy.size,
                      .fresh = own_.log_std_init};
  }
  NetSpec net = make_net(encoded_size(observations), shared ? hidden : none,
                         {policy,
                          {.name = "value",
                           .output = column::kValues,
                           .hidden = shared ? none : hidden,
                           .init_norm = init == WeightInit::orthogonal ? 1.0 : 0.01,
                           .init = init}},
                         lstm_for(model, distribution(actions)));
  return filters_observations() ? with_filter(std::move(net)) : net;
}

std::unique_ptr<Policy> PPOConfig::make_policy(const EnvSpec& env, Acting acting,
                                               const WorkerPlace& place) const {
  const SpaceLayout observations(env.observation);
  const SpaceLayout actions(env.action);
  const EnvironmentOptions& options = common().environment;
  const bool sde = own_.use_sde && acting == Acting::exploring;
  std::unique_ptr<Exploration> exploration;
  if (sde) {
    exploration = std::make_unique<StateDependentNoise>(own_.sde_sample_freq);
  } else {
    exploration = make_exploration(common().exploration.exploration_config, acting, place);
  }
  return std::make_unique<NetPolicy>(
      NetPolicy::Parts{.net = net_for(observations, actions),
                       .observations = observations,
                       .actions = actions,
                       .action_options = {.normalize_actions = options.normalize_actions,
                                          .clip_actions = options.clip_actions,
                                          .box = own_.box_distribution},
                       .exploration = std::move(exploration),
                       .mask = action_mask(observations, actions)});
}

std::vector<MetricInfo> PPOConfig::learner_metrics() const {
  return {
      {"cur_kl_coeff", {"curr_kl_coeff"}, "weight of the KL penalty"},
      {"cur_lr", {"default_optimizer_learning_rate"}, "learning rate (step size) of the optimizer"},
      {"entropy_coeff", {"curr_entropy_coeff"}, "weight of the entropy bonus"},
      {"total_loss", {}, "the loss that training makes small"},
      {"policy_loss", {}, "the policy's part of the loss: minus the clipped surrogate"},
      {"vf_loss", {}, "the values' part of the loss: their clipped squared error"},
      {"vf_explained_var", {}, "share of the value targets' variance that the values explain"},
      {"kl", {"mean_kl_loss"}, "KL divergence of the policy from the one that acted"},
      {"entropy", {}, "entropy of the policy, in nats"},
      {"grad_gnorm",
       {"gradients_default_optimizer_global_norm"},
       "norm of the gradients before clipping"}};
}

void PPOConfig::resolve_own() {
  if (const auto schedule = *own_.entropy_coeff_schedule) {
    own_.entropy_coeff = Default{*schedule};
    own_.entropy_coeff_schedule = Default{std::nullopt};
  }
}

void PPOConfig::check_own() const {
  const CommonOptions& options = common();
  if (*own_.entropy_coeff != *PpoOptions().entropy_coeff && own_.entropy_coeff_schedule.value()) {
    fail(ErrorKind::config,
         "training.entropy_coeff and training.entropy_coeff_schedule: give one of them");
  }
  if (!own_.use_kl_loss && own_.kl_coeff != *PpoOptions().kl_coeff && own_.kl_coeff > 0.0) {
    fail(ErrorKind::config, "training.kl_coeff = {} with training.use_kl_loss = false: give one",
         own_.kl_coeff.value());
  }
  if (own_.use_gae && !own_.use_critic) {
    fail(ErrorKind::config,
         "training.use_gae = true needs training.use_critic = true: it judges by values");
  }
  if (*own_.sde_sample_freq != *PpoOptions().sde_sample_freq && !own_.use_sde) {
    fail(ErrorKind::config, "training.sde_sample_freq = {} without training.use_sde: give both",
         own_.sde_sample_freq.value());
  }
  if (own_.use_sde && options.training.model.free_log_std) {
    fail(ErrorKind::config,
         "training.use_sde and training.model.free_log_std: both say where standard deviations "
         "come from; give one of them");
  }
  if (own_.log_std_init != *PpoOptions().log_std_init && !own_.use_sde &&
      !options.training.model.free_log_std) {
    fail(ErrorKind::config,
         "training.log_std_init = {} needs training.use_sde or training.model.free_log_std",
         own_.log_std_init.value());
  }
  const ExplorationType exploration = options.exploration.exploration_config.type;
  if (exploration != ExplorationType::stochastic_sampling) {
    fail(ErrorKind::config,
         "exploration.exploration_config.type = {}: PPO learns from the probabilities of its own "
         "samples; use StochasticSampling",
         name_of(exploration));
  }
}

void PPOConfig::check_batches() const {
  const CommonOptions& options = common();
  const int batch = options.training.train_batch_size;
  if (own_.sgd_minibatch_size > batch) {
    fail(ErrorKind::config,
         "training.sgd_minibatch_size = {} is larger than training.train_batch_size = {}",
         own_.sgd_minibatch_size.value(), batch);
  }
  if (const ModelConfig& model = options.training.model;
      model.use_lstm && own_.sgd_minibatch_size < model.max_seq_len) {
    fail(ErrorKind::config,
         "training.sgd_minibatch_size = {} is smaller than training.model.max_seq_len = {}: a "
         "minibatch holds whole sequences",
         own_.sgd_minibatch_size.value(), model.max_seq_len.value());
  }
  const OrAuto<int>& length = options.rollouts.rollout_fragment_length;
  const int envs = std::max(1, options.rollouts.num_rollout_workers.value()) *
                   options.rollouts.num_envs_per_worker;
  // a batch rounded up to whole fragments is fine, one with a step to spare in each env is not
  if (!length.is_auto() && static_cast<std::int64_t>(*length.value - 1) * envs >= batch) {
    fail(ErrorKind::config,
         "rollouts.rollout_fragment_length = {} in {} environments gives more steps than "
         "training.train_batch_size = {}; give a shorter one, or auto",
         *length.value, envs, batch);
  }
}

std::unique_ptr<Algorithm> PPOConfig::make_algorithm(
    std::unique_ptr<const AlgorithmConfig> resolved) const {
  return std::make_unique<PPO>(std::move(resolved));
}

}  // namespace knurl
