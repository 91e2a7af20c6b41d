#include "knurl/envs/registry.h"

#include <iterator>
#include <map>
#include <mutex>

#include "knurl/envs/builtin/builtin_envs.h"
#include "knurl/envs/detail/make_unnamed.h"
#include "knurl/envs/wrappers/time_limit.h"

namespace knurl {
namespace {

struct Registry {
  std::mutex mutex;
  std::map<std::string, EnvEntry, std::less<>> entries;
  std::map<std::string, std::string, std::less<>> aliases;  ///< to the names that they stand for

  [[nodiscard]] const EnvEntry* find(std::string_view name) const {
    const auto alias = aliases.find(name);
    const auto found = entries.find(alias == aliases.end() ? name : alias->second);
    return found == entries.end() ? nullptr : &found->second;
  }
};

/// Under the registry's lock.
void add(Registry& registry, EnvEntry entry) {
  if (entry.name.empty()) fail(ErrorKind::env, "an env needs a name");
  for (const auto& [other, known] : registry.entries) {
    if (entry.goes_by(other)) fail(ErrorKind::env, "the env name {} is taken", other);
  }
  for (const auto& [other, name] : registry.aliases) {
    if (!entry.goes_by(other)) continue;
    fail(ErrorKind::env, "the env name {} is taken: it stands for {}", other, name);
  }
  for (const std::string& alias : entry.aliases) registry.aliases.emplace(alias, entry.name);
  std::string name = entry.name;
  registry.entries.emplace(std::move(name), std::move(entry));
}

Registry& registry() {
  static Registry instance;
  static std::once_flag filled;
  std::call_once(filled, [] {
    for (EnvEntry& entry : builtin_envs()) add(instance, std::move(entry));
  });
  return instance;
}

/// RLlib's files give the options of an env class below one key, `config`: they become options like
/// the others.
void lift_nested(const EnvEntry& entry, ConfigValue& config) {
  if (entry.options && entry.options->find("config")) return;
  std::optional<ConfigValue> nested = config.take("config");
  if (!nested || nested->is_null()) return;
  if (!nested->map()) detail::refuse(*nested, "env_config.config", "a map of options");
  for (ConfigValue::Entry& option : *nested->map()) {
    if (config.find(option.key)) {
      fail(ErrorKind::config, "{}env_config.config.{}: stands in env_config, too; give it once",
           option.place.prefix(), option.key);
    }
    config.map()->push_back(std::move(option));
  }
}

/// Takes the options that every env has out of an env_config, but for those of an env's own that
/// have the same name.
CommonEnvOptions take_common(const EnvEntry& entry, ConfigValue& config) {
  ConfigValue given = ConfigValue::empty_map();
  for (const Field& field : schema_of<CommonEnvOptions>().fields()) {
    if (entry.options && entry.options->find(field.name)) continue;
    if (auto value = config.take(field.name)) given[field.name] = std::move(*value);
  }
  CommonEnvOptions common;
  read_fields(given, schema_of<CommonEnvOptions>(), &common, "env_config");
  return common;
}

/// The limit right around an env: nothing where a wrapper has it.
std::optional<int> limit_of(const CommonEnvOptions& common, const EnvSpec& spec) {
  const WrapperChoice* limit = nullptr;
  for (const WrapperChoice& wrapper : common.wrappers) {
    if (wrapper.name != "TimeLimit") continue;
    if (limit || common.max_episode_steps) {
      fail(ErrorKind::config, "{}env_config: episodes are limited twice: give one of {}",
           wrapper.place.prefix(),
           limit ? "the wrappers TimeLimit" : "max_episode_steps and the wrapper TimeLimit");
    }
    limit = &wrapper;
  }
  if (limit) return std::nullopt;
  return common.max_episode_steps ? common.max_episode_steps : spec.max_episode_steps;
}

}  // namespace

void register_env(EnvEntry entry) {
  Registry& all = registry();
  const std::lock_guard lock(all.mutex);
  add(all, std::move(entry));
}

void register_env_once(EnvEntry entry) {
  Registry& all = registry();
  const std::lock_guard lock(all.mutex);
  const EnvEntry* known = all.find(entry.name);
  if (!known) return add(all, std::move(entry));
  if (known->name != entry.name || known->type != entry.type) {
    fail(ErrorKind::env, "the env name {} is another env's", entry.name);
  }
}

std::vector<EnvEntry> registered_envs() {
  Registry& all = registry();
  const std::lock_guard lock(all.mutex);
  std::vector<EnvEntry> out;
  for (const auto& [name, entry] : all.entries) out.push_back(entry);
  return out;
}

std::string did_you_mean_env(std::string_view name, const std::string& otherwise) {
  std::vector<std::string> names;
  std::vector<std::string> aliases;
  for (EnvEntry& entry : registered_envs()) {
    names.push_back(entry.name);
    std::ranges::move(entry.aliases, std::back_inserter(aliases));
  }
  const std::string near = did_you_mean(name, names);
  return near.empty() ? did_you_mean(name, aliases, otherwise) : near;
}

EnvEntry find_env(std::string_view name) {
  Registry& all = registry();
  {
    const std::lock_guard lock(all.mutex);
    if (const EnvEntry* found = all.find(name)) return *found;
  }
  fail(ErrorKind::config, "env {}: unknown{}", name,
       did_you_mean_env(name, "; `knurl list envs` shows what there is"));
}

std::unique_ptr<Env> detail::make_unnamed(std::string_view name, const ConfigValue& config) {
  const EnvEntry entry = find_env(name);
  ConfigValue own = config;
  lift_nested(entry, own);
  const CommonEnvOptions common = take_common(entry, own);
  std::unique_ptr<Env> env = entry.make(own);
  if (!env) fail(ErrorKind::env, "its registered maker gave no env");
  check_spec(env->spec());
  EnvSpec spec = env->spec();
  if (entry.max_episode_steps) spec.max_episode_steps = entry.max_episode_steps;
  if (const auto limit = limit_of(common, spec)) {
    env = std::make_unique<TimeLimit>(std::move(env), *limit);
  }
  return wrap(std::move(env), common.wrappers);
}

std::vector<WrapperChoice> wrappers_of(std::string_view name, const ConfigValue& config) {
  const EnvEntry entry = find_env(name);
  ConfigValue own = config;
  lift_nested(entry, own);
  return take_common(entry, own).wrappers;
}

std::unique_ptr<Env> make_env(std::string_view name, const ConfigValue& config) {
  try {
    return detail::make_unnamed(name, config);
  } catch (const Error& error) {
    if (error.kind() == ErrorKind::config) throw;
    fail(ErrorKind::env, "{}: constructor: {}", name, error.what());
  } catch (...) {
    fail(ErrorKind::env, "{}: constructor: {}", name, current_exception_text());
  }
}

}  // namespace knurl
