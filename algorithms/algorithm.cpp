#include "knurl/algorithms/algorithm.h"

#include <algorithm>
#include <cmath>

#include <nlohmann/json.hpp>

#include "knurl/algorithms/metrics.h"
#include "knurl/algorithms/registry.h"
#include "knurl/algorithms/rollout/episode_metrics.h"
#include "knurl/algorithms/typed_json.h"
#include "knurl/core/base/clock.h"
#include "knurl/core/base/error.h"
#include "knurl/core/base/log.h"
#include "knurl/core/config/yaml.h"
#include "knurl/core/data/finite.h"
#include "knurl/models/fast/kernels.h"

namespace knurl {
namespace {

using Json = nlohmann::ordered_json;

constexpr const char* kStateFile = "algorithm.json";
constexpr const char* kWeightsFile = "policies/default_policy.safetensors";

void require_default(const std::string& policy_id) {
  if (policy_id == "default_policy") return;
  fail(ErrorKind::config, "policy {}: there is only default_policy", policy_id);
}

/// A count in the algorithm's file. Throws Error(checkpoint) where there is none that makes sense.
std::int64_t count_of(const Json& json, const char* name, const std::string& path) {
  constexpr std::int64_t kMost = std::int64_t{1} << 53;
  const Json value = json.is_object() ? json.value(name, Json()) : Json();
  if (!value.is_number_integer() || value.get<std::int64_t>() < 0 ||
      value.get<std::int64_t>() > kMost) {
    fail(ErrorKind::checkpoint, "{}: {} = {}: must be a whole number in [0, {}]", path, name,
         value.dump(), kMost);
  }
  return value.get<std::int64_t>();
}

std::int64_t count_of(const CheckpointData& state, const char* name) {
  return count_of(Json::parse(state.json(kStateFile), nullptr, false), name,
                  state.path_of(kStateFile));
}

}  // namespace

Algorithm::Algorithm(std::unique_ptr<const AlgorithmConfig> resolved)
    : config_(std::move(resolved)) {
  const EnvironmentOptions& options = config_->common().environment;
  env_spec_ = make_env(*options.env, *options.env_config)->spec();
  observations_ = SpaceLayout(env_spec_.observation);
  actions_ = SpaceLayout(env_spec_.action);
  names_ = knurl::metric_names(*config_, env_spec_);
  evaluation_info_ = evaluation_env_spec(*config_, env_spec_).info;
  callbacks_ = make_callbacks(*config_->common().callbacks.callbacks);
  workers_ = std::make_unique<WorkerSet>(*config_);
  set_directory(std::filesystem::path("results") /
                fmt::format("{}_{}", config_->algorithm(), *options.env));
  if (config_->evaluation_interval()) evaluation_ = std::make_unique<EvaluationSet>(*config_);
  greedy_.policy = config_->make_policy(env_spec_, Acting::greedy, {});
  exploring_.policy = config_->make_policy(env_spec_, Acting::exploring, {});
  if (options.normalize_rewards) {
    const NormalizeReward given = config_->run_wrappers().rewards.value_or(NormalizeReward());
    reward_filter_.emplace(given.gamma.value_or(config_->common().training.gamma), given.epsilon);
  }
  action_rng_ = run_rng().split("compute_actions");
}

std::unique_ptr<Algorithm> Algorithm::from_checkpoint(const std::filesystem::path& checkpoint) {
  const CheckpointData state = read_checkpoint(checkpoint);
  auto algorithm = config_of(state)->build();
  algorithm->load_state(state);
  return algorithm;
}

std::unique_ptr<AlgorithmConfig> config_of(const CheckpointData& state) {
  try {
    const Json json = Json::parse(state.json(kStateFile));
    auto config = make_config(json.at("algorithm").get<std::string>());
    config->restore(parse_yaml(json.at("config").dump(), kStateFile),
                    parse_yaml(json.at("given").dump(), kStateFile));
    return config;
  } catch (const std::exception& error) {
    fail(ErrorKind::checkpoint, "{}: {}", state.path_of(kStateFile), error.what());
  }
}

Weights weights_of(const CheckpointData& state) {
  return {.tensors = state.tensors(kWeightsFile), .version = count_of(state, "weights_version")};
}

std::int64_t env_steps_of(const CheckpointData& state) {
  return count_of(state, "env_steps_sampled");
}

CheckpointSummary summary_of(const CheckpointData& state) {
  try {
    const Json json = Json::parse(state.json(kStateFile));
    return {.algorithm = json.at("algorithm"),
            .env = json.at("config").at("env"),
            .instruction_set = json.at("instruction_set"),
            .iteration = count_of(state, "iteration"),
            .env_steps = env_steps_of(state),
            .episodes = count_of(state, "episodes"),
            .time_total_s = json.at("time_total_s")};
  } catch (const Json::exception& error) {
    fail(ErrorKind::checkpoint, "{}: {}", state.path_of(kStateFile), error.what());
  }
}

Rng Algorithm::run_rng() const {
  return Rng(static_cast<std::uint64_t>(config_->common().debugging.seed->value_or(0)));
}

Result Algorithm::train() {
  if (!workers_) fail(ErrorKind::config, "train() after stop(): the workers are gone");
  const double start = steady_seconds();
  const Counters before = counters_;
  timers_ = {};
  episodes_this_iter_ = 0;
  if (!workers_have_weights_) share_weights();
  const bool evaluates_beside = config_->common().evaluation.evaluation_parallel_to_training &&
                                evaluation_due(counters_.iteration + 1);
  if (evaluates_beside) start_evaluation();

  do {
    training_step();
  } while (!iteration_done(before, start));
  ++counters_.iteration;

  const double elapsed = steady_seconds() - start;
  counters_.time_total_s += elapsed;
  Result result =
      episode_metrics(std::vector<EpisodeSummary>(window_.begin(), window_.end()), env_spec_.info);
  report_counters(result, before, elapsed);
  report_timers(result, elapsed);
  Result stats = learner().take_stats();
  report_own(stats);
  result.merge(stats, "info/learner/default_policy/learner_stats/");
  report_evaluation(result, evaluates_beside);
  tell("on_train_result", [&](Callbacks& c) { c.on_train_result(*this, result); });
  return result;
}

bool Algorithm::iteration_done(const Counters& before, double start) const {
  const ReportingOptions& options = config_->common().reporting;
  const std::int64_t sampled = counters_.env_steps_sampled - before.env_steps_sampled;
  const std::int64_t trained = counters_.env_steps_trained - before.env_steps_trained;
  const double elapsed = steady_seconds() - start;
  return sampled >= options.min_sample_timesteps_per_iteration &&
         trained >= options.min_train_timesteps_per_iteration &&
         elapsed >= options.min_time_s_per_iteration->value_or(0.0);
}

std::vector<Fragment> Algorithm::sample(std::int64_t min_steps) {
  const double start = steady_seconds();
  const CommonOptions& options = config_->common();
  const int length = options.rollouts.rollout_fragment_length->value.value();
  std::vector<Fragment> fragments;
  for (std::int64_t steps = 0; steps < min_steps;) {
    const double round_start = steady_seconds();
    auto round = workers_->sample({.steps_per_env = length,
                                   .timestep = counters_.env_steps_sampled + steps,
                                   .mode = options.rollouts.batch_mode});
    count_round(round, steady_seconds() - round_start);
    for (Fragment& fragment : round) {
      steps += fragment.env_steps;
      fragments.push_back(std::move(fragment));
    }
  }
  note_episodes(fragments);
  if (reward_filter_) reward_filter_->apply(fragments);
  timers_.sample += steady_seconds() - start;
  return fragments;
}

void Algorithm::note_episodes(const std::vector<Fragment>& fragments) {
  std::vector<EpisodeSummary> ended;
  for (const Fragment& fragment : fragments) {
    counters_.env_steps_sampled += fragment.env_steps;
    ended.insert(ended.end(), fragment.episodes.begin(), fragment.episodes.end());
  }
  // in the order in which they ended, whichever worker had them
  std::ranges::sort(ended, {},
                    [](const EpisodeSummary& e) { return std::pair(e.ended_at, e.env); });
  window_.insert(window_.end(), ended.begin(), ended.end());
  episodes_this_iter_ += static_cast<std::int64_t>(ended.size());
  counters_.episodes += static_cast<std::int64_t>(ended.size());
  // metrics cover this iteration's episodes, and at least the last so many
  const auto smoothing =
      static_cast<std::int64_t>(config_->common().reporting.metrics_num_episodes_for_smoothing);
  const auto keep = static_cast<std::size_t>(std::max(smoothing, episodes_this_iter_));
  while (window_.size() > keep) window_.pop_front();
}

void Algorithm::share_weights() {
  const double start = steady_seconds();
  workers_->set_weights(acting_weights());
  workers_have_weights_ = true;
  timers_.share += steady_seconds() - start;
}

void Algorithm::count_trained(std::int64_t env_steps, double seconds_taken) {
  counters_.env_steps_trained += env_steps;
  timers_.learn += seconds_taken;
  tell("on_learn_on_batch", [&](Callbacks& c) {
    c.on_learn_on_batch(*this, {.env_steps = env_steps, .seconds = seconds_taken});
  });
}

std::filesystem::path Algorithm::save(std::filesystem::path directory) {
  if (directory.empty()) directory = directory_ / checkpoint_name(counters_.iteration);
  write_checkpoint(directory, save_state());
  return directory;
}

void Algorithm::set_directory(const std::filesystem::path& directory) {
  directory_ = directory;
  if (workers_ && config_->run_wrappers().recording) workers_->record(directory.string());
}

void Algorithm::restore(const std::filesystem::path& checkpoint) {
  load_state(read_checkpoint(checkpoint));
}

CheckpointData Algorithm::save_state() {
  if (!workers_) fail(ErrorKind::config, "save after stop(): the workers' state is gone");
  const Weights weights = learner().weights();
  if (!all_finite(flat(weights.tensors))) {
    fail(ErrorKind::env, "iteration {}: the weights are not finite; no checkpoint is made of them",
         counters_.iteration);
  }
  CheckpointData out;
  out.add_json(kStateFile, counters_json());
  out.add_tensors(kWeightsFile, weights.tensors);
  learner().save(out);
  save_own(out);
  if (reward_filter_) reward_filter_->save(out);
  workers_->save(out);
  return out;
}

void Algorithm::load_state(const CheckpointData& state) {
  if (!workers_) fail(ErrorKind::config, "restore after stop(): the workers are gone");
  const auto saved = config_of(state);
  if (saved->algorithm() != config_->algorithm()) {
    fail(ErrorKind::checkpoint, "the checkpoint is of {}, not of {}", saved->algorithm(),
         config_->algorithm());
  }
  workers_->check_fits(state);
  const Weights weights = weights_of(state);
  try {
    require_same_tensors(weights.tensors, learner().weights().tensors);
  } catch (const Error& error) {
    fail(ErrorKind::checkpoint, "{}", error.what());
  }
  try {
    set_weights({{"default_policy", weights}});
    restore_counters(state.json(kStateFile));
    learner().load(state);
    load_own(state);
    if (reward_filter_) reward_filter_->load(state);
    workers_->load(state);
    share_weights();
  } catch (...) {
    stop();  // half restored, it must not go on
    throw;
  }
  tell("on_checkpoint_loaded", [&](Callbacks& c) { c.on_checkpoint_loaded(*this); });
}

std::string Algorithm::counters_json() {
  Json json{{"algorithm", config_->algorithm()},
            {"config", Json::parse(to_json(config_->to_value()))},
            {"given", Json::parse(to_json(config_->to_value(Shown::given)))},
            {"instruction_set", fast::kernels().name},
            {"weights_version", learner().version()},
            {"iteration", counters_.iteration},
            {"env_steps_sampled", counters_.env_steps_sampled},
            {"env_steps_trained", counters_.env_steps_trained},
            {"episodes", counters_.episodes},
            {"evaluations", counters_.evaluations},
            {"time_total_s", counters_.time_total_s},
            {"action_rng", action_rng_.state()}};
  Json& window = json["window"] = Json::array();
  for (const EpisodeSummary& e : window_) {
    window.push_back(
        {e.episode, e.env, e.episode_return, e.length, e.ended_at, e.terminated, e.info});
    window.back().push_back(e.custom_metrics);
  }
  json["last_evaluation"] = Json::parse(typed_json(last_evaluation_));
  return json.dump(1) + "\n";
}

void Algorithm::restore_counters(const std::string& text) {
  try {
    const Json json = Json::parse(text);
    const auto count = [&](const char* name) { return count_of(json, name, kStateFile); };
    counters_ = {.iteration = count("iteration"),
                 .env_steps_sampled = count("env_steps_sampled"),
                 .env_steps_trained = count("env_steps_trained"),
                 .episodes = count("episodes"),
                 .evaluations = count("evaluations"),
                 .time_total_s = json.at("time_total_s")};
    at_restore_ = counters_;
    action_rng_.restore(json.at("action_rng").get<Rng::State>());
    window_.clear();
    for (const Json& e : json.at("window")) {
      window_.push_back({.episode = e.at(0),
                         .env = e.at(1),
                         .episode_return = e.at(2),
                         .length = e.at(3),
                         .ended_at = e.at(4),
                         .terminated = e.at(5),
                         .info = e.at(6),
                         .custom_metrics = e.at(7)});
    }
    last_evaluation_ = result_of_typed_json(json.at("last_evaluation").dump());
    if (json.at("instruction_set") != fast::kernels().name) {
      log(LogLevel::warning,
          "the checkpoint was made with {} instructions, this run uses {}: "
          "numbers will differ in the last bits",
          json.at("instruction_set").get<std::string>(), fast::kernels().name);
    }
  } catch (const Json::exception& error) {
    fail(ErrorKind::checkpoint, "{}: {}", kStateFile, error.what());
  }
}

Policy& Algorithm::get_policy(const std::string& policy_id) {
  require_default(policy_id);
  return up_to_date(exploring_);
}

std::map<std::string, Weights> Algorithm::get_weights() {
  return {{"default_policy", learner().weights()}};
}

void Algorithm::set_weights(const std::map<std::string, Weights>& weights) {
  for (const auto& [policy_id, tensors] : weights) {
    require_default(policy_id);
    learner().set_weights(tensors);
  }
  greedy_.version.reset();  // versions of other learners' weights say nothing
  exploring_.version.reset();
  if (workers_) share_weights();
}

}  // namespace knurl
