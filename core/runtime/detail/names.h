#pragma once

#include <optional>
#include <source_location>
#include <string>
#include <string_view>

/// What messages call types, methods and functions.
namespace knurl::runtime::detail {

/// The text between `mark` and the end of the entry in "f() [with T = X; …]", less the marks of
/// unnamed namespaces.
constexpr std::string_view name_within(std::string_view text, std::string_view mark) {
  text.remove_prefix(text.find(mark) + mark.size());
  text = text.substr(0, text.find_first_of(";]"));
  constexpr std::string_view kUnnamed = "{anonymous}::";
  const auto unnamed = text.rfind(kUnnamed);
  if (unnamed != text.npos) text.remove_prefix(unnamed + kUnnamed.size());
  return text;
}

/// "StepCounter"
template <class NamedType>
constexpr std::string_view type_name() {
  return name_within(std::source_location::current().function_name(), "NamedType = ");
}

/// "StepCounter::add" for &StepCounter::add
template <auto NamedMethod>
constexpr std::string_view method_name() {
  const auto name = name_within(std::source_location::current().function_name(), "NamedMethod = ");
  return name.front() == '&' ? name.substr(1) : name;
}

/// What the dynamic linker knows the function at an address as; often nothing, as most functions of
/// a program are not exported.
std::optional<std::string> function_name(const void* address);

}  // namespace knurl::runtime::detail
