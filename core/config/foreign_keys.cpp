#include "knurl/core/config/foreign_keys.h"

#include <algorithm>

#include <fmt/format.h>

#include "knurl/core/config/yaml.h"

namespace knurl {
namespace {

/// The option changes nothing with this value.
bool is_off(const ForeignKey& key, const ConfigValue& value) {
  if (std::string_view(key.off).empty()) return false;
  const ConfigValue off = parse_yaml(key.off, "off");
  return std::ranges::any_of(*off.list(), [&](const ConfigValue& each) {
    if (each.as_double() && value.as_double()) return *each.as_double() == *value.as_double();
    if (each.as_bool() && value.as_bool()) return *each.as_bool() == *value.as_bool();
    if (each.scalar() && value.scalar()) return each.scalar()->text == value.scalar()->text;
    return each == value;
  });
}

/// Takes "model.use_lstm" out of nested maps.
std::optional<ConfigValue> take_path(ConfigValue& map, std::string_view path) {
  const std::size_t dot = path.find('.');
  if (dot == std::string_view::npos) return map.take(path);
  ConfigValue* part = map.find(path.substr(0, dot));
  return part ? part->take(path.substr(dot + 1)) : std::nullopt;
}

}  // namespace

std::vector<std::string> take_foreign_keys(ConfigValue& map, std::span<const ForeignKey> keys,
                                           const std::string& path, Problems& problems) {
  std::vector<std::string> notes;
  for (const ForeignKey& key : keys) {
    const std::optional<ConfigValue> value = take_path(map, key.path);
    if (!value) continue;
    if (key.kind == ForeignKey::Kind::no_effect) {
      notes.push_back(fmt::format("{} ({})", key.path, key.remark));
    } else if (!is_off(key, *value)) {
      problems.add(value->place(),
                   fmt::format("{}{}{}{} = {}: {}", value->place().prefix(), path,
                               path.empty() ? "" : ".", key.path, value->describe(), key.remark));
    }
  }
  return notes;
}

}  // namespace knurl
