#pragma once

#include <array>
#include <concepts>
#include <map>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "knurl/core/base/enum_names.h"
#include "knurl/core/base/error.h"
#include "knurl/core/config/schema.h"

/// How a value of each type is read from a file, written back, checked and named. A type that
/// options shall have gets a specialisation of ValueType; structs with fields are in fields.h.
namespace knurl {

namespace detail {

[[noreturn]] inline void refuse(const ConfigValue& value, const std::string& path,
                                const std::string& rule) {
  fail(ErrorKind::config, "{}{} = {}: must be {}", value.place().prefix(), path, value.describe(),
       rule);
}

template <class T>
struct IsList : std::false_type {};
template <class T>
struct IsList<std::vector<T>> : std::true_type {};

template <class T>
struct IsFixedList : std::false_type {};
template <class T, std::size_t N>
struct IsFixedList<std::array<T, N>> : std::true_type {};

template <class T>
struct IsNameMap : std::false_type {};
template <class T>
struct IsNameMap<std::map<std::string, T>> : std::true_type {};

template <class T>
struct IsNullable : std::false_type {};
template <class T>
struct IsNullable<std::optional<T>> : std::true_type {};

}  // namespace detail

/// How values of a type are read, written, checked and named.
template <class T>
struct ValueType;

template <class T>
requires std::is_arithmetic_v<T>
struct ValueType<T> {
  static std::string text() {
    if constexpr (std::same_as<T, bool>) {
      return "true or false";
    } else {
      return std::integral<T> ? "whole number" : "number";
    }
  }
  static T read(const ConfigValue& value, const std::string& path, const Range& range) {
    const auto rule = [&](std::string_view kind) {
      const std::string bounds = range.text();
      return bounds.empty() ? std::string(kind) : fmt::format("{} {}", kind, bounds);
    };
    if constexpr (std::same_as<T, bool>) {
      const std::optional<bool> flag = value.as_bool();
      if (!flag) detail::refuse(value, path, text());
      return *flag;
    } else if constexpr (std::integral<T>) {
      const std::optional<std::int64_t> whole = value.as_int();
      if (!whole || !std::in_range<T>(*whole)) detail::refuse(value, path, rule("a whole number"));
      if (!range.holds(static_cast<double>(*whole))) detail::refuse(value, path, range.text());
      return static_cast<T>(*whole);
    } else {
      const std::optional<double> number = value.as_double();
      if (!number) detail::refuse(value, path, rule("a number"));
      check(static_cast<T>(*number), path, range, value.place().prefix());
      return static_cast<T>(*number);
    }
  }
  static ConfigValue write(T value) {
    if constexpr (std::same_as<T, bool>) {
      return ConfigValue::of(value);
    } else if constexpr (std::integral<T>) {
      return ConfigValue::of(static_cast<std::int64_t>(value));
    } else {
      return ConfigValue::of(static_cast<double>(value));
    }
  }
  static void check(T value, const std::string& path, const Range& range,
                    const std::string& where = "") {
    if (std::same_as<T, bool> || range.holds(static_cast<double>(value))) return;
    fail(ErrorKind::config, "{}{} = {}: must be {}", where, path, value,
         range.rule_against(static_cast<double>(value)));
  }
};

template <>
struct ValueType<std::string> {
  static std::string text() { return "text"; }
  static std::string read(const ConfigValue& value, const std::string& path, const Range&) {
    if (!value.scalar()) detail::refuse(value, path, text());
    return value.scalar()->text;
  }
  static ConfigValue write(const std::string& value) { return ConfigValue::of(value); }
  static void check(const std::string&, const std::string&, const Range&) {}
};

template <NamedEnum E>
struct ValueType<E> {
  static std::string text() {
    std::string out;
    for (const auto& [value, name] : names(E{}))
      out += (out.empty() ? "" : " or ") + std::string(name);
    return out;
  }
  static E read(const ConfigValue& value, const std::string& path, const Range&) {
    std::vector<std::string> known;
    for (const auto& [each, name] : names(E{})) {
      if (value.scalar() && value.scalar()->text == name) return each;
      known.emplace_back(name);
    }
    const std::string hint = value.scalar() ? did_you_mean(value.scalar()->text, known) : "";
    detail::refuse(value, path, text() + hint);
  }
  static ConfigValue write(E value) { return ConfigValue::of(name_of(value)); }
  static void check(E, const std::string&, const Range&) {}
};

template <class T>
requires(detail::IsList<T>::value || detail::IsFixedList<T>::value) struct ValueType<T> {
  using Element = ValueType<typename T::value_type>;
  static std::string text() {
    const std::string one = Element::text();
    return one.starts_with("list ") ? "list of lists" + one.substr(4) : "list of " + one + "s";
  }
  static T read(const ConfigValue& value, const std::string& path, const Range& range) {
    if (!value.list()) detail::refuse(value, path, "a " + text());
    T out{};
    if constexpr (detail::IsList<T>::value) {
      out.resize(value.list()->size());
    } else if (value.list()->size() != out.size()) {
      detail::refuse(value, path, fmt::format("a list of exactly {}", out.size()));
    }
    for (std::size_t i = 0; i < out.size(); ++i) {
      out[i] = Element::read((*value.list())[i], fmt::format("{}[{}]", path, i), range);
    }
    return out;
  }
  static ConfigValue write(const T& value) {
    ConfigValue::List out;
    for (const auto& element : value) out.push_back(Element::write(element));
    return ConfigValue(std::move(out));
  }
  static void check(const T& value, const std::string& path, const Range& range) {
    for (std::size_t i = 0; i < value.size(); ++i) {
      Element::check(value[i], fmt::format("{}[{}]", path, i), range);
    }
  }
};

template <class T>
requires detail::IsNameMap<T>::value struct ValueType<T> {
  using Element = ValueType<typename T::mapped_type>;
  static std::string text() { return "map of names to " + Element::text(); }
  static T read(const ConfigValue& value, const std::string& path, const Range& range) {
    if (!value.map()) detail::refuse(value, path, "a " + text());
    T out;
    for (const auto& entry : *value.map()) {
      out[entry.key] = Element::read(entry.value, path + "." + entry.key, range);
    }
    return out;
  }
  static ConfigValue write(const T& value) {
    ConfigValue out = ConfigValue::empty_map();
    for (const auto& [key, element] : value) out[key] = Element::write(element);
    return out;
  }
  static void check(const T& value, const std::string& path, const Range& range) {
    for (const auto& [key, element] : value) Element::check(element, path + "." + key, range);
  }
};

template <class T>
requires detail::IsNullable<T>::value struct ValueType<T> {
  using Inner = ValueType<typename T::value_type>;
  static std::string text() { return Inner::text() + " or null"; }
  static T read(const ConfigValue& value, const std::string& path, const Range& range) {
    if (value.is_null()) return std::nullopt;
    return Inner::read(value, path, range);
  }
  static ConfigValue write(const T& value) { return value ? Inner::write(*value) : ConfigValue(); }
  static void check(const T& value, const std::string& path, const Range& range) {
    if (value) Inner::check(*value, path, range);
  }
};

template <>
struct ValueType<ConfigValue> {
  static std::string text() { return "any options"; }
  static ConfigValue read(const ConfigValue& value, const std::string&, const Range&) {
    return value;
  }
  static ConfigValue write(const ConfigValue& value) { return value; }
  static void check(const ConfigValue&, const std::string&, const Range&) {}
};

/// A value, or "auto": knurl works it out when the config is resolved.
template <class T>
struct OrAuto {
  std::optional<T> value = std::nullopt;

  OrAuto() = default;                           ///< auto
  OrAuto(T given) : value(std::move(given)) {}  // NOLINT(*-explicit-*): reads as a value
  [[nodiscard]] bool is_auto() const { return !value; }
  bool operator==(const OrAuto&) const = default;
};

template <class T>
struct ValueType<OrAuto<T>> {
  static std::string text() { return ValueType<T>::text() + " or auto"; }
  static OrAuto<T> read(const ConfigValue& value, const std::string& path, const Range& range) {
    if (value.scalar() && value.scalar()->text == "auto") return {};
    return ValueType<T>::read(value, path, range);
  }
  static ConfigValue write(const OrAuto<T>& value) {
    return value.value ? ValueType<T>::write(*value.value) : ConfigValue::of("auto");
  }
  static void check(const OrAuto<T>& value, const std::string& path, const Range& range) {
    if (value.value) ValueType<T>::check(*value.value, path, range);
  }
};

}  // namespace knurl
