#pragma once

#include <cstddef>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "knurl/core/config/value.h"

namespace knurl {

class Problems;
class Schema;

/// The numbers that an option may take; for a list, each of its elements.
struct Range {
  double low = -std::numeric_limits<double>::infinity();
  double high = std::numeric_limits<double>::infinity();
  bool low_open = false;
  bool high_open = false;

  [[nodiscard]] bool holds(double value) const;
  [[nodiscard]] bool bounded() const;
  /// "in [0, 1]", "at least 1", "above 0"; nothing where all numbers are allowed.
  [[nodiscard]] std::string text() const;
  /// text(), or what else keeps `value` out: "a number", "finite".
  [[nodiscard]] std::string rule_against(double value) const;
};
constexpr Range at_least(double low) {
  return {.low = low, .high_open = true};
}
constexpr Range above(double low) {
  return {.low = low, .low_open = true, .high_open = true};
}
constexpr Range above_or_infinite(double low) {
  return {.low = low, .low_open = true};
}

/// Which options a written config shows.
enum class Shown { all, given };

/// Other names under which files may give an option.
struct Aliases {
  std::vector<std::string> names;
};

/// What can be done with a member without knowing the struct it sits in. `member` points at it.
class FieldType {
 public:
  virtual ~FieldType() = default;
  /// Sets the member from a file's value. Throws Error(config) with place, path, value and rule.
  virtual void read(void* member, const ConfigValue& value, const std::string& path,
                    const Range& range) const = 0;
  [[nodiscard]] virtual ConfigValue write(const void* member, Shown shown) const = 0;
  /// Throws Error(config) where the member's value is outside the range.
  virtual void check(const void* member, const std::string& path, const Range& range) const = 0;
  /// Takes what was given in `from`.
  virtual void merge(void* member, const void* from) const = 0;
  [[nodiscard]] virtual bool given(const void* member) const = 0;
  /// Marks as given exactly what `given`, a value as files hold it, names; null: nothing.
  virtual void mark_given(void* member, const ConfigValue* given) const = 0;
  /// "whole number", "list of numbers", "truncate_episodes or complete_episodes".
  [[nodiscard]] virtual std::string text() const = 0;
  /// The fields of a member that is a struct with fields of its own.
  [[nodiscard]] virtual const Schema* nested() const { return nullptr; }
};

/// One option of a struct: everything that is known about it, written once.
struct Field {
  std::string name = {};
  std::vector<std::string> aliases = {};
  std::string sentence = {};
  Range range = {};
  std::ptrdiff_t offset = 0;
  std::shared_ptr<const FieldType> type = nullptr;

  [[nodiscard]] void* in(void* object) const { return static_cast<std::byte*>(object) + offset; }
  [[nodiscard]] const void* in(const void* object) const {
    return static_cast<const std::byte*>(object) + offset;
  }
};

/// The options of a struct, in order of declaration. Made from the struct's field list by
/// schema_of (fields.h).
class Schema {
 public:
  explicit Schema(std::vector<Field> fields) : fields_(std::move(fields)) {}

  [[nodiscard]] const std::vector<Field>& fields() const { return fields_; }
  /// By name or alias; null where there is none.
  [[nodiscard]] const Field* find(std::string_view name) const;

  void merge(void* object, const void* from) const;
  void check(const void* object, const std::string& path) const;
  [[nodiscard]] ConfigValue write(const void* object, Shown shown = Shown::all) const;

 private:
  std::vector<Field> fields_;
};

/// A struct of options, as a part of a level that several structs share.
struct Section {
  std::string group = {};  ///< "training"
  const Schema* schema = nullptr;
  void* object = nullptr;
};

/// The same for looking at.
struct ConstSection {
  std::string group = {};
  const Schema* schema = nullptr;
  const void* object = nullptr;
};

/// Sets the options that `map` gives, each in the section that knows it. Throws Error(config) with
/// a line for each thing that is wrong: a key that nobody knows, with its place, its path below
/// `path` and the nearest known names; an option given twice under two of its names; a value that
/// does not fit. What was right is set all the same.
void read_sections(const ConfigValue& map, std::span<const Section> sections,
                   const std::string& path);
/// The same, adding what is wrong to `problems`.
void read_sections(const ConfigValue& map, std::span<const Section> sections,
                   const std::string& path, Problems& problems);

/// read_sections for one struct.
void read_fields(const ConfigValue& map, const Schema& schema, void* object,
                 const std::string& path);

/// The known names nearest to a misspelt one, best first, at most `most`. Case, "-" and "_" hardly
/// count; names nothing like it are left out.
std::vector<std::string> nearest_names(std::string_view word, std::span<const std::string> known,
                                       std::size_t most = 3);

/// "; did you mean gamma or lambda?", or where no known name is near, nothing or what there is to
/// say otherwise.
std::string did_you_mean(std::string_view word, std::span<const std::string> known,
                         const std::string& otherwise = "");

}  // namespace knurl
