#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace knurl {

/// Weights of n slots under a binary tree of their sums and least members: a change, a draw by
/// weight and the totals cost O(log n) (Schaul et al. 2016, appendix B.2.1). A slot of weight 0 is
/// empty.
class SumTree {
 public:
  explicit SumTree(std::int64_t slots);

  void set(std::int64_t slot, double weight);
  [[nodiscard]] double operator[](std::int64_t slot) const { return sums_[at(slot)]; }
  [[nodiscard]] double total() const { return sums_[1]; }
  /// The least weight of any slot that is not empty; infinity where all are.
  [[nodiscard]] double least() const { return least_[1]; }
  /// The slot in which `mass` in [0, total()) falls when weights lie one after the other. Never an
  /// empty one.
  [[nodiscard]] std::int64_t find(double mass) const;

  /// All weights, to be kept and set again at once.
  [[nodiscard]] std::span<const double> weights() const {
    return std::span(sums_).subspan(static_cast<std::size_t>(leaves_));
  }
  void set_all(std::span<const double> weights);

 private:
  [[nodiscard]] std::size_t at(std::int64_t slot) const {
    return static_cast<std::size_t>(leaves_ + slot);
  }
  void refresh(std::size_t node);

  std::int64_t leaves_;       ///< a power of two
  std::vector<double> sums_;  ///< node k has children 2k and 2k + 1; leaves from leaves_ on
  std::vector<double> least_;
};

}  // namespace knurl
