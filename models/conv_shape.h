#pragma once

#include <algorithm>
#include <array>
#include <cstdint>

namespace knurl {

/// A height and a width.
using Extent = std::array<int, 2>;

/// What a convolution does at the picture's edges.
enum class Padding {
  valid,  ///< stays inside: (size - kernel) / stride + 1 places, rounded down
  same,   ///< goes beyond, where it reads zeros: size / stride places, rounded up
};

/// A convolution of pictures. A picture is a row of numbers [height, width, channels], what is made
/// of it is one [output()[0], output()[1], filters].
struct ConvShape {
  Extent size = {1, 1};  ///< of what it reads
  int channels = 1;      ///< of what it reads
  int filters = 1;       ///< channels of what it makes
  Extent kernel = {1, 1};
  Extent stride = {1, 1};
  Padding padding = Padding::valid;

  /// Size of what it makes. Below 1 where a valid kernel is larger than the picture.
  [[nodiscard]] Extent output() const { return {places(0), places(1)}; }
  /// Zeros above and left of the picture. Where their number is odd, one more stands below and
  /// right, as in TensorFlow and RLlib.
  [[nodiscard]] Extent before() const { return {zeros(0) / 2, zeros(1) / 2}; }
  /// Zeros below and right of the picture.
  [[nodiscard]] Extent after() const { return {(zeros(0) + 1) / 2, (zeros(1) + 1) / 2}; }
  /// Numbers that one place reads, without those beyond the edges.
  [[nodiscard]] int patch() const { return kernel[0] * kernel[1] * channels; }
  [[nodiscard]] std::int64_t num_inputs() const {
    return std::int64_t{size[0]} * size[1] * channels;
  }
  [[nodiscard]] std::int64_t num_outputs() const {
    return std::int64_t{places(0)} * places(1) * filters;
  }

  bool operator==(const ConvShape&) const = default;

 private:
  [[nodiscard]] int places(std::size_t axis) const {
    if (padding == Padding::same) return (size[axis] + stride[axis] - 1) / stride[axis];
    return size[axis] < kernel[axis] ? 0 : (size[axis] - kernel[axis]) / stride[axis] + 1;
  }
  [[nodiscard]] int zeros(std::size_t axis) const {
    if (padding == Padding::valid) return 0;
    return std::max(0, (places(axis) - 1) * stride[axis] + kernel[axis] - size[axis]);
  }
};

}  // namespace knurl
