#include "knurl/algorithms/option_places.h"

#include <algorithm>

namespace knurl {

void OptionPlaces::note(const ConfigValue& map, std::span<const Section> sections) {
  for (const Section& section : sections) note(map, *section.schema, section.group);
}

void OptionPlaces::note(const ConfigValue& map, const Schema& schema, const std::string& path) {
  if (!map.map()) return;
  for (const ConfigValue::Entry& entry : *map.map()) {
    const Field* field = schema.find(entry.key);
    if (!field) continue;
    const std::string name = path + "." + field->name;
    places_[name] = entry.place;
    if (const Schema* nested = field->type->nested()) note(entry.value, *nested, name);
  }
}

Place OptionPlaces::first_in(std::string_view text) const {
  constexpr std::string_view kOfNames = "abcdefghijklmnopqrstuvwxyz0123456789_.";
  while (!text.empty()) {
    text.remove_prefix(std::min(text.find_first_of(kOfNames), text.size()));
    const std::size_t end = std::min(text.find_first_not_of(kOfNames), text.size());
    const auto found = places_.find(text.substr(0, end));
    if (found != places_.end() && !found->second.text().empty()) return found->second;
    text.remove_prefix(end);
  }
  return {};
}

}  // namespace knurl
