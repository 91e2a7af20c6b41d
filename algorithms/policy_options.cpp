#include "knurl/algorithms/policy_options.h"

#include <algorithm>
#include <array>
#include <string_view>

#include "knurl/core/base/error.h"
#include "knurl/core/config/yaml.h"

namespace knurl {
namespace {

/// Of all algorithms; own_policy_options() has those of each.
constexpr std::array<std::string_view, 3> kOfAll{"action_mask_key", "observation_filter", "model"};
/// Options of the model that say how fresh weights are drawn and how a net learns.
constexpr std::array<std::string_view, 2> kOfLearning{"fcnet_weights_initializer", "max_seq_len"};

std::string text_of(const ConfigValue& value) {
  return value.scalar() ? value.scalar()->text : to_json(value);
}

/// Compares one option, or those within it.
class Comparison {
 public:
  Comparison(const AlgorithmConfig& other, const PolicyOwner& owner)
      : other_(other), owner_(owner) {}

  void compare(const Field& field, const void* was, const void* is, const std::string& path) const {
    const std::string name = path + "." + field.name;
    if (const Schema* nested = field.type->nested()) {
      for (const Field& part : nested->fields()) {
        if (std::ranges::count(kOfLearning, part.name) > 0) continue;
        compare(part, part.in(was), part.in(is), name);
      }
      return;
    }
    const ConfigValue before = field.type->write(was, Shown::all);
    const ConfigValue now = field.type->write(is, Shown::all);
    if (before == now) return;
    fail(ErrorKind::config, "{}{}{} = {}: the policy is that of {}, made with {}",
         other_.place_of(name).prefix(), owner_.part, name, text_of(now), owner_.name,
         text_of(before));
  }

 private:
  const AlgorithmConfig& other_;
  const PolicyOwner& owner_;
};

}  // namespace

void require_same_policy(const AlgorithmConfig& owned, const AlgorithmConfig& other,
                         const PolicyOwner& owner) {
  if (owned.algorithm() != other.algorithm()) return;
  std::vector<std::string> names = owned.own_policy_options();
  names.insert(names.end(), kOfAll.begin(), kOfAll.end());
  const Comparison comparison(other, owner);
  const std::vector<ConstSection> before = owned.sections();
  const std::vector<ConstSection> now = other.sections();
  for (std::size_t i = 0; i < before.size(); ++i) {
    for (const Field& field : before[i].schema->fields()) {
      if (std::ranges::count(names, field.name) == 0) continue;
      comparison.compare(field, field.in(before[i].object), field.in(now[i].object),
                         before[i].group);
    }
  }
}

}  // namespace knurl
