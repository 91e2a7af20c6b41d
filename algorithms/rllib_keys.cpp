#include "knurl/algorithms/rllib_keys.h"

#include <algorithm>
#include <iterator>

namespace knurl {
namespace {

constexpr auto kNoEffect = ForeignKey::Kind::no_effect;
constexpr auto kNotYet = ForeignKey::Kind::not_yet;

constexpr const char* kOneStack = "knurl has one API";
constexpr const char* kTorchOnly =
    "knurl learns with kernels of its own or with LibTorch: learner_backend says which";
constexpr const char* kPython = "knurl has no Python processes";
constexpr const char* kNoAtari = "there are no Atari envs";
constexpr const char* kNoAttention = "there is no attention yet";
constexpr const char* kInitializer =
    "weights are drawn as fcnet_weights_initializer says, biases are 0";
constexpr const char* kNoRestarts = "workers are not restarted yet";
constexpr const char* kSteps = "is a stop condition here: stop: {timesteps_total: …}";
constexpr const char* kLater = "not available yet";
constexpr const char* kOneLearner =
    "there is one learner, in the driver; num_cpus_for_local_worker is what it may use";

// clang-format off
constexpr ForeignKey kKeys[] = {
    // framework
    {"framework", kNoEffect, "", kTorchOnly},
    {"framework_str", kNoEffect, "", kTorchOnly},
    {"eager_tracing", kNoEffect, "", kTorchOnly},
    {"eager_max_retraces", kNoEffect, "", kTorchOnly},
    {"tf_session_args", kNoEffect, "", kTorchOnly},
    {"local_tf_session_args", kNoEffect, "", kTorchOnly},
    {"torch_compile_learner", kNoEffect, "", kTorchOnly},
    {"torch_compile_learner_what_to_compile", kNoEffect, "", kTorchOnly},
    {"torch_compile_learner_dynamo_backend", kNoEffect, "", kTorchOnly},
    {"torch_compile_learner_dynamo_mode", kNoEffect, "", kTorchOnly},
    {"torch_compile_worker", kNoEffect, "", kTorchOnly},
    {"torch_compile_worker_dynamo_backend", kNoEffect, "", kTorchOnly},
    {"torch_compile_worker_dynamo_mode", kNoEffect, "", kTorchOnly},
    {"torch_ddp_kwargs", kNoEffect, "", kTorchOnly},
    {"torch_skip_nan_gradients", kNoEffect, "", "a gradient that is not finite stops the run"},
    // API switches
    {"_enable_new_api_stack", kNoEffect, "", kOneStack},
    {"_enable_rl_module_api", kNoEffect, "", kOneStack},
    {"_enable_learner_api", kNoEffect, "", kOneStack},
    {"enable_rl_module_and_learner", kNoEffect, "", kOneStack},
    {"enable_env_runner_and_connector_v2", kNoEffect, "", kOneStack},
    {"enable_connectors", kNoEffect, "", kOneStack},
    {"simple_optimizer", kNoEffect, "", kOneStack},
    {"_tf_policy_handles_more_than_one_loss", kNoEffect, "", kOneStack},
    {"_disable_preprocessor_api", kNoEffect, "", kOneStack},
    {"_disable_action_flattening", kNoEffect, "", kOneStack},
    {"_disable_initialize_loss_from_dummy_batch", kNoEffect, "", kOneStack},
    {"_disable_execution_plan_api", kNoEffect, "", kOneStack},
    {"rl_module_spec", kNotYet, "[null]", kLater},
    {"learner_class", kNotYet, "[null]", kLater},
    {"env_to_module_connector", kNotYet, "[null]", kLater},
    {"module_to_env_connector", kNotYet, "[null]", kLater},
    // resources
    {"num_gpus", kNotYet, "[0]", "GPUs are not available yet"},
    {"_fake_gpus", kNoEffect, "", "everything runs on CPUs"},
    {"local_gpu_idx", kNoEffect, "", "everything runs on CPUs"},
    {"num_gpus_per_worker", kNotYet, "[0]", "GPUs are not available yet"},
    {"num_gpus_per_env_runner", kNotYet, "[0]", "GPUs are not available yet"},
    {"num_learner_workers", kNotYet, "[0]", "several learners are not available yet"},
    {"num_learners", kNotYet, "[0]", "several learners are not available yet"},
    {"num_gpus_per_learner_worker", kNotYet, "[0]", "GPUs are not available yet"},
    {"num_gpus_per_learner", kNotYet, "[0]", "GPUs are not available yet"},
    {"num_cpus_per_learner_worker", kNoEffect, "", kOneLearner},
    {"num_cpus_per_learner", kNoEffect, "", kOneLearner},
    {"custom_resources_per_worker", kNoEffect, "", "there is one machine"},
    {"custom_resources_per_env_runner", kNoEffect, "", "there is one machine"},
    {"placement_strategy", kNoEffect, "", "there is one machine"},
    // environment
    {"env_task_fn", kNotYet, "[null]", "curricula are not available yet"},
    {"observation_space", kNoEffect, "", "taken from the env"},
    {"action_space", kNoEffect, "", "taken from the env"},
    {"disable_env_checking", kNoEffect, "", "what costs nothing is checked while envs run"},
    {"auto_wrap_old_gym_envs", kNoEffect, "", kPython},
    {"is_atari", kNoEffect, "", kNoAtari},
    {"_is_atari", kNoEffect, "", kNoAtari},
    {"horizon", kNotYet, "[null]", "use env_config.max_episode_steps"},
    {"soft_horizon", kNotYet, "[false]", "use env_config.max_episode_steps"},
    {"no_done_at_end", kNotYet, "[false]", "time limits always truncate, never terminate"},
    // rollouts
    {"sample_async", kNotYet, "[false]", kLater},
    {"remote_worker_envs", kNotYet, "[false]", kLater},
    {"sample_collector", kNoEffect, "", kOneStack},
    {"remote_env_batch_wait_ms", kNoEffect, "", "there are no remote envs"},
    {"validate_workers_after_construction", kNoEffect, "", "always done"},
    {"validate_env_runners_after_construction", kNoEffect, "", "always done"},
    {"preprocessor_pref", kNoEffect, "", kNoAtari},
    {"synchronize_filters", kNoEffect, "", "one filter serves all workers"},
    {"update_worker_filter_stats", kNoEffect, "", "one filter serves all workers"},
    {"use_worker_filter_stats", kNoEffect, "", "one filter serves all workers"},
    {"compress_observations", kNoEffect, "", "observations are never compressed"},
    {"max_requests_in_flight_per_sampler_worker", kNoEffect, "", "sampling is synchronous"},
    {"max_requests_in_flight_per_env_runner", kNoEffect, "", "sampling is synchronous"},
    {"timesteps_per_iteration", kNotYet, "", "is min_sample_timesteps_per_iteration here"},
    // exploration
    {"exploration_config.sub_exploration", kNotYet, "[null, {}]", "is EpsilonGreedy, 1 for random_timesteps and 0.01 then"},
    {"exploration_config.framework", kNoEffect, "", kTorchOnly},
    // evaluation
    {"off_policy_estimation_methods", kNotYet, "[null, {}]", kLater},
    {"custom_evaluation_function", kNotYet, "[null]", kLater},
    {"enable_async_evaluation", kNoEffect, "", "evaluation workers always run by themselves"},
    // offline data
    {"input", kNotYet, "[sampler]", "offline data is not available yet"},
    {"input_", kNotYet, "[sampler]", "offline data is not available yet"},
    {"input_config", kNotYet, "[null, {}]", "offline data is not available yet"},
    {"actions_in_input_normalized", kNoEffect, "", "offline data is not available yet"},
    {"postprocess_inputs", kNoEffect, "", "offline data is not available yet"},
    {"shuffle_buffer_size", kNoEffect, "", "offline data is not available yet"},
    {"output", kNotYet, "[null]", "recording is not available yet"},
    {"output_config", kNotYet, "[null, {}]", "recording is not available yet"},
    {"output_compress_columns", kNoEffect, "", "recording is not available yet"},
    {"output_max_file_size", kNoEffect, "", "recording is not available yet"},
    {"offline_sampling", kNotYet, "[false]", "offline data is not available yet"},
    // several agents
    {"multiagent", kNotYet, "[null, {}]", "several agents are not available yet"},
    {"policies", kNotYet, "[null, {}, [default_policy]]", "several agents are not available yet"},
    {"policy_mapping_fn", kNotYet, "[null]", "several agents are not available yet"},
    {"policies_to_train", kNotYet, "[null]", "several agents are not available yet"},
    {"observation_fn", kNotYet, "[null]", "several agents are not available yet"},
    {"count_steps_by", kNotYet, "[env_steps]", "several agents are not available yet"},
    {"policy_map_capacity", kNoEffect, "", "policies are not swapped out"},
    {"policy_map_cache", kNoEffect, "", "policies are not swapped out"},
    {"policy_states_are_swappable", kNoEffect, "", "policies are not swapped out"},
    // reporting, checkpoints, debugging
    {"keep_per_episode_custom_metrics", kNotYet, "[false]", kLater},
    {"metrics_episode_collection_timeout_s", kNoEffect, "", "episodes come with the steps"},
    {"export_native_model_files", kNoEffect, "", "weights are safetensors files"},
    {"checkpoint_trainable_policies_only", kNotYet, "[false]", kLater},
    {"logger_creator", kNoEffect, "", kPython},
    {"logger_config", kNoEffect, "", kPython},
    {"log_level", kNoEffect, "", "the command line has --verbose"},
    {"log_sys_usage", kNoEffect, "", "always reported"},
    {"fake_sampler", kNotYet, "[false]", kLater},
    {"extra_python_environs_for_driver", kNoEffect, "", kPython},
    {"extra_python_environs_for_worker", kNoEffect, "", kPython},
    // faults
    {"ignore_worker_failures", kNotYet, "[false]", kLater},
    {"ignore_env_runner_failures", kNotYet, "[false]", kLater},
    {"recreate_failed_workers", kNotYet, "[false]", kLater},
    {"recreate_failed_env_runners", kNotYet, "[false]", kLater},
    {"restart_failed_env_runners", kNotYet, "[false]", kLater},
    {"restart_failed_sub_environments", kNotYet, "[false]", kLater},
    {"max_num_worker_restarts", kNoEffect, "", kNoRestarts},
    {"delay_between_worker_restarts_s", kNoEffect, "", kNoRestarts},
    {"num_consecutive_worker_failures_tolerance", kNoEffect, "", kNoRestarts},
    {"worker_health_probe_timeout_s", kNoEffect, "", kNoRestarts},
    {"worker_restore_timeout_s", kNoEffect, "", kNoRestarts},
    {"max_num_env_runner_restarts", kNoEffect, "", kNoRestarts},
    {"delay_between_env_runner_restarts_s", kNoEffect, "", kNoRestarts},
    {"num_consecutive_env_runner_failures_tolerance", kNoEffect, "", kNoRestarts},
    {"env_runner_health_probe_timeout_s", kNoEffect, "", kNoRestarts},
    {"env_runner_restore_timeout_s", kNoEffect, "", kNoRestarts},
    // PPO
    {"vf_share_layers", kNotYet, "[null]", "use model.vf_share_layers"},
    {"num_multi_gpu_tower_stacks", kNoEffect, "", "everything runs on CPUs"},
    // DQN
    {"before_learn_on_batch", kNotYet, "[null]", kPython, "replay_buffer_config"},
    {"prioritized_replay", kNotYet, "[-1]", "use replay_buffer_config: {type: PrioritizedReplayBuffer or ReplayBuffer}", "replay_buffer_config"},
    {"epsilon", kNotYet, "", "is exploration_config: {type: EpsilonGreedy, epsilon_schedule: [[step, chance], ...]} here"},
    {"replay_buffer_config.replay_sequence_length", kNotYet, "[1, null]", "recurrent replay is not available yet"},
    {"replay_buffer_config.replay_burn_in", kNotYet, "[0]", "recurrent replay is not available yet"},
    {"replay_buffer_config.replay_zero_init_states", kNoEffect, "", "recurrent replay is not available yet"},
    {"replay_buffer_config.replay_mode", kNotYet, "[independent]", kLater},
    {"replay_buffer_config.storage_unit", kNotYet, "[timesteps]", kLater},
    {"replay_buffer_config.worker_side_prioritization", kNotYet, "[false]", kLater},
    {"replay_buffer_config.prioritized_replay", kNotYet, "[-1]", "use type: PrioritizedReplayBuffer or ReplayBuffer"},
    {"replay_buffer_config.learning_starts", kNotYet, "", "is num_steps_sampled_before_learning_starts here, beside replay_buffer_config"},
    {"replay_buffer_config.num_shards", kNotYet, "[1]", kLater},
    {"replay_buffer_config.final_prioritized_replay_beta", kNotYet, "", "write prioritized_replay_beta: [[0, 0.4], [step, final]] instead"},
    {"replay_buffer_config.prioritized_replay_beta_annealing_timesteps", kNotYet, "", "write prioritized_replay_beta: [[0, 0.4], [step, final]] instead"},
    {"buffer_size", kNotYet, "", "is replay_buffer_config: {capacity: …} here", "replay_buffer_config"},
    {"train_freq", kNotYet, "", "is rollout_fragment_length here", "replay_buffer_config"},
    {"gradient_steps", kNotYet, "", "is training_intensity here: transitions learnt from for each env step", "training_intensity"},
    {"target_update_interval", kNotYet, "", "is target_network_update_freq here", "target_network_update_freq"},
    {"exploration_fraction", kNotYet, "", "is exploration_config: {epsilon_timesteps: …} here, in env steps"},
    {"exploration_initial_eps", kNotYet, "", "is exploration_config: {initial_epsilon: …} here"},
    {"exploration_final_eps", kNotYet, "", "is exploration_config: {final_epsilon: …} here"},
    {"double_q_learning", kNotYet, "", "is double_q here", "double_q"},
    // stable-baselines3's names
    {"learning_rate", kNotYet, "", "is lr here"},
    {"n_steps", kNotYet, "", "is rollout_fragment_length here; train_batch_size counts the steps of all envs", "sgd_minibatch_size"},
    {"n_steps", kNotYet, "", "is n_step here", "n_step"},
    {"n_envs", kNotYet, "", "is num_envs_per_worker here"},
    {"batch_size", kNotYet, "", "is sgd_minibatch_size here", "sgd_minibatch_size"},
    {"batch_size", kNotYet, "", "is train_batch_size here", "replay_buffer_config"},
    {"n_epochs", kNotYet, "", "is num_sgd_iter here", "num_sgd_iter"},
    {"gae_lambda", kNotYet, "", "is lambda here", "lambda"},
    {"clip_range", kNotYet, "", "is clip_param here", "clip_param"},
    {"clip_range_vf", kNotYet, "[null]", "is something else here: vf_clip_param bounds the squared error", "vf_clip_param"},
    {"ent_coef", kNotYet, "", "is entropy_coeff here", "entropy_coeff"},
    {"vf_coef", kNotYet, "", "is vf_loss_coeff here", "vf_loss_coeff"},
    {"max_grad_norm", kNotYet, "", "is grad_clip here", "grad_clip"},
    {"total_timesteps", kNotYet, "", kSteps},
    {"n_timesteps", kNotYet, "", kSteps},
    {"policy_kwargs", kNotYet, "", "is model here: {fcnet_hiddens, fcnet_activation}", "model"},
    {"policy", kNotYet, "", "is model here: the kind of net follows from the observations", "model"},
    {"device", kNotYet, "[cpu, auto]", "GPUs are not available yet"},
    {"verbose", kNoEffect, "", "the command line has --quiet and --verbose"},
    {"normalize", kNotYet, "[false]", "is observation_filter: MeanStdFilter and normalize_rewards: true here", "observation_filter"},
    // model
    {"model.head_fcnet_hiddens", kNotYet, "[null, []]", kLater},
    {"model.head_fcnet_activation", kNoEffect, "", "there are no layers after the trunk yet"},
    {"model.log_std_clip_param", kNoEffect, "", "log standard deviations are not clipped"},
    {"model.no_final_linear", kNotYet, "[false]", kLater},
    {"model.use_attention", kNotYet, "[false]", kLater},
    {"model.attention_num_transformer_units", kNoEffect, "", kNoAttention},
    {"model.attention_dim", kNoEffect, "", kNoAttention},
    {"model.attention_num_heads", kNoEffect, "", kNoAttention},
    {"model.attention_head_dim", kNoEffect, "", kNoAttention},
    {"model.attention_memory_inference", kNoEffect, "", kNoAttention},
    {"model.attention_memory_training", kNoEffect, "", kNoAttention},
    {"model.attention_position_wise_mlp_dim", kNoEffect, "", kNoAttention},
    {"model.attention_init_gru_gate_bias", kNoEffect, "", kNoAttention},
    {"model.attention_use_n_prev_actions", kNoEffect, "", kNoAttention},
    {"model.attention_use_n_prev_rewards", kNoEffect, "", kNoAttention},
    {"model.framestack", kNoEffect, "", kNoAtari},
    {"model.dim", kNoEffect, "", kNoAtari},
    {"model.grayscale", kNoEffect, "", kNoAtari},
    {"model.zero_mean", kNoEffect, "", kNoAtari},
    {"model.custom_action_dist", kNotYet, "[null]", kLater},
    {"model.custom_preprocessor", kNotYet, "[null]", kLater},
    {"model._time_major", kNotYet, "[false]", kLater},
    {"model.always_check_shapes", kNoEffect, "", "shapes are always checked"},
    {"model.encoder_latent_dim", kNotYet, "[null]", kLater},
    {"model.lstm_use_prev_action_reward", kNotYet, "[-1, false]", "use lstm_use_prev_action and lstm_use_prev_reward"},
    {"model._use_default_native_models", kNoEffect, "", kOneStack},
    {"model.fcnet_weights_initializer_config", kNotYet, "[null, {}]", kInitializer},
    {"model.fcnet_kernel_initializer_kwargs", kNotYet, "[null, {}]", kInitializer},
    {"model.fcnet_bias_initializer", kNotYet, "[null, {}]", kInitializer},
    {"model.fcnet_bias_initializer_config", kNotYet, "[null, {}]", kInitializer},
    {"model.fcnet_bias_initializer_kwargs", kNotYet, "[null, {}]", kInitializer},
    {"model.conv_kernel_initializer", kNotYet, "[null, {}]", kInitializer},
    {"model.conv_kernel_initializer_config", kNotYet, "[null, {}]", kInitializer},
    {"model.conv_kernel_initializer_kwargs", kNotYet, "[null, {}]", kInitializer},
    {"model.conv_bias_initializer", kNotYet, "[null, {}]", kInitializer},
    {"model.conv_bias_initializer_config", kNotYet, "[null, {}]", kInitializer},
    {"model.conv_bias_initializer_kwargs", kNotYet, "[null, {}]", kInitializer},
    {"model.post_fcnet_weights_initializer", kNotYet, "[null, {}]", kInitializer},
    {"model.post_fcnet_weights_initializer_config", kNotYet, "[null, {}]", kInitializer},
    {"model.post_fcnet_bias_initializer", kNotYet, "[null, {}]", kInitializer},
    {"model.post_fcnet_bias_initializer_config", kNotYet, "[null, {}]", kInitializer},
    {"model.head_fcnet_kernel_initializer", kNotYet, "[null, {}]", kInitializer},
    {"model.head_fcnet_kernel_initializer_kwargs", kNotYet, "[null, {}]", kInitializer},
    {"model.head_fcnet_bias_initializer", kNotYet, "[null, {}]", kInitializer},
    {"model.head_fcnet_bias_initializer_kwargs", kNotYet, "[null, {}]", kInitializer},
    {"model.lstm_weights_initializer", kNotYet, "[null, {}]", kInitializer},
    {"model.lstm_weights_initializer_config", kNotYet, "[null, {}]", kInitializer},
    {"model.lstm_kernel_initializer", kNotYet, "[null, {}]", kInitializer},
    {"model.lstm_kernel_initializer_kwargs", kNotYet, "[null, {}]", kInitializer},
    {"model.lstm_bias_initializer", kNotYet, "[null, {}]", kInitializer},
    {"model.lstm_bias_initializer_config", kNotYet, "[null, {}]", kInitializer},
    {"model.lstm_bias_initializer_kwargs", kNotYet, "[null, {}]", kInitializer},
    {"model._disable_preprocessor_api", kNoEffect, "", kOneStack},
    {"model._disable_action_flattening", kNoEffect, "", kOneStack},
};
// clang-format on

}  // namespace

std::span<const ForeignKey> rllib_keys() {
  return kKeys;
}

std::vector<ForeignKey> rllib_keys_for(const AlgorithmConfig& config) {
  const std::vector<ConstSection> sections = config.sections();
  const std::vector<std::string> unused = config.unused_options();
  const auto fits = [&](const ForeignKey& key) {
    const std::string_view option = key.option;
    if (option.empty()) return true;
    return std::ranges::count(unused, option) == 0 &&
           std::ranges::any_of(
               sections, [&](const ConstSection& s) { return s.schema->find(option) != nullptr; });
  };
  std::vector<ForeignKey> out;
  std::ranges::copy_if(kKeys, std::back_inserter(out), fits);
  return out;
}

}  // namespace knurl
