#pragma once

#include <span>

namespace knurl {

/// True where no number is NaN or infinite. One pass without branches: x - x is 0, or NaN.
inline bool all_finite(std::span<const float> numbers) {
  float sum = 0.0F;
  for (const float x : numbers) sum += x - x;
  return sum == 0.0F;
}

}  // namespace knurl
