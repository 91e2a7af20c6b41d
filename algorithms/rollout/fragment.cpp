#include "knurl/algorithms/rollout/fragment.h"

#include <algorithm>
#include <tuple>

namespace knurl {

std::vector<SegmentPlace> in_order(const std::vector<Fragment>& fragments, std::size_t policy) {
  std::vector<SegmentPlace> out;
  for (std::size_t i = 0; i < fragments.size(); ++i) {
    for (const Segment& segment : fragments[i].policies[policy].segments)
      out.push_back({i, &segment});
  }
  const auto key = [](const SegmentPlace& place) {
    return std::tuple(place.segment->env, place.fragment, place.segment->first_row);
  };
  std::ranges::sort(out, {}, key);
  return out;
}

}  // namespace knurl
