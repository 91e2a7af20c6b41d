#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>

#include "knurl/algorithms/reward_clip.h"
#include "knurl/core/config/fields.h"
#include "knurl/core/config/schedule.h"
#include "knurl/envs/vector_env.h"
#include "knurl/models/exploration/exploration.h"
#include "knurl/models/model_config.h"

/// The options that all algorithms have in common, in RLlib's groups and under its names. Defaults
/// are RLlib 2.9's; an algorithm's config changes those that differ for it.
namespace knurl {

constexpr auto names(Stepping) {
  return std::array{std::pair{Stepping::automatic, "auto"}, std::pair{Stepping::serial, "serial"},
                    std::pair{Stepping::parallel, "parallel"}};
}

struct EnvironmentOptions {
  Opt<std::string> env = {};
  Opt<ConfigValue> env_config = Default{ConfigValue::empty_map()};
  Opt<bool> normalize_actions = Default{true};
  Opt<bool> clip_actions = Default{false};
  Opt<RewardClip> clip_rewards = Default{RewardClip{}};
  Opt<bool> normalize_rewards = Default{false};
  Opt<std::string> action_mask_key = Default{std::string("action_mask")};
  Opt<bool> render_env = Default{false};

  static void fields(auto& self, auto&& field) {
    field("env", self.env, "name of the environment; `knurl list envs` shows them");
    field("env_config", self.env_config, "the environment's own options");
    field("normalize_actions", self.normalize_actions,
          "the policy's Box actions live in [-1, 1] and are stretched to the bounds");
    field("clip_actions", self.clip_actions, "cut Box actions to the bounds");
    field("clip_rewards", self.clip_rewards,
          "true: learn from the sign of rewards; a number: from rewards cut to it; returns are "
          "reported as the environment gave them",
          above(0));
    field("normalize_rewards", self.normalize_rewards,
          "learn from rewards over the standard deviation of their discounted sums; returns are "
          "reported as the environment gave them");
    field("action_mask_key", self.action_mask_key,
          "the entry of a Dict of observations that says which actions are allowed (PPO); \"\": "
          "none");
    field("render_env", self.render_env,
          "print the first environment's text after each of its steps");
  }
};

enum class FilterType { none, mean_std };
constexpr auto names(FilterType) {
  return std::array{std::pair{FilterType::none, "NoFilter"},
                    std::pair{FilterType::mean_std, "MeanStdFilter"},
                    std::pair{FilterType::mean_std, "ConcurrentMeanStdFilter"}};
}

/// Where fragments end.
enum class BatchMode {
  truncate_episodes,  ///< after so many steps in each env
  complete_episodes,  ///< in each env with the first episode that ends after so many steps
};
constexpr auto names(BatchMode) {
  return std::array{std::pair{BatchMode::truncate_episodes, "truncate_episodes"},
                    std::pair{BatchMode::complete_episodes, "complete_episodes"}};
}

struct RolloutOptions {
  Opt<int> num_rollout_workers = Default{0};
  Opt<int> num_envs_per_worker = Default{1};
  Opt<OrAuto<int>> rollout_fragment_length = Default{200};
  Opt<FilterType> observation_filter = Default{FilterType::none};
  Opt<BatchMode> batch_mode = Default{BatchMode::truncate_episodes};
  Opt<Stepping> env_stepping = Default{Stepping::automatic};
  Opt<bool> create_env_on_local_worker = Default{false};
  Opt<double> sample_timeout_s = Default{60.0};

  static void fields(auto& self, auto&& field) {
    field("num_rollout_workers", self.num_rollout_workers,
          "actors that step environments; 0: the driver does it", Range{0, 4096},
          Aliases{{"num_workers", "num_env_runners"}});
    field("num_envs_per_worker", self.num_envs_per_worker,
          "environments that each worker steps together", Range{1, 1 << 20},
          Aliases{{"num_envs_per_env_runner"}});
    field("rollout_fragment_length", self.rollout_fragment_length,
          "steps a worker takes in each of its environments before it reports", at_least(1));
    field("observation_filter", self.observation_filter,
          "MeanStdFilter: observations less the mean of those seen, over their standard deviation");
    field("batch_mode", self.batch_mode,
          "complete_episodes: each environment goes on until its episode ends, and waits for the "
          "others");
    field("env_stepping", self.env_stepping,
          "step a worker's environments one after the other or over threads; same results");
    field("create_env_on_local_worker", self.create_env_on_local_worker,
          "accepted for RLlib's sake: evaluation makes environments where it needs them",
          Aliases{{"create_env_on_driver", "create_local_env_runner"}});
    field("sample_timeout_s", self.sample_timeout_s,
          "seconds after which a warning names the workers that have not reported, and again each "
          "time they pass; the run waits on",
          Range{.low = 0, .high = 1e9, .low_open = true});
  }
};

enum class GradClipBy { global_norm, norm, value };
constexpr auto names(GradClipBy) {
  return std::array{std::pair{GradClipBy::global_norm, "global_norm"},
                    std::pair{GradClipBy::norm, "norm"}, std::pair{GradClipBy::value, "value"}};
}

enum class OptimizerType { adam, sgd };
constexpr auto names(OptimizerType) {
  return std::array{std::pair{OptimizerType::adam, "adam"}, std::pair{OptimizerType::sgd, "sgd"}};
}

struct OptimizerConfig {
  Opt<OptimizerType> type = Default{OptimizerType::adam};
  Opt<double> beta1 = Default{0.9};
  Opt<double> beta2 = Default{0.999};
  Opt<double> epsilon = Default{1e-8};
  Opt<double> momentum = Default{0.0};

  static void fields(auto& self, auto&& field) {
    const Range fraction{.low = 0.0, .high = 1.0, .high_open = true};
    field("type", self.type, "how parameters follow gradients");
    field("beta1", self.beta1, "adam: decay of the mean of gradients", fraction);
    field("beta2", self.beta2, "adam: decay of the mean of squared gradients", fraction);
    field("epsilon", self.epsilon, "adam: added to the root of the mean square", at_least(1e-30));
    field("momentum", self.momentum, "sgd: decay of the sum of gradients", fraction);
  }
};

struct TrainingOptions {
  Opt<double> gamma = Default{0.99};
  Opt<Schedule> lr = Default{0.001};
  Opt<std::optional<Schedule>> lr_schedule = Default{std::nullopt};
  Opt<std::optional<double>> grad_clip = Default{std::nullopt};
  Opt<GradClipBy> grad_clip_by = Default{GradClipBy::global_norm};
  Opt<int> train_batch_size = Default{32};
  ModelConfig model = {};
  OptimizerConfig optimizer = {};

  static void fields(auto& self, auto&& field) {
    field("gamma", self.gamma, "discount of the reward one step later", Range{0, 1});
    field("lr", self.lr, "learning rate (step size), constant or over env steps", at_least(0));
    field("lr_schedule", self.lr_schedule,
          "learning rate (step size) over env steps: instead of lr", at_least(0));
    field("grad_clip", self.grad_clip, "cut gradients to this; null: leave them",
          above_or_infinite(0));
    field("grad_clip_by", self.grad_clip_by, "what grad_clip bounds");
    field("train_batch_size", self.train_batch_size, "env steps that one training step learns from",
          Range{1, 1 << 30}, Aliases{{"train_batch_size_per_learner"}});
    field("model", self.model, "the net", Aliases{{"model_config"}});
    field("optimizer", self.optimizer, "the optimizer");
  }
};

struct ExplorationOptions {
  Opt<bool> explore = Default{true};
  ExplorationConfig exploration_config = {};

  static void fields(auto& self, auto&& field) {
    field("explore", self.explore, "explore while training; false: always the likeliest action");
    field("exploration_config", self.exploration_config, "how to explore");
  }
};

enum class EvaluationUnit { episodes, timesteps };
constexpr auto names(EvaluationUnit) {
  return std::array{std::pair{EvaluationUnit::episodes, "episodes"},
                    std::pair{EvaluationUnit::timesteps, "timesteps"}};
}

struct EvaluationOptions {
  Opt<std::optional<int>> evaluation_interval = Default{std::nullopt};
  Opt<OrAuto<int>> evaluation_duration = Default{10};
  Opt<EvaluationUnit> evaluation_duration_unit = Default{EvaluationUnit::episodes};
  Opt<int> evaluation_num_workers = Default{0};
  Opt<bool> evaluation_parallel_to_training = Default{false};
  Opt<ConfigValue> evaluation_config = Default{ConfigValue::empty_map()};
  Opt<bool> always_attach_evaluation_results = Default{false};
  Opt<double> evaluation_sample_timeout_s = Default{180.0};

  static void fields(auto& self, auto&& field) {
    field("evaluation_interval", self.evaluation_interval,
          "iterations from one evaluation to the next; null or 0: none", at_least(0));
    field(
        "evaluation_duration", self.evaluation_duration,
        "episodes or steps of one evaluation; auto: whole episodes as long as the training beside "
        "it takes, so that their number depends on time",
        at_least(1));
    field("evaluation_duration_unit", self.evaluation_duration_unit,
          "timesteps: as many whole episodes as make at least so many steps");
    field("evaluation_num_workers", self.evaluation_num_workers,
          "actors that evaluate; 0: the driver does it; same results", Range{0, 4096},
          Aliases{{"evaluation_num_env_runners"}});
    field("evaluation_parallel_to_training", self.evaluation_parallel_to_training,
          "evaluate the weights from before the iteration while it trains; needs "
          "evaluation_num_workers");
    field(
        "evaluation_config", self.evaluation_config,
        "options of the algorithm that differ in evaluation; it explores only where explore: true "
        "stands here");
    field("always_attach_evaluation_results", self.always_attach_evaluation_results,
          "report the last evaluation again in iterations without one");
    field("evaluation_sample_timeout_s", self.evaluation_sample_timeout_s,
          "seconds after which a warning names the evaluation workers that have not reported; the "
          "run waits on",
          Range{.low = 0, .high = 1e9, .low_open = true});
  }
};

/// What computes a learner's nets.
enum class LearnerBackend { automatic, fused, torch };
constexpr auto names(LearnerBackend) {
  return std::array{std::pair{LearnerBackend::automatic, "auto"},
                    std::pair{LearnerBackend::fused, "fused"},
                    std::pair{LearnerBackend::torch, "torch"}};
}

struct ResourceOptions {
  Opt<int> num_cpus_per_worker = Default{1};
  Opt<int> num_cpus_for_local_worker = Default{1};
  Opt<LearnerBackend> learner_backend = Default{LearnerBackend::automatic};

  static void fields(auto& self, auto&& field) {
    field("num_cpus_per_worker", self.num_cpus_per_worker,
          "threads a rollout worker may step its environments with", Range{1, 4096},
          Aliases{{"num_cpus_per_env_runner"}});
    field("num_cpus_for_local_worker", self.num_cpus_for_local_worker,
          "threads the learner may use for one operation", Range{1, 4096},
          Aliases{{"num_cpus_for_driver", "num_cpus_for_main_process"}});
    field(
        "learner_backend", self.learner_backend,
        "what learns: fused, knurl's own kernels for nets of dense layers; torch, LibTorch for any "
        "net; auto, the first that can");
  }
};

struct ReportingOptions {
  Opt<int> metrics_num_episodes_for_smoothing = Default{100};
  Opt<std::optional<double>> min_time_s_per_iteration = Default{std::nullopt};
  Opt<std::int64_t> min_train_timesteps_per_iteration = Default{0};
  Opt<std::int64_t> min_sample_timesteps_per_iteration = Default{0};

  static void fields(auto& self, auto&& field) {
    field("metrics_num_episodes_for_smoothing", self.metrics_num_episodes_for_smoothing,
          "episode metrics cover at least the last so many episodes", at_least(1));
    field("min_time_s_per_iteration", self.min_time_s_per_iteration,
          "an iteration lasts at least so many seconds; null: one training step", Range{0, 1e9});
    field("min_train_timesteps_per_iteration", self.min_train_timesteps_per_iteration,
          "an iteration learns from at least so many env steps", at_least(0));
    field("min_sample_timesteps_per_iteration", self.min_sample_timesteps_per_iteration,
          "an iteration takes at least so many env steps", at_least(0));
  }
};

struct CallbackOptions {
  Opt<std::optional<std::string>> callbacks = Default{std::nullopt};

  static void fields(auto& self, auto&& field) {
    field("callbacks", self.callbacks, "registered class whose methods are called as the run goes");
  }
};

struct DebuggingOptions {
  Opt<std::optional<std::int64_t>> seed = Default{std::nullopt};
  Opt<bool> deterministic = Default{false};

  static void fields(auto& self, auto&& field) {
    field("seed", self.seed, "the run's seed; null: one is drawn and recorded", at_least(0));
    field("deterministic", self.deterministic,
          "promise that the seed makes the run, on any number of cores and however long each thing "
          "takes: options that let time or cores decide are refused");
  }
};

}  // namespace knurl
