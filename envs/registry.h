#pragma once

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

/// The entry of a class: makes E(E::Config) where it has a Config with fields, E() otherwise.
template <std::derived_from<Env> E>
EnvEntry env_entry(std::string name, std::string sentence) {
  EnvEntry entry{.name = std::move(name), .sentence = std::move(sentence), .type = typeid(E)};
  if constexpr (requires { typename E::Config; }) {
    entry.options = &schema_of<typename E::Config>();
    entry.defaults = std::make_shared<typename E::Config>();
    entry.make = [](const ConfigValue& config) -> std::unique_ptr<Env> {
      typename E::Config options;
      detail::read_env_options(config,
                               {{.schema = &schema_of<typename E::Config>(), .object = &options}});
      return std::make_unique<E>(std::move(options));
    };
  } else {
    entry.make = [](const ConfigValue& config) -> std::unique_ptr<Env> {
      detail::read_env_options(config, {});
      return std::make_unique<E>();
    };
  }
  return entry;
}

/// Makes an env known under a name, for config files and the command line. Throws Error(env) where
/// the name is taken. Safe from any thread.
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

/// All known envs in alphabetical order.
std::vector<EnvEntry> registered_envs();

/// Throws Error(config), naming the nearest known envs, where the name is unknown.
EnvEntry find_env(std::string_view name);

/// An env ready to use, its time limit and wrappers included. `config` is its env_config; every env
/// also takes CommonEnvOptions there. Throws Error(config) for options that it does not know, and
/// Error(env) naming the env where its constructor throws.
std::unique_ptr<Env> make_env(std::string_view name,
                              const ConfigValue& config = ConfigValue::empty_map());

}  // namespace knurl
