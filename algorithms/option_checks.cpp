#include "knurl/algorithms/option_checks.h"

#include "knurl/core/base/error.h"

namespace knurl {
namespace {

/// An option that belongs to another type than the one chosen; at its default it does no harm.
void refuse_other_type(bool changed, std::string_view option, std::string_view owner,
                       std::string_view type_option, std::string_view type) {
  if (!changed) return;
  fail(ErrorKind::config, "{} belongs to {}, but {} = {}; leave one out", option, owner,
       type_option, type);
}

}  // namespace

void check_belonging(const OptimizerConfig& o) {
  const OptimizerConfig fresh;
  const std::string_view type = name_of(o.type.value());
  const auto refuse = [&](bool changed, std::string_view name, std::string_view owner) {
    refuse_other_type(changed, fmt::format("training.optimizer.{}", name), owner,
                      "training.optimizer.type", type);
  };
  if (o.type.value() == OptimizerType::adam) {
    refuse(*o.momentum != *fresh.momentum, "momentum", "sgd");
  } else {
    refuse(*o.beta1 != *fresh.beta1, "beta1", "adam");
    refuse(*o.beta2 != *fresh.beta2, "beta2", "adam");
    refuse(*o.epsilon != *fresh.epsilon, "epsilon", "adam");
  }
}

void check_belonging(const ExplorationConfig& e, const ExplorationConfig& fresh) {
  const auto refuse = [&](bool changed, std::string_view name, std::string_view owner) {
    refuse_other_type(changed, fmt::format("exploration.exploration_config.{}", name), owner,
                      "exploration.exploration_config.type", name_of(e.type.value()));
  };
  const bool shaped = *e.initial_epsilon != *fresh.initial_epsilon ||
                      *e.final_epsilon != *fresh.final_epsilon ||
                      *e.warmup_timesteps != *fresh.warmup_timesteps ||
                      *e.epsilon_timesteps != *fresh.epsilon_timesteps;
  if (e.type.value() == ExplorationType::epsilon_greedy ||
      e.type.value() == ExplorationType::per_worker_epsilon_greedy) {
    if (shaped && e.epsilon_schedule->has_value()) {
      fail(ErrorKind::config,
           "exploration.exploration_config.epsilon_schedule takes the place of initial_epsilon, "
           "final_epsilon, warmup_timesteps and epsilon_timesteps: give it or them");
    }
  } else {
    refuse(*e.initial_epsilon != *fresh.initial_epsilon, "initial_epsilon", "EpsilonGreedy");
    refuse(*e.final_epsilon != *fresh.final_epsilon, "final_epsilon", "EpsilonGreedy");
    refuse(*e.warmup_timesteps != *fresh.warmup_timesteps, "warmup_timesteps", "EpsilonGreedy");
    refuse(*e.epsilon_timesteps != *fresh.epsilon_timesteps, "epsilon_timesteps", "EpsilonGreedy");
    refuse(e.epsilon_schedule->has_value(), "epsilon_schedule", "EpsilonGreedy");
  }
  if (e.type.value() != ExplorationType::parameter_noise) {
    refuse(*e.initial_stddev != *fresh.initial_stddev, "initial_stddev", "ParameterNoise");
    refuse(*e.random_timesteps != *fresh.random_timesteps, "random_timesteps", "ParameterNoise");
  }
  if (e.type.value() != ExplorationType::soft_q) {
    refuse(*e.temperature != *fresh.temperature, "temperature", "SoftQ");
  }
}

void check_evaluation(const EvaluationOptions& o) {
  if (!o.evaluation_config->map() && !o.evaluation_config->is_null()) {
    fail(ErrorKind::config, "evaluation.evaluation_config = {}: must be a map of options",
         o.evaluation_config->describe());
  }
  if (!o.evaluation_duration->is_auto()) return;
  if (o.evaluation_parallel_to_training && o.evaluation_num_workers > 0) return;
  fail(ErrorKind::config,
       "evaluation.evaluation_duration = auto: lasts as long as the training beside it; give "
       "evaluation_parallel_to_training: true and evaluation_num_workers");
}

}  // namespace knurl
