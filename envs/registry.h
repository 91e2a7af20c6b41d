#pragma once

#include <concepts>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "knurl/core/config/fields.h"
#include "knurl/envs/env.h"

namespace knurl {

/// An env as config files know it.
struct EnvEntry {
  std::string name = {};            ///< "CartPole-v1"
  std::string sentence = {};        ///< what it is about
  const Schema* options = nullptr;  ///< what env_config may hold; null: nothing
  std::function<std::unique_ptr<Env>(const ConfigValue& config)> make = {};
};

/// The entry of a class: makes E(E::Config) where it has a Config with fields, E() otherwise.
template <std::derived_from<Env> E>
EnvEntry env_entry(std::string name, std::string sentence) {
  EnvEntry entry{.name = std::move(name), .sentence = std::move(sentence)};
  if constexpr (requires { typename E::Config; }) {
    entry.options = &schema_of<typename E::Config>();
    entry.make = [](const ConfigValue& config) -> std::unique_ptr<Env> {
      typename E::Config options;
      read_fields(config, schema_of<typename E::Config>(), &options, "env_config");
      return std::make_unique<E>(std::move(options));
    };
  } else {
    entry.make = [](const ConfigValue& config) -> std::unique_ptr<Env> {
      read_sections(config, {}, "env_config");
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

/// All known envs in alphabetical order.
std::vector<EnvEntry> registered_envs();

/// Throws Error(config), naming the nearest known envs, where the name is unknown.
EnvEntry find_env(std::string_view name);

/// An env ready to use, its time limit included. `config` is its env_config; every env also takes
/// max_episode_steps there. Throws Error(config) for options that it does not know, and Error(env)
/// naming the env where its constructor throws.
std::unique_ptr<Env> make_env(std::string_view name,
                              const ConfigValue& config = ConfigValue::empty_map());

}  // namespace knurl
