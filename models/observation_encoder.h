#pragma once

#include <cstdint>

#include "knurl/core/data/record_batch.h"
#include "knurl/core/spaces/layout.h"

namespace knurl {

/// Numbers that a net reads for one observation. Throws Error(config) naming the space where they
/// are more than a million: a fully connected net is then not what is wanted.
int encoded_size(const SpaceLayout& space);

/// From observations to the numbers a fully connected net reads: a Box of float32 as it is, without
/// a copy; anything else as flatten() writes it.
class ObservationEncoder {
 public:
  explicit ObservationEncoder(const SpaceLayout& space)
      : space_(space), size_(encoded_size(space)), buffer_({{"x", DType::float32, {size_}}}, 0) {}

  /// Numbers a row has.
  [[nodiscard]] int size() const { return size_; }

  /// `rows` rows of numbers, one after the other. Valid until the next call, and no longer than the
  /// observations. Needs no cleaning up: NaN goes through.
  const float* encode(const ConstRows& observations, std::int64_t rows);

 private:
  SpaceLayout space_;
  int size_;
  RecordBatch buffer_;
};

}  // namespace knurl
