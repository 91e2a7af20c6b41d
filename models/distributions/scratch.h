#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace knurl {

/// Memory for numbers that live no longer than a call: taken one after the other, given back all at
/// once. Grows to what was needed at most, and then nothing more is allocated. Not thread-safe.
class Scratch {
 public:
  /// Gives all back.
  void clear() {
    if (blocks_.size() > 1) {  // one that holds all of them, next time
      std::size_t n = 0;
      for (const auto& block : blocks_) n += block.size();
      blocks_.assign(1, std::vector<float>(n));
    }
    used_ = 0;
  }
  /// n numbers, of any value.
  float* take(std::size_t n) {
    if (blocks_.empty() || blocks_.back().size() - used_ < n) {
      blocks_.emplace_back(n);
      used_ = 0;
    }
    float* out = blocks_.back().data() + used_;
    used_ += n;
    return out;
  }

 private:
  std::vector<std::vector<float>> blocks_;
  std::size_t used_ = 0;  ///< of the last block
};

}  // namespace knurl
