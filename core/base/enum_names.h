#pragma once

#include <concepts>
#include <string_view>
#include <type_traits>

namespace knurl {

/// An enum that says its names once, for files, messages and results: `names(E)`, found beside the
/// enum, returns an array of pairs of value and name. The first name of a value is the one that is
/// written; others are read too.
template <class E>
concept NamedEnum = std::is_enum_v<E> && requires(E value) {
  names(value);
};

/// The name of an enum's value.
template <NamedEnum E>
constexpr std::string_view name_of(E value) {
  for (const auto& [each, name] : names(E{})) {
    if (each == value) return name;
  }
  return "?";
}

}  // namespace knurl
