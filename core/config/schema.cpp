#include "knurl/core/config/schema.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <set>

#include <fmt/format.h>

#include "knurl/core/base/error.h"
#include "knurl/core/base/text.h"
#include "knurl/core/config/problems.h"

namespace knurl {
namespace {

/// Edits between two words: insert, delete, replace, swap of neighbours.
std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> before(b.size() + 1);
  std::vector<std::size_t> above(b.size() + 1);
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(above.begin(), above.end(), 0U);
  for (std::size_t i = 1; i <= a.size(); ++i) {
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      row[j] = std::min({above[j] + 1, row[j - 1] + 1, above[j - 1] + (a[i - 1] != b[j - 1])});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) {
        row[j] = std::min(row[j], before[j - 2] + 1);
      }
    }
    std::swap(before, above);
    std::swap(above, row);
  }
  return above[b.size()];
}

/// How far a known name is from the word; nothing where they are not alike.
std::optional<double> distance(const std::string& word, const std::string& known) {
  const std::string name = folded(known);
  const std::string leaf = name.substr(name.rfind('.') + 1);
  if (word == name) return 0.0;
  if (word == leaf) return 0.5;
  const std::size_t edits = std::min(edit_distance(word, name), edit_distance(word, leaf));
  const std::size_t allowed = std::max<std::size_t>(1, word.size() / 3);
  if (edits <= allowed) return static_cast<double>(edits);
  const bool inside =
      word.size() >= 4 && leaf.size() >= 4 &&
      (leaf.find(word) != std::string::npos || word.find(leaf) != std::string::npos);
  return inside ? std::optional(static_cast<double>(allowed) + 1.0) : std::nullopt;
}

/// Every name that a level knows, those of nested structs with their path.
void collect_names(const Schema& schema, const std::string& prefix, std::vector<std::string>& out) {
  for (const Field& field : schema.fields()) {
    out.push_back(prefix + field.name);
    for (const std::string& alias : field.aliases) out.push_back(prefix + alias);
    if (field.type->nested()) collect_names(*field.type->nested(), prefix + field.name + ".", out);
  }
}

std::string joined(const std::string& path, std::string_view key) {
  return path.empty() ? std::string(key) : fmt::format("{}.{}", path, key);
}

}  // namespace

bool Range::holds(double value) const {
  return (low_open ? value > low : value >= low) && (high_open ? value < high : value <= high);
}

bool Range::bounded() const {
  return std::isfinite(low) || std::isfinite(high);
}

std::string Range::text() const {
  if (!bounded()) return "";
  if (!std::isfinite(high)) return fmt::format("{} {}", low_open ? "above" : "at least", low);
  if (!std::isfinite(low)) return fmt::format("{} {}", high_open ? "below" : "at most", high);
  return fmt::format("in {}{}, {}{}", low_open ? '(' : '[', low, high, high_open ? ')' : ']');
}

std::string Range::rule_against(double value) const {
  if (std::isinf(value) && value > low) return "finite";
  return bounded() ? text() : "a number";
}

const Field* Schema::find(std::string_view name) const {
  const auto found = std::ranges::find_if(fields_, [&](const Field& field) {
    return field.name == name || std::ranges::count(field.aliases, name) > 0;
  });
  return found == fields_.end() ? nullptr : &*found;
}

void Schema::merge(void* object, const void* from) const {
  for (const Field& field : fields_) field.type->merge(field.in(object), field.in(from));
}

void Schema::check(const void* object, const std::string& path) const {
  for (const Field& field : fields_) {
    field.type->check(field.in(object), joined(path, field.name), field.range);
  }
}

ConfigValue Schema::write(const void* object, Shown shown) const {
  ConfigValue out = ConfigValue::empty_map();
  for (const Field& field : fields_) {
    const void* member = field.in(object);
    if (shown == Shown::given && !field.type->given(member)) continue;
    out[field.name] = field.type->write(member, shown);
  }
  return out;
}

void read_sections(const ConfigValue& map, std::span<const Section> sections,
                   const std::string& path) {
  Problems problems;
  read_sections(map, sections, path, problems);
  problems.throw_any();
}

void read_sections(const ConfigValue& map, std::span<const Section> sections,
                   const std::string& path, Problems& problems) {
  if (map.is_null()) return;
  if (!map.map()) {
    problems.add(map.place(), fmt::format("{}{} = {}: must be a map of options",
                                          map.place().prefix(), path, map.describe()));
    return;
  }
  std::vector<std::pair<const Field*, const ConfigValue::Entry*>> seen;
  for (const ConfigValue::Entry& entry : *map.map()) {
    const Section* home = nullptr;
    for (const Section& section : sections) {
      if (!home && section.schema->find(entry.key)) home = &section;
    }
    const Field* field = home ? home->schema->find(entry.key) : nullptr;
    if (!field) {
      std::vector<std::string> names;
      for (const Section& section : sections) collect_names(*section.schema, "", names);
      problems.add(entry.place,
                   fmt::format("{}{}: unknown option{}", entry.place.prefix(),
                               joined(path, entry.key), did_you_mean(entry.key, names)));
      continue;
    }
    const auto twin = std::ranges::find(seen, field, &decltype(seen)::value_type::first);
    if (twin != seen.end()) {
      const ConfigValue::Entry& first = *twin->second;
      problems.add(
          entry.place,
          fmt::format("{}{}: the same option as {} on line {}; give one of them",
                      entry.place.prefix(), joined(path, entry.key), first.key, first.place.line));
      continue;
    }
    seen.emplace_back(field, &entry);
    problems.collect(entry.place, [&] {
      field->type->read(field->in(home->object), entry.value, joined(path, entry.key),
                        field->range);
    });
  }
}

void read_fields(const ConfigValue& map, const Schema& schema, void* object,
                 const std::string& path) {
  const Section section{.group = "", .schema = &schema, .object = object};
  read_sections(map, std::span(&section, 1), path);
}

std::vector<std::string> nearest_names(std::string_view word, std::span<const std::string> known,
                                       std::size_t most) {
  const std::string target = folded(word);
  std::set<std::pair<double, std::string>> ranked;
  for (const std::string& name : known) {
    if (const auto d = distance(target, name)) ranked.emplace(*d, name);
  }
  std::vector<std::string> out;
  for (const auto& [d, name] : ranked) {
    const bool much_worse = !out.empty() && d > ranked.begin()->first + 1.0;
    if (out.size() == most || much_worse) break;
    out.push_back(name);
  }
  return out;
}

std::string did_you_mean(std::string_view word, std::span<const std::string> known,
                         const std::string& otherwise) {
  const std::vector<std::string> names = nearest_names(word, known);
  return names.empty() ? otherwise : fmt::format("; did you mean {}?", fmt::join(names, " or "));
}

}  // namespace knurl
