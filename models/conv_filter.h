#pragma once

#include <string>
#include <vector>

#include "knurl/core/config/value_type.h"
#include "knurl/models/conv_shape.h"

namespace knurl {

/// A layer of `conv_filters`: [channels, kernel, stride]; kernel and stride are one number, or
/// [height, width].
struct ConvFilter {
  int channels = 1;
  Extent kernel = {1, 1};
  Extent stride = {1, 1};

  bool operator==(const ConvFilter&) const = default;
};

template <>
struct ValueType<ConvFilter> {
  static std::string text() { return "list [channels, kernel, stride]"; }
  static ConvFilter read(const ConfigValue& value, const std::string& path, const Range& range);
  static ConfigValue write(const ConvFilter& filter);
  static void check(const ConvFilter& filter, const std::string& path, const Range& range);
};

/// The filters of a picture of this size where a file gives none. For 42 x 42, 64 x 64, 84 x 84,
/// 96 x 96, 10 x 10, 240 x 320 and 480 x 640 they are RLlib's. Any other picture is halved by
/// layers of 16, 32, 64 and then always 128 filters (kernel 4, stride 2) until no side is longer
/// than 8; one that is that small from the start is read by 16 filters (kernel 3, stride 1). Last
/// come 256 filters that read all that is left.
std::vector<ConvFilter> default_filters(Extent size);

}  // namespace knurl
