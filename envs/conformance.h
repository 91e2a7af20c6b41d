#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "knurl/core/config/value.h"
#include "knurl/envs/vector_env.h"

namespace knurl {

/// What an env promises to whoever steps it. env.h has the words; these are what can be tried.
enum class EnvRule {
  options,
  construction,
  spec,
  exceptions,
  memory,
  observation,
  reward,
  info,
  repeatable,
  seeds,
  saving,
  rendering,
};

constexpr auto names(EnvRule) {
  using enum EnvRule;
  return std::to_array<std::pair<EnvRule, std::string_view>>({{options, "options"},
                                                              {construction, "construction"},
                                                              {spec, "spec"},
                                                              {exceptions, "exceptions"},
                                                              {memory, "memory"},
                                                              {observation, "observation"},
                                                              {reward, "reward"},
                                                              {info, "info"},
                                                              {repeatable, "repeatable"},
                                                              {seeds, "seeds"},
                                                              {saving, "saving"},
                                                              {rendering, "rendering"}});
}

/// The rule in words.
constexpr std::string_view promise_of(EnvRule rule) {
  switch (rule) {
    case EnvRule::options:
      return "unknown options are refused, and the nearest known one is named";
    case EnvRule::construction:
      return "envs can be made, more than one at a time";
    case EnvRule::spec:
      return "spec() is the same whenever it is asked, and of whichever env";
    case EnvRule::exceptions:
      return "nothing throws between a reset and an ending";
    case EnvRule::memory:
      return "a call writes the whole observation, all info numbers, and nothing beside them";
    case EnvRule::observation:
      return "observations lie in spec().observation and are finite";
    case EnvRule::reward:
      return "rewards are finite";
    case EnvRule::info:
      return "info numbers are finite";
    case EnvRule::repeatable:
      return "an episode follows from its Rng and its actions alone";
    case EnvRule::seeds:
      return "an env that draws random numbers shows it";
    case EnvRule::saving:
      return "load() brings back what save() kept; save() changes nothing";
    case EnvRule::rendering:
      return "render() and render_rgb() throw nothing and change nothing";
  }
  return "";
}

/// A broken promise.
struct Violation {
  EnvRule rule = EnvRule::construction;
  std::string text = {};  ///< where it was seen, what was seen, and what to do

  bool operator==(const Violation&) const = default;
};

struct EnvCheckOptions {
  int steps = 3'000;       ///< random steps of the longest walk
  std::uint64_t seed = 1;  ///< of episodes and actions
};

/// What came of a check.
struct EnvReport {
  std::vector<Violation> violations = {};  ///< the first of each rule, in order of the rules
  /// What could not be tried, in order of the rules, and why in the violation's text: the env draws
  /// no random numbers, cannot be saved, or something else that is broken came before.
  std::vector<Violation> untried = {};
};

/// Tries an env's promises on envs that `factory` makes, by random actions. Throws nothing that an
/// env throws.
EnvReport report_env(const EnvFactory& factory, const EnvCheckOptions& options = {});

/// The same for a registered env and its env_config, whose options are tried too. Throws
/// Error(config) where there is no such env.
EnvReport report_env(std::string_view name, const ConfigValue& config = ConfigValue::empty_map(),
                     const EnvCheckOptions& options = {});

/// The violations alone.
inline std::vector<Violation> check_env(const EnvFactory& factory,
                                        const EnvCheckOptions& options = {}) {
  return report_env(factory, options).violations;
}
inline std::vector<Violation> check_env(std::string_view name,
                                        const ConfigValue& config = ConfigValue::empty_map(),
                                        const EnvCheckOptions& options = {}) {
  return report_env(name, config, options).violations;
}

}  // namespace knurl
