#pragma once

#include <span>
#include <string>
#include <vector>

#include "knurl/core/config/value.h"

namespace knurl {

/// An option of RLlib's that knurl does not have.
struct ForeignKey {
  enum class Kind {
    no_effect,  ///< has no meaning here: accepted, and named once
    not_yet,    ///< means something, and is not built yet: refused unless it is off
  };
  const char* path;  ///< "model.use_lstm"
  Kind kind;
  const char* off;     ///< values (YAML list) with which an option changes nothing
  const char* remark;  ///< why, or what to use instead
};

/// RLlib's options, those of all algorithms and those of the models.
std::span<const ForeignKey> rllib_keys();

/// Takes the foreign keys out of a config map. Returns a line for each that was given without
/// effect. Throws Error(config) naming place and option for one that would have to do something.
std::vector<std::string> take_foreign_keys(ConfigValue& config, const std::string& path);

}  // namespace knurl
