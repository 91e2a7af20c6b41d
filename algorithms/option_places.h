#pragma once

#include <functional>
#include <map>
#include <span>
#include <string>
#include <string_view>

#include "knurl/core/config/schema.h"

namespace knurl {

/// Where a config's options were given, so that what is found wrong with several of them together
/// can be shown in the file.
class OptionPlaces {
 public:
  /// Remembers the places of all options in `map`; later ones count.
  void note(const ConfigValue& map, std::span<const Section> sections);

  /// The place of the first option with one that `text` names by its group, as in "training.lr";
  /// none where there is no such option.
  [[nodiscard]] Place first_in(std::string_view text) const;

 private:
  void note(const ConfigValue& map, const Schema& schema, const std::string& path);

  std::map<std::string, Place, std::less<>> places_;  ///< by "training.lr"
};

}  // namespace knurl
