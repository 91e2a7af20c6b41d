#include "knurl/models/observation_encoder.h"

namespace knurl {

const float* ObservationEncoder::encode(const ConstRows& observations, std::int64_t rows) {
  if (space_.plain_float()) {
    return reinterpret_cast<const float*>(observations.leaf_row(0, 0));
  }
  if (buffer_.rows() < rows) buffer_ = RecordBatch({{"x", DType::float32, {size_}}}, rows);
  const auto out = buffer_.column<float>("x");
  for (std::int64_t row = 0; row < rows; ++row) flatten(ConstRow(observations, row), out.row(row));
  return out.data();
}

}  // namespace knurl
