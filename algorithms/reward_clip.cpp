#include "knurl/algorithms/reward_clip.h"

#include <algorithm>

namespace knurl {

void RewardClip::apply(std::span<float> rewards) const {
  if (kind == Kind::none) return;
  const auto limit = static_cast<float>(bound);
  for (float& reward : rewards) {
    reward = kind == Kind::bound ? std::clamp(reward, -limit, limit)
                                 : static_cast<float>((reward > 0.0F) - (reward < 0.0F));
  }
}

RewardClip ValueType<RewardClip>::read(const ConfigValue& value, const std::string& path,
                                       const Range& range) {
  if (value.is_null()) return {};
  if (const auto flag = value.as_bool()) {
    return {.kind = *flag ? RewardClip::Kind::sign : RewardClip::Kind::none};
  }
  if (!value.as_double()) detail::refuse(value, path, text());
  return {.kind = RewardClip::Kind::bound, .bound = ValueType<double>::read(value, path, range)};
}

ConfigValue ValueType<RewardClip>::write(const RewardClip& value) {
  if (value.kind == RewardClip::Kind::none) return {};
  return value.kind == RewardClip::Kind::sign ? ConfigValue::of(true)
                                              : ConfigValue::of(value.bound);
}

void ValueType<RewardClip>::check(const RewardClip& value, const std::string& path,
                                  const Range& range) {
  if (value.kind == RewardClip::Kind::bound) {
    ValueType<double>::check(value.bound, path, range);
  }
}

}  // namespace knurl
