#include "knurl/algorithms/registry.h"

#include <algorithm>
#include <cctype>
#include <mutex>

#include "knurl/algorithms/ppo/ppo_config.h"
#include "knurl/algorithms/q_learning/q_learning_config.h"
#include "knurl/core/base/error.h"

namespace knurl {
namespace {

struct Registry {
  std::mutex mutex;
  std::vector<AlgorithmEntry> entries;
};

/// "Q-Learning", "q_learning" and "QLearning" are one name.
std::string folded(std::string_view name) {
  std::string out;
  for (const char c : name) {
    if (c != '-' && c != '_') out += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  }
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
        entry_of<PPOConfig>("proximal policy optimization (Schulman et al. 2017)"));
    instance.entries.push_back(
        entry_of<QLearningConfig>("tabular Q-learning (Watkins and Dayan 1992)"));
  });
  return instance;
}

}  // namespace

void register_algorithm(AlgorithmEntry entry) {
  Registry& all = registry();
  const std::lock_guard lock(all.mutex);
  for (const AlgorithmEntry& known : all.entries) {
    if (folded(known.name) == folded(entry.name)) {
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
    if (folded(entry.name) == folded(algorithm)) return entry.make_config();
    names.push_back(entry.name);
  }
  fail(ErrorKind::config, "algorithm {}: unknown{}", algorithm, did_you_mean(algorithm, names));
}

}  // namespace knurl
