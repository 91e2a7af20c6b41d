#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "knurl/algorithms/callbacks.h"
#include "knurl/algorithms/option_places.h"
#include "knurl/algorithms/options.h"
#include "knurl/core/config/problems.h"
#include "knurl/core/config/schema.h"
#include "knurl/core/metrics/result.h"
#include "knurl/envs/registry.h"
#include "knurl/envs/wrappers/run_wrappers.h"
#include "knurl/models/action_mask.h"
#include "knurl/models/policy.h"

namespace knurl {

class Algorithm;

/// The options that all algorithms share, by group.
struct CommonOptions {
  EnvironmentOptions environment = {};
  RolloutOptions rollouts = {};
  TrainingOptions training = {};
  ExplorationOptions exploration = {};
  EvaluationOptions evaluation = {};
  ResourceOptions resources = {};
  ReportingOptions reporting = {};
  CallbackOptions callbacks = {};
  DebuggingOptions debugging = {};
};

/// A config of some algorithm, as files and the command line use it. ConfigBuilder is what C++ code
/// sees. Values remember whether they were given; setting one never touches another.
class AlgorithmConfig {
 public:
  virtual ~AlgorithmConfig() = default;

  /// "PPO"
  [[nodiscard]] virtual std::string_view algorithm() const = 0;
  /// A copy that may be changed.
  [[nodiscard]] virtual std::unique_ptr<AlgorithmConfig> clone() const = 0;
  /// A config of the same algorithm with nothing but defaults.
  [[nodiscard]] virtual std::unique_ptr<AlgorithmConfig> fresh() const = 0;
  /// The policy for an env with these spaces.
  [[nodiscard]] virtual std::unique_ptr<Policy> make_policy(const EnvSpec& env, Acting acting,
                                                            const WorkerPlace& place) const = 0;
  /// What the learner reports below info/learner/default_policy/learner_stats/; aliases are the
  /// names that RLlib's newer API has for it.
  [[nodiscard]] virtual std::vector<MetricInfo> learner_metrics() const = 0;
  /// Makes the algorithm and freezes this config. Throws Error(config) where options contradict
  /// each other or are out of range.
  std::unique_ptr<Algorithm> build();

  [[nodiscard]] const CommonOptions& common() const { return common_; }
  /// Nets begin with a filter of their observations.
  [[nodiscard]] bool filters_observations() const {
    return *common_.rollouts.observation_filter == FilterType::mean_std;
  }
  /// What such a filter adds to standard deviations.
  [[nodiscard]] double filter_epsilon() const {
    return run_wrappers().observations.value_or(NormalizeObservation()).epsilon;
  }
  /// What env_config.wrappers ask of the run.
  [[nodiscard]] RunWrappers run_wrappers() const;
  /// Iterations from one evaluation to the next; nothing where none is wanted.
  [[nodiscard]] std::optional<int> evaluation_interval() const;
  /// The config that evaluation runs by: this one with evaluation_config laid over it.
  [[nodiscard]] std::unique_ptr<AlgorithmConfig> for_evaluation() const;
  /// Greedy unless evaluation_config has explore: true.
  [[nodiscard]] Acting evaluation_acting() const;

  /// Sets options from a map as a file's `config` holds them. RLlib's options that mean nothing
  /// here are taken out and noted; those that knurl does not have yet are refused by name.
  void update(const ConfigValue& map, const std::string& path);
  /// The same, adding what is wrong to `problems`.
  void update(const ConfigValue& map, const std::string& path, Problems& problems);
  /// What update() accepted without effect: one line for each.
  [[nodiscard]] const std::vector<std::string>& notes() const { return notes_; }

  /// A config without open ends: "auto" is worked out, a missing seed drawn. Checks all that can be
  /// checked without making an env.
  [[nodiscard]] std::unique_ptr<AlgorithmConfig> resolved() const;

  /// The options as a flat map / YAML; update() reads them back.
  [[nodiscard]] ConfigValue to_value(Shown shown = Shown::all) const;
  [[nodiscard]] std::string to_yaml(Shown shown = Shown::all) const;

  /// Sets every option as `all` says, and takes as given only what `given` names: a saved config.
  /// What was worked out from other options is open again.
  void restore(const ConfigValue& all, const ConfigValue& given);

  /// All options by group: schemas, and this object's structs.
  [[nodiscard]] std::vector<Section> sections();
  [[nodiscard]] std::vector<ConstSection> sections() const;
  /// Common options that mean nothing to this algorithm: giving one another value is an error.
  [[nodiscard]] virtual std::vector<std::string> unused_options() const { return {}; }
  /// Own options that make the policy what it is (policy_options.h), by name.
  [[nodiscard]] virtual std::vector<std::string> own_policy_options() const { return {}; }
  /// Throws Error(config) where an option that is not at its default means nothing in this env.
  void check_env(const EnvSpec& env) const;
  /// Where an option, "training.lr", was given; none where that is not known.
  [[nodiscard]] Place place_of(std::string_view option) const { return places_.first_in(option); }
  /// What says which actions are allowed in this env, where the algorithm heeds it. Throws
  /// Error(config) where it is no mask for these actions.
  [[nodiscard]] virtual ActionMask action_mask(const SpaceLayout& /*observations*/,
                                               const SpaceLayout& /*actions*/) const {
    return {};
  }
  /// The algorithm learns from sequences, so that its policy may remember (model.use_lstm).
  [[nodiscard]] virtual bool learns_from_sequences() const { return false; }

 protected:
  AlgorithmConfig() = default;
  AlgorithmConfig(const AlgorithmConfig& other)
      : common_(other.common_),
        notes_(other.notes_),
        places_(other.places_) {}  // a copy of a frozen one is not frozen
  AlgorithmConfig& operator=(const AlgorithmConfig&) = delete;

  /// The options of this algorithm alone; they belong to the group "training".
  virtual Section own_section() = 0;
  /// What rollout_fragment_length "auto" is for so many envs: as many as make a training batch.
  [[nodiscard]] virtual int auto_fragment_length(int num_envs) const;
  /// Works out what is open in this algorithm's own options.
  virtual void resolve_own() {}
  /// Throws Error(config) for contradictions; names both options.
  virtual void check_own() const {}
  /// The same for what only training has: fragments and batches.
  virtual void check_batches() const {}
  virtual std::unique_ptr<Algorithm> make_algorithm(
      std::unique_ptr<const AlgorithmConfig> resolved) const = 0;

  /// Throws Error(config) after build().
  void refuse_if_frozen() const;
  CommonOptions& change() {
    refuse_if_frozen();
    return common_;
  }

 private:
  /// Makes itself what resolved() gives; errors say their place, and evaluation_config where this
  /// is evaluation's.
  void resolve(Purpose purpose);
  void close_open_ends();
  void check(Purpose purpose) const;
  void take_over_wrappers();
  [[nodiscard]] std::unique_ptr<AlgorithmConfig> for_evaluation(const std::string& path,
                                                                Problems& problems) const;

  CommonOptions common_;
  std::vector<std::string> notes_;
  OptionPlaces places_;
  bool frozen_ = false;
};

/// The builder of one algorithm's config; options in the order in which their struct has them:
///   PPOConfig().environment("CartPole-v1").rollouts({.num_rollout_workers = 2})
///       .training({.lr = 3e-4}, {.clip_param = 0.2}).build()
/// Each call merges what it gives. Own is the struct of the algorithm's own options.
template <class Derived, class Own>
class ConfigBuilder : public AlgorithmConfig {
 public:
  Derived& environment(std::string name, EnvironmentOptions more = {}) {
    more.env = std::move(name);
    return merge(change().environment, more);
  }
  /// An env of the program's own, made known under this name. Throws Error(env) where the name is
  /// another env's.
  template <std::derived_from<Env> E>
  Derived& environment(const std::string& name, EnvironmentOptions more = {}) {
    register_env_once<E>(name);
    return environment(name, std::move(more));
  }
  /// The same with the env's own config: environment<Corridor>("Corridor-v0", {.length = 7}).
  template <std::derived_from<Env> E>
  requires HasFields<typename E::Config> Derived& environment(const std::string& name,
                                                              const typename E::Config& config,
                                                              EnvironmentOptions more = {}) {
    more.env_config = schema_of<typename E::Config>().write(&config);
    return environment<E>(name, std::move(more));
  }
  Derived& rollouts(const RolloutOptions& options) { return merge(change().rollouts, options); }
  Derived& env_runners(const RolloutOptions& options) { return rollouts(options); }
  Derived& training(const TrainingOptions& options, const Own& own = {}) {
    merge(own_, own);
    return merge(change().training, options);
  }
  Derived& exploration(const ExplorationOptions& options) {
    return merge(change().exploration, options);
  }
  Derived& evaluation(const EvaluationOptions& options) {
    return merge(change().evaluation, options);
  }
  Derived& resources(const ResourceOptions& options) { return merge(change().resources, options); }
  Derived& reporting(const ReportingOptions& options) { return merge(change().reporting, options); }
  /// Names registered callbacks.
  Derived& callbacks(const CallbackOptions& options) { return merge(change().callbacks, options); }
  /// Callbacks of the program's own, made known under the name. Throws Error(config) where the name
  /// is another class's.
  template <std::derived_from<Callbacks> T>
  Derived& callbacks(const std::string& name = demangle(typeid(T).name())) {
    register_callbacks<T>(name);
    return callbacks({.callbacks = name});
  }
  Derived& debugging(const DebuggingOptions& options) { return merge(change().debugging, options); }

  [[nodiscard]] const Own& own() const { return own_; }
  [[nodiscard]] Derived copy() const { return Derived(static_cast<const Derived&>(*this)); }
  [[nodiscard]] std::unique_ptr<AlgorithmConfig> clone() const override {
    return std::make_unique<Derived>(static_cast<const Derived&>(*this));
  }
  [[nodiscard]] std::unique_ptr<AlgorithmConfig> fresh() const override {
    return std::make_unique<Derived>();
  }
  /// The config that a YAML map of options describes.
  static Derived from_yaml(std::string_view yaml);

 protected:
  ConfigBuilder() = default;
  Section own_section() override { return {"training", &schema_of<Own>(), &own_}; }
  Own own_ = {};

 private:
  template <class Options>
  Derived& merge(Options& into, const Options& from) {
    refuse_if_frozen();
    schema_of<Options>().merge(&into, &from);
    return static_cast<Derived&>(*this);
  }
};

/// YAML text of options, for from_yaml.
ConfigValue parse_options(std::string_view yaml);

template <class Derived, class Own>
Derived ConfigBuilder<Derived, Own>::from_yaml(std::string_view yaml) {
  Derived config;
  config.update(parse_options(yaml), "");
  return config;
}

/// A config as YAML for people: every option, those given marked.
std::string pretty_print(const AlgorithmConfig& config);

}  // namespace knurl
