#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>

#include "knurl/core/metrics/result.h"

namespace knurl {

/// Appends each result's numbers to a file that TensorBoard reads:
/// events.out.tfevents.<time>.<host> in a directory, made at the first result. Tags are those of
/// Ray Tune, "ray/tune/" and the name; the step is timesteps_total, or training_iteration where
/// there is none. What is not there yet, or is NaN, is left out, as are lists, texts, and pid and
/// timestamp, which have no curve. Numbers are kept as floats: TensorBoard has no others.
class TensorboardSink {
 public:
  explicit TensorboardSink(std::filesystem::path directory) : directory_(std::move(directory)) {}
  /// Throws Error(io) with the path where the disk is full or the directory gone.
  void write(const Result& result);

 private:
  std::filesystem::path directory_;
  std::filesystem::path path_;  ///< empty before the first result
};

/// Cuts the events after a step from the event files of a directory, and a last one that was not
/// finished: what a resumed run writes again. Files of which nothing is left are removed.
void cut_events(const std::filesystem::path& directory, std::int64_t last_step);

namespace tfevents {

// The format: a file of records, each the length of its data (8 bytes), a checksum of the length,
// the data, a checksum of the data; the data one message "Event" of protocol buffers.

/// CRC-32C (Castagnoli), rotated and shifted as TFRecord files have it.
std::uint32_t masked_crc32c(std::string_view bytes);

/// The record with which a file begins, and one of a result's numbers. `wall_time`: seconds since
/// 1970.
std::string first_record(double wall_time);
std::string record_of(const Result& result, double wall_time);

}  // namespace tfevents
}  // namespace knurl
