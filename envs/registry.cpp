#include "knurl/envs/registry.h"

#include <map>
#include <mutex>
#include <set>

#include "knurl/envs/builtin/cartpole.h"
#include "knurl/envs/builtin/maze.h"
#include "knurl/envs/builtin/pendulum.h"
#include "knurl/envs/detail/make_unnamed.h"
#include "knurl/envs/wrappers/time_limit.h"

namespace knurl {
namespace {

struct Registry {
  std::mutex mutex;
  std::map<std::string, EnvEntry, std::less<>> entries;
};

void add(Registry& registry, EnvEntry entry) {
  const std::lock_guard lock(registry.mutex);
  const std::string name = entry.name;
  if (name.empty()) fail(ErrorKind::env, "an env needs a name");
  if (!registry.entries.emplace(name, std::move(entry)).second) {
    fail(ErrorKind::env, "the env name {} is taken", name);
  }
}

Registry& registry() {
  static Registry instance;
  static std::once_flag filled;
  std::call_once(filled, [] {
    const auto builtin = [](EnvEntry entry) { add(instance, std::move(entry)); };
    builtin(env_entry<CartPole>("CartPole-v1", "balance a pole on a cart (Barto et al. 1983)"));
    builtin(env_entry<Maze>("Maze-v0", "find the goal of a grid of cells"));
    builtin(env_entry<Pendulum>("Pendulum-v1", "swing a pendulum up and hold it"));
  });
  return instance;
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
  add(registry(), std::move(entry));
}

void register_env_once(EnvEntry entry) {
  Registry& all = registry();
  const std::lock_guard lock(all.mutex);
  const std::string name = entry.name;
  const std::optional<std::type_index> type = entry.type;
  const auto [known, added] = all.entries.emplace(name, std::move(entry));
  if (!added && known->second.type != type) {
    fail(ErrorKind::env, "the env name {} is another env's", name);
  }
}

std::vector<EnvEntry> registered_envs() {
  Registry& all = registry();
  const std::lock_guard lock(all.mutex);
  std::vector<EnvEntry> out;
  for (const auto& [name, entry] : all.entries) out.push_back(entry);
  return out;
}

EnvEntry find_env(std::string_view name) {
  Registry& all = registry();
  const std::lock_guard lock(all.mutex);
  if (const auto found = all.entries.find(name); found != all.entries.end()) return found->second;
  std::vector<std::string> names;
  for (const auto& [known, entry] : all.entries) names.push_back(known);
  fail(ErrorKind::config, "env {}: unknown{}", name,
       did_you_mean(name, names, "; `knurl list envs` shows what there is"));
}

void check_spec(const EnvSpec& spec) {
  if (spec.max_episode_steps && *spec.max_episode_steps < 1) {
    fail(ErrorKind::env, "max_episode_steps = {}: must be at least 1", *spec.max_episode_steps);
  }
  std::set<std::string> seen;
  for (const std::string& name : spec.info) {
    if (name.empty()) fail(ErrorKind::env, "an info number has no name");
    if (!seen.insert(name).second) fail(ErrorKind::env, "two info numbers are called {}", name);
  }
}

std::unique_ptr<Env> detail::make_unnamed(std::string_view name, const ConfigValue& config) {
  const EnvEntry entry = find_env(name);
  ConfigValue own = config;
  const CommonEnvOptions common = take_common(entry, own);
  std::unique_ptr<Env> env = entry.make(own);
  if (!env) fail(ErrorKind::env, "its registered maker gave no env");
  check_spec(env->spec());
  if (const auto limit = limit_of(common, env->spec())) {
    env = std::make_unique<TimeLimit>(std::move(env), *limit);
  }
  return wrap(std::move(env), common.wrappers);
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
