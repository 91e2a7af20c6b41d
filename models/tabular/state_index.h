#pragma once

#include <cstdint>
#include <vector>

#include "knurl/core/spaces/layout.h"

namespace knurl {

/// Numbers the observations of a finite space from 0: leaves in order, the last one counting
/// fastest. Throws Error(config) naming the space where it is not made of whole numbers or has more
/// than ten million values.
class StateIndex {
 public:
  explicit StateIndex(const SpaceLayout& space);

  [[nodiscard]] std::int64_t size() const { return size_; }
  [[nodiscard]] std::int64_t of(const ConstRow& observation) const;

 private:
  struct Digit {
    std::size_t leaf = 0;
    std::int64_t element = 0;
    std::int64_t start = 0;
    std::int64_t n = 1;
  };

  std::vector<Digit> digits_;
  std::int64_t size_ = 1;
};

}  // namespace knurl
