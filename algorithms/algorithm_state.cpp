#include <nlohmann/json.hpp>

#include "knurl/algorithms/algorithm.h"
#include "knurl/algorithms/policy_options.h"
#include "knurl/algorithms/registry.h"
#include "knurl/algorithms/typed_json.h"
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
  return {.tensors = state.tensors(kWeightsFile),
          .version = count_of(state, "weights_version"),
          .observed = ObservationFilter::observed_in(state)};
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

std::filesystem::path Algorithm::save(std::filesystem::path directory) {
  if (directory.empty()) directory = directory_ / checkpoint_name(counters_.iteration);
  write_checkpoint(directory, save_state());
  return directory;
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
    require_same_policy(*saved, *config_, {.name = "the checkpoint"});
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

}  // namespace knurl
