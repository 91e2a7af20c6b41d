#include "knurl/algorithms/registry.h"

#include <algorithm>
#include <mutex>

#include <fmt/ranges.h>

#include "knurl/algorithms/dqn/dqn_config.h"
#include "knurl/algorithms/ppo/ppo_config.h"
#include "knurl/algorithms/q_learning/q_learning_config.h"
#include "knurl/core/base/error.h"
#include "knurl/core/base/text.h"

namespace knurl {
namespace {

struct Registry {
  std::mutex mutex;
  std::vector<AlgorithmEntry> entries;
};

/// RLlib's algorithms that knurl does not have yet.
constexpr const char* kLaterAlgorithms[] = {
    "A2C",         "A3C",   "AlphaZero", "APEX", "ApexDQN",        "APPO",   "ARS",
    "BanditLinTS", "BC",    "CQL",       "CRR",  "DDPG",           "DDPPO",  "DT",
    "DreamerV3",   "ES",    "IMPALA",    "IQL",  "LeelaChessZero", "MADDPG", "MAML",
    "MARWIL",      "MBMPO", "PG",        "QMIX", "R2D2",           "SAC",    "SlateQ",
    "TD3"};

/// "Q-Learning", "q_learning" and "QLearning" are one name.
std::string key_of(std::string_view name) {
  std::string out = folded(name);
  std::erase(out, '_');
  return out;
}

template <class Config>
AlgorithmEntry entry_of(std::string sentence) {
  return {.name = std::string(Config().algorithm()),
          .sentence = std::move(sentence),
          .make_config = [] { return std::make_unique<Config>(); }};
}

Registry& registry() {
  static Registry instance;
  static std::once_flag filled;
  std::call_once(filled, [] {
    instance.entries.push_back(
        entry_of<DQNConfig>("deep Q-learning (Mnih et al. 2015), with all of Rainbow's parts"));
    instance.entries.push_back(
        entry_of<PPOConfig>("proximal policy optimization (Schulman et al. 2017)"));
    instance.entries.push_back(
        entry_of<QLearningConfig>("tabular Q-learning (Watkins and Dayan 1992)"));
    instance.entries.push_back(
        {.name = "SimpleQ",
         .sentence = "deep Q-learning without double Q, dueling and priorities",
         .make_config = [] { return std::make_unique<DQNConfig>(DQNConfig::Preset::simple_q); }});
  });
  return instance;
}

}  // namespace

void register_algorithm(AlgorithmEntry entry) {
  Registry& all = registry();
  const std::lock_guard lock(all.mutex);
  for (const AlgorithmEntry& known : all.entries) {
    if (key_of(known.name) == key_of(entry.name)) {
      fail(ErrorKind::config, "the algorithm name {} is taken", entry.name);
    }
  }
  all.entries.push_back(std::move(entry));
  std::ranges::sort(all.entries, {}, &AlgorithmEntry::name);
}

std::vector<AlgorithmEntry> registered_algorithms() {
  Registry& all = registry();
  const std::lock_guard lock(all.mutex);
  return all.entries;
}

std::unique_ptr<AlgorithmConfig> make_config(std::string_view algorithm) {
  std::vector<std::string> names;
  for (const AlgorithmEntry& entry : registered_algorithms()) {
    if (key_of(entry.name) == key_of(algorithm)) return entry.make_config();
    names.push_back(entry.name);
  }
  const bool later = std::ranges::any_of(
      kLaterAlgorithms, [&](const char* name) { return key_of(name) == key_of(algorithm); });
  const std::string all = fmt::format("; there are {}", fmt::join(names, ", "));
  if (later) fail(ErrorKind::config, "algorithm {}: not available yet{}", algorithm, all);
  fail(ErrorKind::config, "algorithm {}: unknown{}", algorithm,
       did_you_mean(algorithm, names, all));
}

}  // namespace knurl
