#pragma once

#include <cstdint>
#include <vector>

#include "knurl/core/data/record_batch.h"
#include "knurl/core/spaces/layout.h"

namespace knurl {

/// Numbers that a net reads for one observation. Throws Error(config) naming the space where they
/// are more than a million: a fully connected net is then not what is wanted.
int encoded_size(const SpaceLayout& space);

/// From observations to the numbers a fully connected net reads: a Box of float32 as it is, without
/// a copy; anything else as flatten() writes it. Behind an observation may stand the numbers of
/// further columns of float32 (NetSpec::extras).
class ObservationEncoder {
 public:
  explicit ObservationEncoder(const SpaceLayout& space, std::vector<ColumnSpec> extras = {});

  /// Numbers a row has.
  [[nodiscard]] int size() const { return size_; }

  /// `rows` rows of numbers, one after the other. Valid until the next call, and no longer than the
  /// observations. Needs no cleaning up: NaN goes through.
  /// `extras` has the further columns, if there are any.
  const float* encode(const ConstRows& observations, std::int64_t rows,
                      const RecordBatch* extras = nullptr);

 private:
  SpaceLayout space_;
  std::vector<ColumnSpec> extras_;
  std::int64_t observation_size_;
  int size_;
  RecordBatch buffer_;
};

}  // namespace knurl
