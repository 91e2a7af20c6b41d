#include "knurl/envs/registry.h"

#include <map>
#include <mutex>

#include "knurl/envs/builtin/cartpole.h"
#include "knurl/envs/builtin/maze.h"
#include "knurl/envs/builtin/pendulum.h"
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

/// The option that every env takes, and the rest of its env_config.
struct CommonOptions {
  std::optional<int> max_episode_steps;
  ConfigValue rest;
};

CommonOptions split_common(const EnvEntry& entry, const ConfigValue& config) {
  CommonOptions out{.max_episode_steps = std::nullopt, .rest = config};
  if (entry.options && entry.options->find("max_episode_steps")) return out;
  if (const auto steps = out.rest.take("max_episode_steps")) {
    out.max_episode_steps =
        ValueType<std::optional<int>>::read(*steps, "env_config.max_episode_steps", at_least(1));
  }
  return out;
}

}  // namespace

void register_env(EnvEntry entry) {
  add(registry(), std::move(entry));
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
  fail(ErrorKind::config, "env {}: unknown{}", name, did_you_mean(name, names));
}

std::unique_ptr<Env> make_env(std::string_view name, const ConfigValue& config) {
  const EnvEntry entry = find_env(name);
  const CommonOptions options = split_common(entry, config);
  std::unique_ptr<Env> env;
  try {
    env = entry.make(options.rest);
  } catch (const Error& error) {
    if (error.kind() == ErrorKind::config) throw;
    fail(ErrorKind::env, "{}: constructor: {}", name, error.what());
  } catch (...) {
    fail(ErrorKind::env, "{}: constructor: {}", name, current_exception_text());
  }
  const std::optional<int> limit =
      options.max_episode_steps ? options.max_episode_steps : env->spec().max_episode_steps;
  if (limit) env = std::make_unique<TimeLimit>(std::move(env), *limit);
  return env;
}

}  // namespace knurl
