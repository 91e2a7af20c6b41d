#include "knurl/models/action_mask.h"

#include <algorithm>
#include <numeric>

#include "knurl/core/base/error.h"
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
  const std::vector<Leaf>& leaves = observations.leaves();
  const auto found = std::ranges::find(leaves, key, &Leaf::path);
  if (found == leaves.end()) return;
  const std::int64_t size = std::accumulate(choices.begin(), choices.end(), std::int64_t{0});
  if (found->space.as<Discrete>() || found->space.as<MultiDiscrete>() || found->size() != size) {
    fail(ErrorKind::config,
         "observation space {}: its {} is to have {} numbers, one for each action of {}; "
         "environment.action_mask_key says what is a mask",
         observations.space().text(), key, size, actions.space().text());
  }
  if (leaves.size() == 1) {
    fail(ErrorKind::config, "observation space {}: there is nothing beside {} to see",
         observations.space().text(), key);
  }
  leaf_ = static_cast<std::size_t>(found - leaves.begin());
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

void mask_alike(std::span<const float> acted, std::span<float> logits) {
  for (std::size_t i = 0; i < logits.size(); ++i) {
    if (acted[i] == kMaskedLogit) logits[i] = kMaskedLogit;
  }
}

}  // namespace knurl
