#pragma once

#include <cstdint>
#include <span>

#include "knurl/core/base/error.h"
#include "knurl/core/data/record_batch.h"

namespace knurl {

/// A model's parameters: one row of named float32 tensors, each 64-byte aligned, in one flat
/// buffer.
struct Weights {
  RecordBatch tensors = {};
  std::int64_t version = 0;  ///< counts the updates that made them; 0 is a fresh model
  /// Observations that the net's filter, where it has one, had seen: how much its mean and scale
  /// weigh against the next ones.
  std::int64_t observed = 0;
};

/// The flat buffer as numbers, the gaps between tensors included (they stay 0).
inline std::span<float> flat(RecordBatch& tensors) {
  const auto memory = tensors.memory();
  return {reinterpret_cast<float*>(memory.data()), memory.size() / sizeof(float)};
}
inline std::span<const float> flat(const RecordBatch& tensors) {
  const auto memory = tensors.memory();
  return {reinterpret_cast<const float*>(memory.data()), memory.size() / sizeof(float)};
}

/// Throws Error(config) where `tensors` are not laid out as those of `model`.
inline void require_same_tensors(const RecordBatch& tensors, const RecordBatch& model) {
  if (tensors.columns() != model.columns()) {
    fail(ErrorKind::config, "the weights are those of another model");
  }
}

}  // namespace knurl
