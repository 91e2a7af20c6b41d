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
  options,       ///< unknown options are refused, and the nearest known one is named
  construction,  ///< envs can be made, more than one at a time
  spec,          ///< spec() is the same whenever it is asked, and of whichever env
  exceptions,    ///< nothing throws between a reset and an ending
  memory,        ///< a call writes the whole observation, all info numbers, and nothing beside them
  observation,   ///< lies in spec().observation and is finite
  reward,        ///< is finite
  info,          ///< is finite
  repeatable,    ///< an episode follows from its Rng and its actions alone
  seeds,         ///< an env that draws random numbers shows it
  saving,        ///< load brings back what save kept; save changes nothing
  rendering,     ///< render() throws nothing and changes nothing
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

/// Tries an env's promises on envs that `factory` makes, by random actions: the first violation of
/// each rule, in order of the rules. Throws nothing that an env throws.
std::vector<Violation> check_env(const EnvFactory& factory, const EnvCheckOptions& options = {});

/// The same for a registered env and its env_config, whose options are tried too. Throws
/// Error(config) where there is no such env.
std::vector<Violation> check_env(std::string_view name,
                                 const ConfigValue& config = ConfigValue::empty_map(),
                                 const EnvCheckOptions& options = {});

}  // namespace knurl
