#include "knurl/models/observation_encoder.h"

#include <algorithm>

#include "knurl/core/base/check.h"
#include "knurl/core/base/error.h"

namespace knurl {

int encoded_size(const SpaceLayout& space) {
  constexpr std::int64_t kMost = 1'000'000;
  const std::int64_t size = flat_size(space);
  if (size > kMost) {
    fail(ErrorKind::config,
         "observation space {}: {} numbers are too many for a fully connected net: at most {}; "
         "Discrete values count as one number each of their choices",
         space.space().text(), size, kMost);
  }
  return static_cast<int>(size);
}

ObservationEncoder::ObservationEncoder(const SpaceLayout& space, std::vector<ColumnSpec> extras)
    : space_(space),
      extras_(std::move(extras)),
      observation_size_(encoded_size(space)),
      size_(static_cast<int>(observation_size_ + width_of(extras_))),
      buffer_({{"x", DType::float32, {size_}}}, 0) {}

const float* ObservationEncoder::encode(const ConstRows& observations, std::int64_t rows,
                                        const RecordBatch* extras) {
  if (space_.plain_float() && extras_.empty()) {
    return reinterpret_cast<const float*>(observations.leaf_row(0, 0));
  }
  if (buffer_.rows() < rows) buffer_ = RecordBatch({{"x", DType::float32, {size_}}}, rows);
  const auto out = buffer_.column<float>("x");
  const auto size = static_cast<std::size_t>(observation_size_);
  for (std::int64_t row = 0; row < rows; ++row) {
    flatten(ConstRow(observations, row), out.row(row).first(size));
  }
  std::int64_t first = observation_size_;
  for (const ColumnSpec& column : extras_) {
    check(extras != nullptr, "there are columns beside the observations");
    const auto from = extras->column<float>(column.name);
    for (std::int64_t row = 0; row < rows; ++row) {
      std::ranges::copy(from.row(row), out.row(row).data() + first);
    }
    first += from.width();
  }
  return out.data();
}

}  // namespace knurl
