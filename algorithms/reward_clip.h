#pragma once

#include <span>
#include <string>

#include "knurl/core/config/value_type.h"

namespace knurl {

/// What is done to rewards before anything is learnt from them.
struct RewardClip {
  enum class Kind {
    none,
    sign,   ///< -1, 0 or 1
    bound,  ///< cut to [-bound, bound]
  };
  Kind kind = Kind::none;
  double bound = 0.0;

  void apply(std::span<float> rewards) const;
  bool operator==(const RewardClip&) const = default;
};

/// In files: true for the sign, a number for the bound, false or null for nothing.
template <>
struct ValueType<RewardClip> {
  static std::string text() { return "true, false, null or a number"; }
  static RewardClip read(const ConfigValue& value, const std::string& path, const Range& range);
  static ConfigValue write(const RewardClip& value);
  static void check(const RewardClip& value, const std::string& path, const Range& range);
};

}  // namespace knurl
