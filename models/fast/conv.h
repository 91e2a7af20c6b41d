#pragma once

#include <cstdint>
#include <vector>

#include "knurl/models/activation.h"
#include "knurl/models/conv_shape.h"

namespace knurl::fast {

/// Lays weights [filters, channels, kernel height, kernel width] out as the dense kernel wants
/// them, [kernel height, kernel width, channels][padded(filters)].
void arrange_conv_weights(const ConvShape& shape, const float* from, float* to);

/// Pictures, and where what is made of them goes.
struct ConvArgs {
  const float* x = nullptr;
  std::int64_t x_stride = 0;  ///< floats from one picture to the next
  const float* weight = nullptr;
  const float* bias = nullptr;  ///< [padded(filters)]
  float* y = nullptr;
  std::int64_t y_stride = 0;  ///< likewise
  std::int64_t rows = 0;
  Activation activation = Activation::linear;
};

/// A convolution as a matrix product: what each place of a picture reads is a row of it. Works on
/// one picture after the other, so that a picture's bits do not depend on those beside it. Not
/// thread-safe: it owns buffers.
class Convolution {
 public:
  void run(const ConvShape& shape, const ConvArgs& args);

 private:
  std::vector<float> patches_;  ///< [places, patch]
  std::vector<float> results_;  ///< [places, padded(filters)]
};

}  // namespace knurl::fast
