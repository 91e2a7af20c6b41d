#include "knurl/models/action_mask.h"

#include <algorithm>
#include <numeric>

#include <fmt/ranges.h>

#include "knurl/core/base/error.h"
#include "knurl/core/base/log.h"
#include "knurl/core/config/schema.h"
#include "knurl/models/distributions/action_distribution.h"

namespace knurl {
namespace {

/// Actions of each choice; nothing where actions are no choices.
std::vector<int> choices_of(const Space& actions) {
  if (actions.as<Box>() || actions.as<Tuple>() || actions.as<Dict>()) return {};
  const ActionDistribution distribution = distribution_for(actions);
  if (const auto* multi = std::get_if<MultiCategorical>(&distribution)) return multi->sizes;
  return {num_inputs(distribution)};
}

/// An entry of a Dict, and the place of its first leaf among those of the Dict.
struct EntryPlace {
  const Space* space = nullptr;
  std::size_t leaf = 0;
};

/// A Dict's own entry of this name, however leaves further down are called.
std::optional<EntryPlace> entry_of(const Dict& dict, std::string_view key) {
  std::size_t leaf = 0;
  for (const auto& [name, space] : dict.spaces) {
    if (name == key) return EntryPlace{.space = &space, .leaf = leaf};
    leaf += SpaceLayout(space).leaves().size();
  }
  return std::nullopt;
}

/// One number or more that are neither choices nor parts.
bool is_array(const Space& space) {
  return space.as<Box>() || space.as<MultiBinary>();
}

/// A Dict without an entry; of the last one that is left its space.
Space without(const Dict& dict, std::string_view key) {
  Dict out;
  for (const auto& entry : dict.spaces) {
    if (entry.first != key) out.spaces.push_back(entry);
  }
  return out.spaces.size() == 1 ? out.spaces.front().second : Space(out);
}

/// Whether the numbers of a row's mask allow each action.
template <class Visit>
void for_each_action(const ConstRows& observations, std::size_t leaf, std::int64_t row,
                     Visit visit_action) {
  const Leaf& mask = observations.layout().leaves()[leaf];
  visit(mask.dtype, [&]<class T>(T*) {
    const T* numbers = reinterpret_cast<const T*>(observations.leaf_row(leaf, row));
    for (std::int64_t i = 0; i < mask.size(); ++i) {
      visit_action(static_cast<std::size_t>(i), numbers[i] != T{0});
    }
  });
}

}  // namespace

ActionMask::ActionMask(const SpaceLayout& observations, const SpaceLayout& actions,
                       std::string_view key) {
  const Dict* dict = observations.space().as<Dict>();
  std::vector<int> choices = choices_of(actions.space());
  if (!dict || key.empty() || choices.empty()) return;
  const auto found = entry_of(*dict, key);
  if (!found) return;
  const std::vector<Leaf>& leaves = observations.leaves();
  const std::int64_t size = std::accumulate(choices.begin(), choices.end(), std::int64_t{0});
  if (!is_array(*found->space) || leaves[found->leaf].size() != size) {
    fail(ErrorKind::config,
         "observation space {}: its {} is to have {} numbers, one for each action of {}; "
         "environment.action_mask_key says what is a mask",
         observations.space().text(), key, size, actions.space().text());
  }
  if (leaves.size() == 1) {
    fail(ErrorKind::config, "observation space {}: there is nothing beside {} to see",
         observations.space().text(), key);
  }
  leaf_ = found->leaf;
  rest_ = SpaceLayout(without(*dict, key));
  for (std::size_t leaf = 0; leaf < leaves.size(); ++leaf) {
    if (leaf != *leaf_) rest_leaves_.push_back(leaf);
  }
  choices_ = std::move(choices);
}

bool ActionMask::allows_any(const ConstRows& observations, std::int64_t row) const {
  if (!leaf_) return true;
  std::size_t choice = 0;
  int seen = 0;
  bool allowed = false;
  bool all = true;
  for_each_action(observations, *leaf_, row, [&](std::size_t, bool is_allowed) {
    allowed = allowed || is_allowed;
    if (++seen < choices_[choice]) return;
    all = all && allowed;
    allowed = false;
    seen = 0;
    ++choice;
  });
  return all;
}

void ActionMask::apply(const ConstRows& observations, std::int64_t row,
                       std::span<float> logits) const {
  if (!leaf_) return;
  for_each_action(observations, *leaf_, row, [&](std::size_t action, bool is_allowed) {
    if (!is_allowed) logits[action] = kMaskedLogit;
  });
}

void check_mask_key(const SpaceLayout& observations, const SpaceLayout& actions,
                    const Opt<std::string>& key) {
  if (key->empty()) return;
  const Dict* dict = observations.space().as<Dict>();
  const bool found = dict && entry_of(*dict, *key);
  if (found && !choices_of(actions.space()).empty()) return;
  constexpr const char* kNoChoices =
      "the actions {} are no choices, of which some could be forbidden";
  if (key.given() && found) {
    fail(ErrorKind::config, "environment.action_mask_key = {}: {}", *key,
         fmt::format(kNoChoices, actions.space().text()));
  }
  if (key.given()) {
    std::vector<std::string> entries;
    for (const auto& entry : dict ? dict->spaces : Dict{}.spaces) entries.push_back(entry.first);
    const std::string near = did_you_mean(*key, entries);
    fail(ErrorKind::config,
         "environment.action_mask_key = {}: the observation {} has no entry of this name{}{}", *key,
         observations.space().text(),
         dict ? fmt::format("; it has {}", fmt::join(entries, ", ")) : ": it is no Dict", near);
  }
  constexpr const char* kSaySo = "; environment.action_mask_key: \"\" says that it is meant so";
  if (found) {
    return warn_once(fmt::format("{} is read as any other observation: {}{}", *key,
                                 fmt::format(kNoChoices, actions.space().text()), kSaySo));
  }
  for (const Leaf& leaf : observations.leaves()) {
    if (!leaf.path.ends_with("/" + *key)) continue;
    return warn_once(
        fmt::format("{} is read as any other observation: only an entry of the Dict itself says "
                    "which actions are allowed{}",
                    leaf.path, kSaySo));
  }
}

void mask_alike(std::span<const float> acted, std::span<float> logits) {
  for (std::size_t i = 0; i < logits.size(); ++i) {
    if (acted[i] == kMaskedLogit) logits[i] = kMaskedLogit;
  }
}

}  // namespace knurl
