#pragma once

#include <algorithm>
#include <concepts>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <typeindex>
#include <utility>
#include <vector>

#include "knurl/core/config/fields.h"
#include "knurl/envs/env.h"
#include "knurl/envs/wrappers/wrapper_list.h"

namespace knurl {

/// An env as config files know it.
struct EnvEntry {
  std::string name = {};                               ///< "CartPole-v1"
  std::string sentence = {};                           ///< what it is about
  const Schema* options = nullptr;                     ///< what env_config may hold; null: nothing
  std::shared_ptr<const void> defaults = nullptr;      ///< of those options
  std::optional<std::type_index> type = std::nullopt;  ///< the class, where there is one
  std::function<std::unique_ptr<Env>(const ConfigValue& config)> make = {};
  std::vector<std::string> aliases = {};                ///< other names that files may give
  std::optional<int> max_episode_steps = std::nullopt;  ///< in place of the env's own limit

  /// `other` is its name or an alias.
  [[nodiscard]] bool goes_by(std::string_view other) const {
    return name == other || std::ranges::count(aliases, other) > 0;
  }
};

/// What every env takes in its env_config beside its own options.
struct CommonEnvOptions {
  std::optional<int> max_episode_steps;
  std::vector<WrapperChoice> wrappers;
  static void fields(auto& self, auto&& field) {
    field("max_episode_steps", self.max_episode_steps,
          "steps after which an episode is truncated; null: the env's own", at_least(1));
    field("wrappers", self.wrappers,
          "what is put around the env, innermost first; `knurl list wrappers` shows them");
  }
};

namespace detail {

/// Reads an env's own options. The common ones, which make_env takes out before, are named with
/// them where a key is unknown.
inline void read_env_options(const ConfigValue& config, std::vector<Section> own) {
  CommonEnvOptions common;
  own.push_back({.schema = &schema_of<CommonEnvOptions>(), .object = &common});
  read_sections(config, own, "env_config");
}

}  // namespace detail

/// The entry of a class with a Config: makes E(config), where `defaults` hold what env_config does
/// not give.
template <std::derived_from<Env> E>
EnvEntry env_entry(std::string name, std::string sentence, typename E::Config defaults) {
  using Config = typename E::Config;
  EnvEntry entry{.name = std::move(name), .sentence = std::move(sentence), .type = typeid(E)};
  entry.options = &schema_of<Config>();
  entry.defaults = std::make_shared<Config>(defaults);
  entry.make = [defaults = std::move(defaults)](const ConfigValue& config) -> std::unique_ptr<Env> {
    Config options = defaults;
    detail::read_env_options(config, {{.schema = &schema_of<Config>(), .object = &options}});
    return std::make_unique<E>(std::move(options));
  };
  return entry;
}

/// The entry of a class: makes E(E::Config) where it has a Config with fields, E() otherwise.
template <std::derived_from<Env> E>
EnvEntry env_entry(std::string name, std::string sentence) {
  if constexpr (requires { typename E::Config; }) {
    return env_entry<E>(std::move(name), std::move(sentence), typename E::Config{});
  } else {
    EnvEntry entry{.name = std::move(name), .sentence = std::move(sentence), .type = typeid(E)};
    entry.make = [](const ConfigValue& config) -> std::unique_ptr<Env> {
      detail::read_env_options(config, {});
      return std::make_unique<E>();
    };
    return entry;
  }
}

/// Makes an env known under a name and its aliases, for config files and the command line. Throws
/// Error(env) where one of them is taken. Safe from any thread.
void register_env(EnvEntry entry);
template <std::derived_from<Env> E>
void register_env(std::string name, std::string sentence) {
  register_env(env_entry<E>(std::move(name), std::move(sentence)));
}

/// Makes an env known unless it is known under this name already. Throws Error(env) where the name
/// is another env's. Safe from any thread.
void register_env_once(EnvEntry entry);
template <std::derived_from<Env> E>
void register_env_once(const std::string& name) {
  register_env_once(env_entry<E>(name, "an environment of this program"));
}

/// All known envs in alphabetical order, each once.
std::vector<EnvEntry> registered_envs();

/// "; did you mean CartPole-v1?": the known envs nearest to a misspelt name, aliases only where no
/// name is near; where there is none, `otherwise`.
std::string did_you_mean_env(std::string_view name, const std::string& otherwise = "");

/// The env of this name or alias. Throws Error(config), naming the nearest known envs, where there
/// is none.
EnvEntry find_env(std::string_view name);

/// An env ready to use, its time limit and wrappers included. `config` is its env_config; every env
/// also takes CommonEnvOptions there, and `config`, a map below which RLlib's files give the
/// options of an env class. Throws Error(config) for options that it does not know, and Error(env)
/// naming the env where its constructor throws.
std::unique_ptr<Env> make_env(std::string_view name,
                              const ConfigValue& config = ConfigValue::empty_map());

/// The wrappers that the env_config of an env asks for. Throws Error(config) as make_env does.
std::vector<WrapperChoice> wrappers_of(std::string_view name, const ConfigValue& config);

}  // namespace knurl
