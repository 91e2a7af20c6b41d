#include "knurl/algorithms/replay/sum_tree.h"

#include <algorithm>
#include <bit>
#include <limits>

#include "knurl/core/base/check.h"

namespace knurl {
namespace {

constexpr double kEmpty = std::numeric_limits<double>::infinity();

}  // namespace

SumTree::SumTree(std::int64_t slots)
    : leaves_(static_cast<std::int64_t>(std::bit_ceil(static_cast<std::uint64_t>(slots)))),
      sums_(static_cast<std::size_t>(2 * leaves_), 0.0),
      least_(static_cast<std::size_t>(2 * leaves_), kEmpty) {}

void SumTree::refresh(std::size_t node) {
  sums_[node] = sums_[2 * node] + sums_[2 * node + 1];
  least_[node] = std::min(least_[2 * node], least_[2 * node + 1]);
}

void SumTree::set(std::int64_t slot, double weight) {
  check(weight >= 0.0 && weight < kEmpty, "weights are finite and not negative");
  std::size_t node = at(slot);
  sums_[node] = weight;
  least_[node] = weight > 0.0 ? weight : kEmpty;
  for (node /= 2; node >= 1; node /= 2) refresh(node);
}

std::int64_t SumTree::find(double mass) const {
  std::size_t node = 1;
  while (node < static_cast<std::size_t>(leaves_)) {
    const std::size_t left = 2 * node;
    // rounding can leave a mass beyond what is there: the last slot that holds anything takes it
    const bool right = mass >= sums_[left] && sums_[left + 1] > 0.0;
    if (right) mass -= sums_[left];
    node = right ? left + 1 : left;
  }
  return static_cast<std::int64_t>(node) - leaves_;
}

void SumTree::set_all(std::span<const double> weights) {
  check(weights.size() == static_cast<std::size_t>(leaves_), "as many weights as leaves");
  std::ranges::copy(weights, sums_.begin() + leaves_);
  for (std::size_t node = sums_.size(); node-- > static_cast<std::size_t>(leaves_);) {
    least_[node] = sums_[node] > 0.0 ? sums_[node] : kEmpty;
  }
  for (auto node = static_cast<std::size_t>(leaves_); node-- > 1;) refresh(node);
}

}  // namespace knurl
