#include "knurl/models/conv_filter.h"

#include <algorithm>
#include <utility>

namespace knurl {
namespace {

/// "4" or "[4, 6]"
Extent read_extent(const ConfigValue& value, const std::string& path, const Range& range) {
  if (value.list()) return ValueType<Extent>::read(value, path, range);
  const int both = ValueType<int>::read(value, path, range);
  return {both, both};
}

ConfigValue write_extent(const Extent& extent) {
  return extent[0] == extent[1] ? ConfigValue::of(extent[0]) : ValueType<Extent>::write(extent);
}

/// A side after a padded layer of stride 2.
int halved(int side) {
  return (side + 1) / 2;
}

}  // namespace

ConvFilter ValueType<ConvFilter>::read(const ConfigValue& value, const std::string& path,
                                       const Range& range) {
  const ConfigValue::List* parts = value.list();
  if (!parts || parts->size() != 3) {
    detail::refuse(value, path,
                   "a list [channels, kernel, stride], kernel and stride a number or [height, "
                   "width]");
  }
  return {.channels = ValueType<int>::read((*parts)[0], path + "[0]", range),
          .kernel = read_extent((*parts)[1], path + "[1]", range),
          .stride = read_extent((*parts)[2], path + "[2]", range)};
}

ConfigValue ValueType<ConvFilter>::write(const ConvFilter& filter) {
  return ConfigValue(ConfigValue::List{ConfigValue::of(filter.channels),
                                       write_extent(filter.kernel), write_extent(filter.stride)});
}

void ValueType<ConvFilter>::check(const ConvFilter& filter, const std::string& path,
                                  const Range& range) {
  ValueType<int>::check(filter.channels, path + "[0]", range);
  ValueType<Extent>::check(filter.kernel, path + "[1]", range);
  ValueType<Extent>::check(filter.stride, path + "[2]", range);
}

std::vector<ConvFilter> default_filters(Extent size) {
  using Filters = std::vector<ConvFilter>;
  const std::pair<Extent, Filters> known[] = {
      {{10, 10}, {{16, {5, 5}, {2, 2}}, {32, {5, 5}, {2, 2}}}},
      {{42, 42}, {{16, {4, 4}, {2, 2}}, {32, {4, 4}, {2, 2}}, {256, {11, 11}, {1, 1}}}},
      {{64, 64},
       {{32, {4, 4}, {2, 2}}, {64, {4, 4}, {2, 2}}, {128, {4, 4}, {2, 2}}, {256, {4, 4}, {2, 2}}}},
      {{84, 84}, {{16, {8, 8}, {4, 4}}, {32, {4, 4}, {2, 2}}, {256, {11, 11}, {1, 1}}}},
      {{96, 96}, {{16, {8, 8}, {4, 4}}, {32, {4, 4}, {2, 2}}, {256, {11, 11}, {2, 2}}}},
      {{240, 320}, {{16, {12, 16}, {7, 9}}, {32, {6, 6}, {4, 4}}, {256, {9, 9}, {1, 1}}}},
      {{480, 640}, {{16, {24, 32}, {14, 18}}, {32, {6, 6}, {4, 4}}, {256, {9, 9}, {1, 1}}}}};
  const auto found = std::ranges::find(known, size, &std::pair<Extent, Filters>::first);
  if (found != std::end(known)) return found->second;

  constexpr int kSmall = 8;
  Filters out;
  int channels = 16;
  while (std::max(size[0], size[1]) > kSmall) {
    out.push_back({channels, {4, 4}, {2, 2}});
    channels = std::min(2 * channels, 128);
    size = {halved(size[0]), halved(size[1])};
  }
  if (out.empty()) out.push_back({channels, {3, 3}, {1, 1}});
  out.push_back({256, size, {1, 1}});
  return out;
}

}  // namespace knurl
