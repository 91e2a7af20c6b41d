#pragma once

#include <cstdint>
#include <initializer_list>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace knurl {

/// Where a value was written: "configs/ppo/cartpole.yaml:7", "--set lr", "C++".
struct Place {
  std::shared_ptr<const std::string> source;
  int line = 0;  ///< first line is 1; 0 where lines mean nothing

  Place() = default;
  explicit Place(std::string source_name, int at_line = 0)
      : source(std::make_shared<const std::string>(std::move(source_name))), line(at_line) {}

  /// "source:line", "source", or nothing.
  [[nodiscard]] std::string text() const;
  /// text() followed by ": ", or nothing where there is no place.
  [[nodiscard]] std::string prefix() const;
};

/// What a config file holds before anyone has given it types: nothing, a scalar's text, a list or a
/// map in the order it was written. Each value remembers its place, for error messages.
class ConfigValue {
 public:
  struct Scalar {
    std::string text = {};
    bool quoted = false;  ///< written as text: never a number, a bool or null
    bool operator==(const Scalar&) const = default;
  };
  struct Entry;
  using List = std::vector<ConfigValue>;
  using Map = std::vector<Entry>;

  ConfigValue() = default;  ///< null
  explicit ConfigValue(Scalar scalar, Place place = {});
  explicit ConfigValue(List list, Place place = {});
  explicit ConfigValue(Map map, Place place = {});

  static ConfigValue of(bool value);
  static ConfigValue of(std::int64_t value);
  static ConfigValue of(int value) { return of(static_cast<std::int64_t>(value)); }
  static ConfigValue of(double value);
  static ConfigValue of(std::string_view text);
  static ConfigValue of(const char* text) { return of(std::string_view(text)); }
  static ConfigValue empty_map() { return ConfigValue(Map{}); }

  [[nodiscard]] bool is_null() const { return std::holds_alternative<std::monostate>(data_); }
  [[nodiscard]] const Scalar* scalar() const { return std::get_if<Scalar>(&data_); }
  [[nodiscard]] const List* list() const { return std::get_if<List>(&data_); }
  [[nodiscard]] List* list() { return std::get_if<List>(&data_); }
  [[nodiscard]] const Map* map() const { return std::get_if<Map>(&data_); }
  [[nodiscard]] Map* map() { return std::get_if<Map>(&data_); }

  /// The entry of a map, or null where this is no map or has no such key.
  [[nodiscard]] const ConfigValue* find(std::string_view key) const;
  [[nodiscard]] ConfigValue* find(std::string_view key);
  /// The entry of a map, added as null where it is missing. A null value becomes a map.
  ConfigValue& operator[](std::string_view key);
  /// Takes an entry out of a map; nothing where it is missing.
  std::optional<ConfigValue> take(std::string_view key);

  // The scalar as a type, or nothing where its text is something else.
  [[nodiscard]] std::optional<bool> as_bool() const;
  [[nodiscard]] std::optional<std::int64_t> as_int() const;  ///< "1e5" is a whole number too
  [[nodiscard]] std::optional<double> as_double() const;     ///< ".inf", "inf" and ".nan" too

  /// "12", "\"text\"", "a list of 3", "a map of 2": how messages show it.
  [[nodiscard]] std::string describe() const;

  [[nodiscard]] const Place& place() const { return place_; }
  void set_place(Place place) { place_ = std::move(place); }

  /// Same data; places do not count.
  friend bool operator==(const ConfigValue& a, const ConfigValue& b);

 private:
  std::variant<std::monostate, Scalar, List, Map> data_;
  Place place_;
};

struct ConfigValue::Entry {
  std::string key;
  ConfigValue value;
  Place place;  ///< of the key
};

/// Lays `over` on `base`: maps merge key by key, anything else replaces.
void merge_into(ConfigValue& base, const ConfigValue& over);

/// Puts `value` at a dotted path such as "model.fcnet_hiddens", making maps on the way; new keys
/// get its place. Throws Error(config) where a part of the path holds something that is no map.
void set_path(ConfigValue& root, std::string_view path, ConfigValue value);

}  // namespace knurl
