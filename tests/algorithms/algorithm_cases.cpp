#include "algorithm_cases.h"

#include <gtest/gtest.h>

#include "knurl/algorithms/q_learning/q_learning_config.h"
#include "knurl/algorithms/registry.h"
#include "knurl/apps/examples/my_model/wave_features.h"
#include "knurl/core/config/yaml.h"
#include "knurl/models/custom_model.h"
#include "lit_pixel_env.h"

namespace knurl {
namespace {

/// Small options with which each registered algorithm learns something; six envs in all.
std::string options_of(const std::string& algorithm) {
  if (algorithm == "PPO") {
    return "{env: CartPole-v1, train_batch_size: 100, sgd_minibatch_size: 50, num_sgd_iter: 2,"
           " model: {fcnet_hiddens: [16]}}";
  }
  if (algorithm == "DQN") {  // all of Rainbow
    return "{env: CartPole-v1, train_batch_size: 16, num_steps_sampled_before_learning_starts: 50,"
           " target_network_update_freq: 60, n_step: 3, noisy: true, num_atoms: 11, v_min: 0,"
           " v_max: 20, min_sample_timesteps_per_iteration: 100, hiddens: [16],"
           " replay_buffer_config: {capacity: 150, prioritized_replay_beta: [[0, 0.4], [300, 1]]},"
           " exploration_config: {epsilon_timesteps: 200}, model: {fcnet_hiddens: [16]}}";
  }
  if (algorithm == "SimpleQ") {
    return "{env: CartPole-v1, train_batch_size: 16, num_steps_sampled_before_learning_starts: 50,"
           " training_intensity: 0.5, min_sample_timesteps_per_iteration: 100,"
           " exploration_config: {type: SoftQ, temperature: 0.5}, model: {fcnet_hiddens: [16]}}";
  }
  if (algorithm == "QLearning") {
    return "{env: Maze-v0, train_batch_size: 20, min_sample_timesteps_per_iteration: 100}";
  }
  ADD_FAILURE() << algorithm << ": give it options here";
  return "{}";
}

/// `model: {custom_model: waves}`: a custom layer, then a dense one.
Trunk build_waves(const ModelInput& input) {
  Trunk trunk(input);
  trunk.add({.name = "waves",
             .kind = LayerKind::custom,
             .custom = std::make_shared<WaveFeatures>(input.size, 6)});
  trunk.add({.name = "dense", .outputs = 8, .activation = Activation::relu});
  return trunk;
}

/// Ways to learn from pictures and by a model of one's own.
void add_model_cases(std::vector<AlgorithmCase>& out) {
  register_env_once<LitPixelEnv>("LitPixel-v0");
  static const bool registered = [] {
    register_model("waves", "sines and cosines", build_waves);
    return true;
  }();
  (void)registered;
  const std::string pixels =
      "env: LitPixel-v0, model: {conv_filters: [[4, 3, 2], [6, [2, 3], 1]], "
      "post_fcnet_hiddens: [8]";
  out.push_back({"PPO_pixels", "PPO", "{" + pixels + "}}"});
  out.push_back({"PPO_pixels_lstm", "PPO",
                 "{" + pixels + ", use_lstm: true, lstm_cell_size: 8, max_seq_len: 5}}"});
  out.push_back({"DQN_pixels", "DQN", "{" + pixels + "}, observation_filter: MeanStdFilter}"});
  out.push_back({"PPO_custom_model", "PPO", "{model: {custom_model: waves}}"});
  out.push_back({"DQN_custom_model", "DQN", "{model: {custom_model: waves}}"});
}

}  // namespace

std::unique_ptr<AlgorithmConfig> config_of(const AlgorithmCase& which, const std::string& more) {
  auto config = make_config(which.algorithm);
  config->update(parse_yaml(options_of(which.algorithm), "test"), "");
  config->update(parse_yaml(which.options, "test"), "");
  config->update(parse_yaml("{seed: 5, num_workers: 0, num_envs_per_worker: 6}", "test"), "");
  config->update(parse_yaml(more, "test"), "");
  return config;
}

std::vector<float> weights_of(Algorithm& algorithm) {
  const Weights weights = algorithm.get_weights().at("default_policy");
  const auto numbers = flat(weights.tensors);
  return {numbers.begin(), numbers.end()};
}

std::vector<AlgorithmCase> algorithm_cases() {
  std::vector<AlgorithmCase> out;
  for (const AlgorithmEntry& entry : registered_algorithms()) {
    out.push_back({entry.name, entry.name});
  }
  for (const auto& [rule, name] : names(UpdateRule{})) {
    if (rule == UpdateRule::q_learning) continue;  // the default
    out.push_back({fmt::format("QLearning_{}", name), "QLearning",
                   fmt::format("{{update_rule: {}, visit_power: 0.6}}", name)});
  }
  const std::string filters = "observation_filter: MeanStdFilter, normalize_rewards: true";
  out.push_back({"PPO_filters", "PPO",
                 "{" + filters +
                     ", advantage_scaling: minibatch, target_kl: 0.002, "
                     "model: {fcnet_weights_initializer: orthogonal}}"});
  out.push_back(
      {"PPO_sde", "PPO",
       "{env: Pendulum-v1, use_sde: true, sde_sample_freq: 4, log_std_init: -1, " + filters + "}"});
  out.push_back({"PPO_squashed", "PPO",
                 "{env: Pendulum-v1, box_distribution: squashed_gaussian, entropy_coeff: 0.01, "
                 "model: {free_log_std: true}}"});
  out.push_back({"PPO_no_critic", "PPO", "{use_critic: false, use_gae: false}"});
  out.push_back({"PPO_lstm", "PPO",
                 "{env: StatelessCartPole, " + filters +
                     ", model: {use_lstm: true, max_seq_len: 7, lstm_cell_size: 6, "
                     "lstm_use_prev_action: true, lstm_use_prev_reward: true}}"});
  out.push_back({"PPO_action_mask", "PPO",
                 "{env: ActionMaskEnv, " + filters +
                     ", model: {use_lstm: true, max_seq_len: 7, lstm_cell_size: 6, "
                     "lstm_use_prev_action: true}}"});
  out.push_back({"DQN_parameter_noise", "DQN",
                 "{noisy: false, exploration_config: {type: ParameterNoise, random_timesteps: 60, "
                 "epsilon_timesteps: 10000}}"});
  out.push_back({"DQN_filters", "DQN",
                 "{" + filters +
                     ", noisy: false, num_atoms: 1, tau: 0.1, "
                     "target_network_update_freq: 0, td_error_loss_fn: mse}"});
  add_model_cases(out);
  return out;
}

}  // namespace knurl
