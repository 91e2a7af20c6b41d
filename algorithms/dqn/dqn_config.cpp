#include "knurl/algorithms/dqn/dqn_config.h"

#include <cmath>

#include "knurl/algorithms/dqn/dqn.h"
#include "knurl/core/base/error.h"
#include "knurl/models/fast/net_policy.h"
#include "knurl/models/observation_encoder.h"
#include "knurl/models/trunk.h"

namespace knurl {

DQNConfig::DQNConfig(Preset preset) : preset_(preset) {
  CommonOptions& options = change();
  options.rollouts.rollout_fragment_length = Default{OrAuto<int>{}};
  options.training.lr = Default{5e-4};
  options.training.grad_clip = Default{std::optional<double>(40.0)};
  options.exploration.exploration_config.type = Default{ExplorationType::epsilon_greedy};
  options.exploration.exploration_config.final_epsilon = Default{0.02};
  options.exploration.exploration_config.epsilon_timesteps = Default{10'000};
  options.reporting.min_sample_timesteps_per_iteration = Default{1000};
  if (preset != Preset::simple_q) return;
  own_.double_q = Default{false};
  own_.dueling = Default{false};
  own_.hiddens = Default{std::vector<int>{}};
  own_.replay_buffer_config.type = Default{ReplayType::uniform};
}

QHead DQNConfig::head_for(const SpaceLayout& actions) const {
  const auto* discrete = actions.space().as<Discrete>();
  if (!discrete) {
    fail(ErrorKind::config, "action space {}: {} needs a Discrete one", actions.space().text(),
         algorithm());
  }
  return {.actions = num_inputs(distribution_for(actions.space())),
          .atoms = own_.num_atoms,
          .dueling = own_.dueling,
          .v_min = static_cast<float>(own_.v_min.value()),
          .v_max = static_cast<float>(own_.v_max.value())};
}

NetSpec DQNConfig::net_for(const SpaceLayout& observations, const SpaceLayout& actions) const {
  const std::string& key = *common().environment.action_mask_key;
  if (ActionMask(observations, actions, key)) {
    fail(ErrorKind::config,
         "observation space {}: {} heeds no action masks; environment.action_mask_key: \"\" reads "
         "{} "
         "as any other observation",
         observations.space().text(), algorithm(), key);
  }
  const ModelConfig& model = common().training.model;
  const QHead head = head_for(actions);
  const std::optional<WeightInit> given = model.fcnet_weights_initializer;
  const WeightInit init = given.value_or(WeightInit::xavier_uniform);
  const HiddenLayers hidden{.units = own_.hiddens, .activation = Activation::relu, .init = init};
  const double sigma0 = own_.noisy ? own_.sigma0.value() : 0.0;
  std::vector<HeadSpec> heads{{.name = "q_value_head",
                               .output = column::kActionScores,
                               .size = head.size(),
                               .hidden = hidden,
                               .init = init,
                               .sigma0 = sigma0}};
  if (head.dueling) {
    heads.push_back({.name = "state_value_head",
                     .output = column::kStateScores,
                     .size = head.atoms,
                     .hidden = hidden,
                     .init = init,
                     .sigma0 = sigma0});
  }
  NetSpec net =
      make_net(encoded_size(observations), model_trunk(model, observations, actions), heads);
  return filters_observations() ? with_filter(std::move(net)) : net;
}

ExplorationConfig DQNConfig::exploration_of_values() const {
  ExplorationConfig out = common().exploration.exploration_config;
  if (*out.type == ExplorationType::stochastic_sampling) {
    out.type = Default{ExplorationType::soft_q};  // at temperature 1
  }
  out.temperature = Default{out.temperature * own_.categorical_distribution_temperature};
  return out;
}

std::unique_ptr<Policy> DQNConfig::make_policy(const EnvSpec& env, Acting acting,
                                               const WorkerPlace& place) const {
  const SpaceLayout observations(env.observation);
  const SpaceLayout actions(env.action);
  NetPolicy::Parts parts{.net = net_for(observations, actions),
                         .observations = observations,
                         .actions = actions,
                         .exploration = make_exploration(exploration_of_values(), acting, place),
                         .q_head = head_for(actions),
                         .distribution_columns = false};
  if (acting == Acting::exploring) {
    const auto seed = common().debugging.seed->value_or(0);
    parts.noise = Rng(static_cast<std::uint64_t>(seed)).split("acting noise");
  }
  return std::make_unique<NetPolicy>(std::move(parts));
}

std::vector<MetricInfo> DQNConfig::learner_metrics() const {
  return {
      {"mean_q", {"qf_mean"}, "mean value of the actions that were learnt from"},
      {"min_q", {"qf_min"}, "least value of the actions that were learnt from"},
      {"max_q", {"qf_max"}, "largest value of the actions that were learnt from"},
      {"mean_td_error",
       {"td_error_mean"},
       "mean error of the values of the actions that were learnt from"},
      {"total_loss", {}, "the loss that training makes small"},
      {"cur_lr", {"default_optimizer_learning_rate"}, "learning rate (step size) of the optimizer"},
      {"cur_epsilon", {}, "chance of a random action; 0 where exploration has none"},
      {"replay_size", {}, "transitions in the replay buffer"},
      {"num_target_updates", {}, "updates of the target net", MetricKind::counter},
      {"last_target_update_ts",
       {},
       "env steps taken when the target net was last updated",
       MetricKind::counter},
      {"grad_gnorm",
       {"gradients_default_optimizer_global_norm"},
       "norm of the gradients before clipping"}};
}

int DQNConfig::auto_fragment_length(int /*num_envs*/) const {
  return preset_ == Preset::simple_q ? 4 : own_.n_step.value();
}

DQNConfig::Rounds DQNConfig::rounds() const {
  const std::optional<double> intensity = own_.training_intensity;
  if (!intensity) return {};
  const RolloutOptions& o = common().rollouts;
  const double steps = static_cast<double>(*o.rollout_fragment_length->value) *
                       o.num_envs_per_worker * std::max(1, o.num_rollout_workers.value());
  const double updates = *intensity * steps / common().training.train_batch_size;
  return updates < 1.0 ? Rounds{.stores = static_cast<int>(std::lround(1.0 / updates))}
                       : Rounds{.updates = static_cast<int>(std::lround(updates))};
}

std::vector<std::string> DQNConfig::own_policy_options() const {
  std::vector<std::string> out{"dueling", "hiddens", "noisy", "num_atoms"};
  if (own_.num_atoms > 1) out.insert(out.end(), {"v_min", "v_max"});
  return out;
}

void DQNConfig::resolve_own() {
  if (own_.adam_epsilon.given()) {
    change().training.optimizer.epsilon = Default{own_.adam_epsilon.value()};
  }
}

void DQNConfig::check_own() const {
  const OptimizerConfig& optimizer = common().training.optimizer;
  if (*own_.adam_epsilon != *DqnOptions().adam_epsilon && optimizer.epsilon.given() &&
      *optimizer.epsilon != *own_.adam_epsilon) {
    fail(ErrorKind::config,
         "training.adam_epsilon and training.optimizer.epsilon: both set it; give one of them");
  }
  if (own_.noisy &&
      *common().exploration.exploration_config.type == ExplorationType::parameter_noise) {
    fail(ErrorKind::config,
         "training.noisy and exploration.exploration_config.type = ParameterNoise: both explore by "
         "noise in the weights; give one of them");
  }
  if (own_.num_atoms > 1 && own_.v_min >= own_.v_max) {
    fail(ErrorKind::config, "training.v_min = {}: must be below training.v_max = {}",
         own_.v_min.value(), own_.v_max.value());
  }
}

std::unique_ptr<Algorithm> DQNConfig::make_algorithm(
    std::unique_ptr<const AlgorithmConfig> resolved) const {
  return std::make_unique<DQN>(std::move(resolved));
}

}  // namespace knurl
