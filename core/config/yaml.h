#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "knurl/core/config/value.h"

namespace knurl {

/// Reads a YAML document (JSON is YAML too). `source` names it in messages. Keys of a map must be
/// different; anchors, aliases and "<<" merges are resolved. Throws Error(config) with the line for
/// anything that is not one well-formed document, nests deeper than 64 levels or grows past a
/// million values.
ConfigValue parse_yaml(std::string_view text, const std::string& source);

/// The same from a file of at most 16 MiB. An unreadable, empty or binary file is an error.
ConfigValue read_yaml_file(const std::filesystem::path& path);

/// Writes YAML that parse_yaml reads back as the same value. Ends with a newline.
std::string to_yaml(const ConfigValue& value);

/// Writes JSON on one line; scalars that are numbers, bools or null stay so. Infinities, which JSON
/// lacks, become text.
std::string to_json(const ConfigValue& value);

}  // namespace knurl
