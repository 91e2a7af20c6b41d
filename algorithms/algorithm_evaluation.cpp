#include "knurl/algorithms/algorithm.h"
#include "knurl/algorithms/rollout/episode_metrics.h"
#include "knurl/core/base/error.h"

namespace knurl {
namespace {

/// Whether a policy for one space can be asked about the other: same leaves, and of Discrete ones
/// the same numbers. Bounds of a Box may differ.
bool alike(const Space& a, const Space& b) {
  const SpaceLayout first(a);
  const SpaceLayout second(b);
  if (first.columns("") != second.columns("")) return false;
  for (std::size_t i = 0; i < first.leaves().size(); ++i) {
    const Space& one = first.leaves()[i].space;
    if (!one.as<Box>() && one != second.leaves()[i].space) return false;
  }
  return true;
}

}  // namespace

EnvSpec evaluation_env_spec(const AlgorithmConfig& config, const EnvSpec& training) {
  if (config.common().evaluation.evaluation_config->map()->empty()) return training;
  const auto evaluated = config.for_evaluation();
  const EnvironmentOptions& options = evaluated->common().environment;
  EnvSpec spec = make_env(*options.env, *options.env_config)->spec();
  if (!alike(spec.observation, training.observation) || !alike(spec.action, training.action)) {
    fail(ErrorKind::config,
         "evaluation_config.env {}: its spaces {} and {} are not those of training, {} and {}",
         *options.env, spec.observation.text(), spec.action.text(), training.observation.text(),
         training.action.text());
  }
  return spec;
}

Result Algorithm::evaluate() {
  start_evaluation();
  return finish_evaluation();
}

bool Algorithm::evaluation_due(std::int64_t iteration) const {
  const auto interval = config_->evaluation_interval();
  return interval && iteration % *interval == 0;
}

/// Each evaluation has streams of its own, so that training and other evaluations do not notice it.
void Algorithm::start_evaluation() {
  tell("on_evaluate_start", [&](Callbacks& c) { c.on_evaluate_start(*this); });
  if (!evaluation_) evaluation_ = std::make_unique<EvaluationSet>(*config_);
  evaluation_->start(learner().weights(),
                     {.stream = fmt::format("evaluation {}", counters_.evaluations),
                      .timestep = counters_.env_steps_sampled,
                      .directory = directory_.string()});
  ++counters_.evaluations;
}

/// Adds the evaluation of the iteration that is over, `running` where it was begun with it.
void Algorithm::report_evaluation(Result& result, bool running) {
  if (evaluation_due(counters_.iteration)) {
    if (!running) start_evaluation();
    result.merge(finish_evaluation());
  } else if (config_->common().evaluation.always_attach_evaluation_results) {
    result.merge(last_evaluation_);
  }
}

Result Algorithm::finish_evaluation() {
  const std::vector<EpisodeSummary> episodes = evaluation_->finish();
  std::int64_t steps = 0;
  for (const EpisodeSummary& episode : episodes) steps += episode.length;
  Result result;
  result.merge(episode_metrics(episodes, evaluation_info_), "evaluation/");
  result.set("evaluation/episodes_this_iter", std::ssize(episodes));
  result.set("evaluation/timesteps_this_iter", steps);
  tell("on_evaluate_end", [&](Callbacks& c) { c.on_evaluate_end(*this, result); });
  last_evaluation_ = result;
  return result;
}

}  // namespace knurl
