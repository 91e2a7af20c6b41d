#include "knurl/algorithms/algorithm_config.h"

#include <random>

#include "knurl/algorithms/algorithm.h"
#include "knurl/algorithms/determinism.h"
#include "knurl/algorithms/option_checks.h"
#include "knurl/algorithms/policy_options.h"
#include "knurl/algorithms/rllib_keys.h"
#include "knurl/core/base/error.h"
#include "knurl/core/base/log.h"
#include "knurl/core/config/yaml.h"
#include "knurl/models/custom_model.h"

namespace knurl {
namespace {

/// Before what is wrong with evaluation_config.
constexpr const char* kEvaluationPart = "evaluation_config: ";

/// Envs in the whole run. Throws Error(config) where there are more than anybody can want.
int num_envs_of(const RolloutOptions& o) {
  constexpr std::int64_t kMost = 1 << 20;
  const std::int64_t envs = static_cast<std::int64_t>(std::max(1, o.num_rollout_workers.value())) *
                            o.num_envs_per_worker.value();
  if (envs > kMost) {
    fail(ErrorKind::config,
         "rollouts.num_rollout_workers = {} times rollouts.num_envs_per_worker = {}: at most {} "
         "environments",
         o.num_rollout_workers.value(), o.num_envs_per_worker.value(), kMost);
  }
  return static_cast<int>(envs);
}

void check_fragments(const RolloutOptions& o) {
  const auto& length = *o.rollout_fragment_length;
  const std::int64_t envs = num_envs_of(o);
  if (length.is_auto() || *length.value * envs <= (std::int64_t{1} << 30)) return;
  fail(ErrorKind::config,
       "rollouts.rollout_fragment_length = {} in {} environments: more steps than one sample can "
       "hold",
       *length.value, envs);
}

/// Options of the model that knurl does not have, one level too high: taken out and told apart from
/// words that mean nothing.
void refuse_misplaced_model_keys(ConfigValue& map, const std::string& path, Problems& problems) {
  for (const ForeignKey& key : rllib_keys()) {
    const std::string_view below = key.path;
    if (!below.starts_with("model.")) continue;
    if (const auto value = map.take(below.substr(6))) {
      problems.add(value->place(), fmt::format("{}{}.{}: is an option of the model: write it below "
                                               "model",
                                               value->place().prefix(), path, below.substr(6)));
    }
  }
}

/// Small enough to survive any reader of JSON and YAML unchanged.
std::int64_t draw_seed() {
  std::random_device device;
  return static_cast<std::int64_t>(device() & 0x7FFFFFFFU);
}

}  // namespace

std::unique_ptr<Algorithm> AlgorithmConfig::build() {
  auto ready = resolved();
  frozen_ = true;
  auto algorithm = make_algorithm(std::move(ready));
  algorithm->tell("on_algorithm_init", [&](Callbacks& c) { c.on_algorithm_init(*algorithm); });
  return algorithm;
}

void AlgorithmConfig::refuse_if_frozen() const {
  if (!frozen_) return;
  fail(ErrorKind::config, "the config of {} is frozen since build(); change a copy()", algorithm());
}

std::vector<Section> AlgorithmConfig::sections() {
  CommonOptions& c = common_;
  return {{"environment", &schema_of<EnvironmentOptions>(), &c.environment},
          {"rollouts", &schema_of<RolloutOptions>(), &c.rollouts},
          {"training", &schema_of<TrainingOptions>(), &c.training},
          own_section(),
          {"exploration", &schema_of<ExplorationOptions>(), &c.exploration},
          {"evaluation", &schema_of<EvaluationOptions>(), &c.evaluation},
          {"resources", &schema_of<ResourceOptions>(), &c.resources},
          {"reporting", &schema_of<ReportingOptions>(), &c.reporting},
          {"callbacks", &schema_of<CallbackOptions>(), &c.callbacks},
          {"debugging", &schema_of<DebuggingOptions>(), &c.debugging}};
}

std::vector<ConstSection> AlgorithmConfig::sections() const {
  std::vector<ConstSection> out;
  for (Section& section : const_cast<AlgorithmConfig*>(this)->sections()) {  // only looked at
    out.push_back({std::move(section.group), section.schema, section.object});
  }
  return out;
}

void AlgorithmConfig::update(const ConfigValue& map, const std::string& path) {
  Problems problems;
  update(map, path, problems);
  problems.throw_any();
}

void AlgorithmConfig::update(const ConfigValue& map, const std::string& path, Problems& problems) {
  refuse_if_frozen();
  ConfigValue own = map;
  const ConfigValue* fake = own.find("_fake_gpus");
  if (fake && fake->as_bool().value_or(false)) own.take("num_gpus");
  for (std::string& note : take_foreign_keys(own, rllib_keys_for(*this), path, problems)) {
    notes_.push_back(std::move(note));
  }
  refuse_misplaced_model_keys(own, path, problems);
  const std::vector<Section> parts = sections();
  read_sections(own, parts, path, problems);
  places_.note(own, parts);
  if (own.find("evaluation_config")) notes_ = for_evaluation(path, problems)->notes_;
}

std::unique_ptr<AlgorithmConfig> AlgorithmConfig::for_evaluation() const {
  Problems problems;
  auto out = for_evaluation("", problems);
  problems.throw_any();
  return out;
}

std::unique_ptr<AlgorithmConfig> AlgorithmConfig::for_evaluation(const std::string& path,
                                                                 Problems& problems) const {
  auto out = clone();
  const ConfigValue over = *common_.evaluation.evaluation_config;
  out->common_.evaluation.evaluation_config = Default{ConfigValue::empty_map()};
  const ConfigValue* env = over.find("env");
  if (env && env->scalar() && env->scalar()->text != *common_.environment.env) {
    // another env's options are not this one's
    out->common_.environment.env_config = Default{ConfigValue::empty_map()};
  }
  out->update(over, path.empty() ? "evaluation_config" : path + ".evaluation_config", problems);
  return out;
}

Acting AlgorithmConfig::evaluation_acting() const {
  const ConfigValue* explore = common_.evaluation.evaluation_config->find("explore");
  const bool explores = explore && explore->as_bool().value_or(false);
  return explores ? Acting::exploring : Acting::greedy;
}

void AlgorithmConfig::restore(const ConfigValue& all, const ConfigValue& given) {
  refuse_if_frozen();
  const OrAuto<int> fresh_length = *common_.rollouts.rollout_fragment_length;
  const std::vector<Section> parts = sections();
  read_sections(all, parts, "config");
  for (const Section& section : parts) {
    for (const Field& field : section.schema->fields()) {
      field.type->mark_given(field.in(section.object), given.find(field.name));
    }
  }
  Opt<OrAuto<int>>& length = common_.rollouts.rollout_fragment_length;
  if (!length.given() && fresh_length.is_auto()) length = Default{OrAuto<int>{}};
}

std::optional<int> AlgorithmConfig::evaluation_interval() const {
  const std::optional<int> interval = *common_.evaluation.evaluation_interval;
  return interval && *interval > 0 ? interval : std::nullopt;
}

int AlgorithmConfig::auto_fragment_length(int num_envs) const {
  return (common_.training.train_batch_size + num_envs - 1) / num_envs;
}

RunWrappers AlgorithmConfig::run_wrappers() const {
  const EnvironmentOptions& options = common_.environment;
  if (options.env->empty()) return {};  // a learner by itself
  return knurl::run_wrappers(wrappers_of(*options.env, *options.env_config));
}

/// NormalizeObservation and NormalizeReward in the list of wrappers are options of the run by
/// another name. Throws Error(config) where these say the opposite, or mean nothing here.
void AlgorithmConfig::take_over_wrappers() {
  const EnvironmentOptions& environment = common_.environment;
  const std::vector<std::string> unused = unused_options();
  for (const WrapperChoice& wrapper : wrappers_of(*environment.env, *environment.env_config)) {
    const auto take = [&]<class T>(const char* name, Opt<T>& option, const char* option_name,
                                   T meant) {
      if (wrapper.name != name) return;
      const auto refuse = [&](const std::string& why) {
        fail(ErrorKind::config, "{}env_config.wrappers: {}: {}", wrapper.place.prefix(), name, why);
      };
      if (std::ranges::count(unused, option_name) > 0) {
        refuse(fmt::format("means nothing to {}; leave it out", algorithm()));
      }
      if (*option == meant) return;
      if (option.given())
        refuse(fmt::format("{} says the opposite; give one of them", option_name));
      option = Default{meant};
    };
    take("NormalizeObservation", common_.rollouts.observation_filter, "observation_filter",
         FilterType::mean_std);
    take("NormalizeReward", common_.environment.normalize_rewards, "normalize_rewards", true);
  }
}

std::unique_ptr<AlgorithmConfig> AlgorithmConfig::resolved() const {
  auto out = clone();
  out->resolve(Purpose::training);
  const ConfigValue::Map* over = out->common_.evaluation.evaluation_config->map();
  if (!over || over->empty()) return out;
  const auto evaluated = out->for_evaluation();
  evaluated->resolve(Purpose::evaluation);
  require_same_policy(*out, *evaluated, {.name = "training", .part = kEvaluationPart});
  return out;
}

void AlgorithmConfig::check_env(const EnvSpec& env) const {
  Opt<std::string> key = common_.environment.action_mask_key;
  // a config that is written out gives the default, too
  if (key == EnvironmentOptions().action_mask_key) key.forget_given();
  try {
    check_mask_key(SpaceLayout(env.observation), SpaceLayout(env.action), key);
  } catch (const Error& error) {
    fail(error.kind(), "{}{}", place_of(error.what()).prefix(), error.what());
  }
}

void AlgorithmConfig::resolve(Purpose purpose) {
  try {
    check(purpose);
    take_over_wrappers();
    close_open_ends();
    resolve_own();
  } catch (const Error& error) {
    fail(error.kind(), "{}{}{}", place_of(error.what()).prefix(),
         purpose == Purpose::evaluation ? kEvaluationPart : "", error.what());
  }
}

/// Works out "auto" and null in the common options.
void AlgorithmConfig::close_open_ends() {
  CommonOptions& c = common_;
  const int num_envs = num_envs_of(c.rollouts);
  if (c.rollouts.rollout_fragment_length->is_auto()) {
    c.rollouts.rollout_fragment_length = Default{auto_fragment_length(num_envs)};
  }
  if (const auto schedule = *c.training.lr_schedule) {
    c.training.lr = Default{*schedule};
    c.training.lr_schedule = Default{std::nullopt};
  }
  if (!*c.debugging.seed) c.debugging.seed = Default{draw_seed()};
  EvaluationOptions& evaluation = c.evaluation;
  if (evaluation.evaluation_config->is_null()) {
    evaluation.evaluation_config = Default{ConfigValue::empty_map()};
  }
  if (evaluation.evaluation_parallel_to_training && evaluation.evaluation_num_workers == 0) {
    warn_once(
        "evaluation_parallel_to_training without evaluation_num_workers: evaluation runs in the "
        "driver, after training");
    evaluation.evaluation_parallel_to_training = Default{false};
  }
}

void AlgorithmConfig::check(Purpose purpose) const {
  const std::vector<std::string> unused = unused_options();
  const ConfigValue defaults = unused.empty() ? ConfigValue() : fresh()->to_value();
  for (const ConstSection& section : sections()) {
    section.schema->check(section.object, section.group);
    for (const Field& field : section.schema->fields()) {
      if (std::ranges::count(unused, field.name) == 0) continue;
      const void* member = field.in(section.object);
      if (!field.type->given(member)) continue;
      if (field.type->write(member, Shown::all) == *defaults.find(field.name)) continue;
      fail(ErrorKind::config, "{}.{}: means nothing to {}; leave it out", section.group, field.name,
           algorithm());
    }
  }
  const CommonOptions& c = common_;
  if (c.environment.env->empty()) {
    fail(ErrorKind::config,
         "environment.env: no environment is given; `knurl list envs` shows them");
  }
  find_env(*c.environment.env);
  if (c.training.lr_schedule.value() && c.training.lr.given() &&
      *c.training.lr != *fresh()->common().training.lr) {
    fail(ErrorKind::config, "training.lr and training.lr_schedule: both set lr; give one of them");
  }
  if (*c.training.grad_clip_by != GradClipBy::global_norm && !c.training.grad_clip.value()) {
    fail(ErrorKind::config, "training.grad_clip_by = {} without training.grad_clip: give both",
         name_of(c.training.grad_clip_by.value()));
  }
  if (c.training.model.use_lstm && !learns_from_sequences()) {
    fail(
        ErrorKind::config,
        "training.model.use_lstm = true: {} learns from single steps; PPO has models that remember",
        algorithm());
  }
  if (*c.callbacks.callbacks) find_callbacks(**c.callbacks.callbacks);
  check_custom_model(c.training.model);
  check_evaluation(c.evaluation);
  check_deterministic(c);
  check_belonging(c.training.optimizer);
  check_belonging(c.exploration.exploration_config,
                  fresh()->common().exploration.exploration_config);
  check_own();
  if (purpose == Purpose::evaluation) return;  // which runs episodes and learns nothing
  check_fragments(c.rollouts);
  check_batches();
}

ConfigValue AlgorithmConfig::to_value(Shown shown) const {
  ConfigValue out = ConfigValue::empty_map();
  for (const ConstSection& section : sections()) {
    merge_into(out, section.schema->write(section.object, shown));
  }
  return out;
}

std::string AlgorithmConfig::to_yaml(Shown shown) const {
  return knurl::to_yaml(to_value(shown));
}

ConfigValue parse_options(std::string_view yaml) {
  return parse_yaml(yaml, "config");
}

std::string pretty_print(const AlgorithmConfig& config) {
  std::string out = fmt::format("{} config\n", config.algorithm());
  std::string group;
  for (const ConstSection& section : config.sections()) {
    if (section.group != group) out += fmt::format("{}:\n", group = section.group);
    for (const Field& field : section.schema->fields()) {
      const void* member = field.in(section.object);
      ConfigValue one = ConfigValue::empty_map();
      one[field.name] = field.type->write(member, Shown::all);
      const std::string value = knurl::to_yaml(one);
      std::size_t line = 0;
      while (line < value.size()) {
        const std::size_t end = value.find('\n', line);
        const bool mark = line == 0 && field.type->given(member);
        out += fmt::format("  {}{}\n", value.substr(line, end - line), mark ? "  # given" : "");
        line = end + 1;
      }
    }
  }
  return out;
}

}  // namespace knurl
