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

#include "knurl/core/base/error.h"
#include "knurl/core/config/opt.h"
#include "knurl/core/config/schema.h"

/// From a struct's field list to its Schema. A struct of options looks like this:
///
///   struct CorridorConfig {
///     int length = 5;
///     static void fields(auto& self, auto&& field) {
///       field("length", self.length, "cells to the exit", knurl::Range{1, 1'000});
///     }
///   };
///
/// A field is its name in files, the member, one sentence, and then in any order a Range and
/// Aliases. Members are bool, whole numbers, numbers, std::string, enums with names(), lists,
/// std::optional (null in files), std::map with names as keys, structs with fields, ConfigValue
/// (any keys), and Opt of each of these, which knows whether it was given.
namespace knurl {

namespace detail {

struct IgnoreFields {
  template <class... T>
  void operator()(T&&...) const {}
};

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

/// A struct with a field list.
template <class T>
concept HasFields = requires(T& object) {
  T::fields(object, detail::IgnoreFields{});
};

/// An enum whose names files use: `names(E)` returns an array of pairs of value and name.
template <class E>
concept NamedEnum = std::is_enum_v<E> && requires(E value) {
  names(value);
};

/// The name of an enum's value.
template <NamedEnum E>
std::string_view name_of(E value) {
  for (const auto& [each, name] : names(E{})) {
    if (each == value) return name;
  }
  return "?";
}

template <HasFields T>
const Schema& schema_of();

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
         range.bounded() ? range.text() : "a number");
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
  static std::string text() { return "list of " + Element::text(); }
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

template <HasFields T>
struct ValueType<T> {
  static std::string text() { return "options"; }
  static T read(const ConfigValue& value, const std::string& path, const Range&) {
    T out;
    read_fields(value, schema_of<T>(), &out, path);
    return out;
  }
  static ConfigValue write(const T& value) { return schema_of<T>().write(&value); }
  static void check(const T& value, const std::string& path, const Range&) {
    schema_of<T>().check(&value, path);
  }
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

namespace detail {

template <class T>
struct Unwrapped {
  using type = T;
};
template <class T>
struct Unwrapped<Opt<T>> {
  using type = T;
};

/// FieldType of a member of type M (an Opt or a plain value).
template <class M>
class MemberType final : public FieldType {
  using T = typename Unwrapped<M>::type;

 public:
  void read(void* member, const ConfigValue& value, const std::string& path,
            const Range& range) const override {
    M& target = *static_cast<M*>(member);
    if constexpr (HasFields<M>) {
      read_fields(value, schema_of<M>(), &target, path);  // keeps what the map does not give
    } else if constexpr (std::same_as<T, ConfigValue>) {
      ConfigValue merged = static_cast<const ConfigValue&>(target);
      merge_into(merged, value);
      target = M(std::move(merged));
    } else {
      target = M(ValueType<T>::read(value, path, range));
    }
  }
  [[nodiscard]] ConfigValue write(const void* member, Shown shown) const override {
    if constexpr (HasFields<M>) {
      return schema_of<M>().write(member, shown);
    } else {
      return ValueType<T>::write(get(member));
    }
  }
  void check(const void* member, const std::string& path, const Range& range) const override {
    ValueType<T>::check(get(member), path, range);
  }
  void merge(void* member, const void* from) const override {
    M& target = *static_cast<M*>(member);
    const M& source = *static_cast<const M*>(from);
    if constexpr (IsOpt<M>::value) {
      target.merge(source);
    } else if constexpr (HasFields<M>) {
      schema_of<M>().merge(member, from);
    } else {
      target = source;
    }
  }
  [[nodiscard]] bool given(const void* member) const override {
    if constexpr (IsOpt<M>::value) {
      return static_cast<const M*>(member)->given();
    } else if constexpr (HasFields<M>) {
      for (const Field& field : schema_of<M>().fields()) {
        if (field.type->given(field.in(member))) return true;
      }
      return false;
    } else {
      return true;
    }
  }
  void mark_given(void* member, const ConfigValue* given) const override {
    M& target = *static_cast<M*>(member);
    if constexpr (IsOpt<M>::value) {
      if (!given) target.forget_given();
    } else if constexpr (HasFields<M>) {
      for (const Field& field : schema_of<M>().fields()) {
        field.type->mark_given(field.in(member), given ? given->find(field.name) : nullptr);
      }
    }
  }
  [[nodiscard]] std::string text() const override { return ValueType<T>::text(); }
  [[nodiscard]] const Schema* nested() const override {
    if constexpr (HasFields<T>) {
      return &schema_of<T>();
    } else {
      return nullptr;
    }
  }
  [[nodiscard]] bool free_form() const override { return std::same_as<T, ConfigValue>; }

 private:
  static const T& get(const void* member) { return *static_cast<const M*>(member); }
};

/// Called once per field of a default object: notes where the member lies.
class FieldCollector {
 public:
  FieldCollector(const void* object, std::vector<Field>& out) : object_(object), out_(out) {}

  template <class M, class... Attributes>
  void operator()(std::string name, const M& member, std::string sentence,
                  Attributes... attributes) {
    Field field{.name = std::move(name),
                .sentence = std::move(sentence),
                .offset = reinterpret_cast<const std::byte*>(&member) -
                          static_cast<const std::byte*>(object_),
                .type = std::make_shared<MemberType<M>>()};
    (apply(field, std::move(attributes)), ...);
    out_.push_back(std::move(field));
  }

 private:
  static void apply(Field& field, Range range) { field.range = range; }
  static void apply(Field& field, Aliases aliases) { field.aliases = std::move(aliases.names); }

  const void* object_;
  std::vector<Field>& out_;
};

}  // namespace detail

/// The schema of a struct with fields, made once.
template <HasFields T>
const Schema& schema_of() {
  static const Schema schema = [] {
    std::vector<Field> fields;
    const T object{};
    T::fields(object, detail::FieldCollector(&object, fields));
    return Schema(std::move(fields));
  }();
  return schema;
}

}  // namespace knurl
