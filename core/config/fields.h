#pragma once

#include <memory>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "knurl/core/config/opt.h"
#include "knurl/core/config/schema.h"
#include "knurl/core/config/value_type.h"

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

}  // namespace detail

/// A struct with a field list.
template <class T>
concept HasFields = requires(T& object) {
  T::fields(object, detail::IgnoreFields{});
};

template <HasFields T>
const Schema& schema_of();

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
