#pragma once

#include <span>
#include <string>
#include <vector>

#include "knurl/core/config/problems.h"
#include "knurl/core/config/value.h"

namespace knurl {

/// An option of another framework that knurl does not have.
struct ForeignKey {
  enum class Kind {
    no_effect,  ///< has no meaning here: accepted, and named once
    not_yet,    ///< means something, and is not built: refused unless it is off
  };
  const char* path;  ///< "model.use_lstm"
  Kind kind;
  const char* off;     ///< values (YAML list) with which an option changes nothing; "": none
  const char* remark;  ///< why, or what to use instead
  /// The option that the remark is about, where only some algorithms have it.
  const char* option = "";
};

/// Takes the foreign keys out of a map. Returns a line for each that was given without effect; adds
/// a problem naming place and option for each that would have to do something.
std::vector<std::string> take_foreign_keys(ConfigValue& map, std::span<const ForeignKey> keys,
                                           const std::string& path, Problems& problems);

}  // namespace knurl
