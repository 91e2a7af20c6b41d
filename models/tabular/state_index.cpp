#include "knurl/models/tabular/state_index.h"

#include "knurl/core/base/error.h"

namespace knurl {
namespace {

constexpr std::int64_t kMostStates = 10'000'000;

}  // namespace

StateIndex::StateIndex(const SpaceLayout& space) {
  for (std::size_t leaf = 0; leaf < space.leaves().size(); ++leaf) {
    const Leaf& each = space.leaves()[leaf];
    for (std::int64_t i = 0; i < each.size(); ++i) {
      const auto at = static_cast<std::size_t>(i);
      if (const auto* discrete = each.space.as<Discrete>()) {
        digits_.push_back({leaf, i, discrete->start, discrete->n});
      } else if (const auto* multi = each.space.as<MultiDiscrete>()) {
        digits_.push_back({leaf, i, multi->start[at], multi->nvec[at]});
      } else if (each.space.as<MultiBinary>()) {
        digits_.push_back({leaf, i, 0, 2});
      } else {
        fail(ErrorKind::config,
             "observation space {}: a table needs a finite one, made of Discrete, MultiDiscrete "
             "and MultiBinary",
             space.space().text());
      }
      if (digits_.back().n > kMostStates / size_) {
        fail(ErrorKind::config,
             "observation space {}: more than {} values are too many for a table",
             space.space().text(), kMostStates);
      }
      size_ *= digits_.back().n;
    }
  }
}

std::int64_t StateIndex::of(const ConstRow& observation) const {
  std::int64_t index = 0;
  for (const Digit& digit : digits_) {
    const auto at = static_cast<std::size_t>(digit.element);
    const bool binary = observation.layout().leaves()[digit.leaf].dtype == DType::uint8;
    const std::int64_t value = binary
                                   ? observation.leaf<std::uint8_t>(digit.leaf)[at]
                                   : observation.leaf<std::int64_t>(digit.leaf)[at] - digit.start;
    if (value < 0 || value >= digit.n) {
      fail(ErrorKind::env, "observation outside its space: {}", violation(observation));
    }
    index = index * digit.n + value;
  }
  return index;
}

}  // namespace knurl
