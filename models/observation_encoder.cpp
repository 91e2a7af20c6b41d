#include "knurl/models/observation_encoder.h"

#include <algorithm>

#include "knurl/core/base/error.h"

namespace knurl {

int encoded_size(const SpaceLayout& space) {
  constexpr std::int64_t kMost = 1'000'000;
  const std::int64_t size = flat_size(space);
  if (size > kMost) {
    fail(ErrorKind::config,
         "observation space {}: {} numbers are too many for a net: at most {}; "
         "Discrete values count as one number each of their choices",
         space.space().text(), size, kMost);
  }
  return static_cast<int>(size);
}

ObservationEncoder::ObservationEncoder(const SpaceLayout& space)
    : space_(space), size_(encoded_size(space)), buffer_({{"x", DType::float32, {size_}}}, 0) {
  const Box* box = space.space().as<Box>();
  pixels_ = box && box->shape.size() == 3 && box->dtype == DType::uint8;
}

const float* ObservationEncoder::encode(const ConstRows& observations, std::int64_t rows) {
  if (space_.plain_float()) {
    return reinterpret_cast<const float*>(observations.leaf_row(0, 0));
  }
  if (buffer_.rows() < rows) buffer_ = RecordBatch({{"x", DType::float32, {size_}}}, rows);
  const auto out = buffer_.column<float>("x");
  if (pixels_) {
    const auto* from = reinterpret_cast<const std::uint8_t*>(observations.leaf_row(0, 0));
    std::transform(from, from + rows * size_, out.data(),
                   [](std::uint8_t pixel) { return static_cast<float>(pixel) / 255.0F; });
    return out.data();
  }
  for (std::int64_t row = 0; row < rows; ++row) flatten(ConstRow(observations, row), out.row(row));
  return out.data();
}

}  // namespace knurl
