#include "knurl/core/config/value.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>

#include <fmt/format.h>

#include "knurl/core/base/check.h"
#include "knurl/core/base/error.h"

namespace knurl {
namespace {

/// The whole text as a number, or nothing. Never looks at the locale.
std::optional<double> parse_double(std::string_view text) {
  if (!text.empty() && text.front() == '+') text.remove_prefix(1);
  std::string_view magnitude = text;
  const bool negative = !magnitude.empty() && magnitude.front() == '-';
  if (negative) magnitude.remove_prefix(1);
  if (magnitude == ".inf" || magnitude == ".Inf" || magnitude == "inf" || magnitude == "infinity") {
    const double inf = std::numeric_limits<double>::infinity();
    return negative ? -inf : inf;
  }
  if (text == ".nan" || text == ".NaN" || text == "nan" || text == "NaN") {
    return std::numeric_limits<double>::quiet_NaN();
  }
  double value = 0.0;
  const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (problem != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return std::isfinite(value) ? std::optional(value) : std::nullopt;
}

bool same(const ConfigValue::Map& a, const ConfigValue::Map& b) {
  return std::ranges::equal(
      a, b, [](const auto& x, const auto& y) { return x.key == y.key && x.value == y.value; });
}

}  // namespace

std::string Place::text() const {
  if (!source) return "";
  return line > 0 ? fmt::format("{}:{}", *source, line) : *source;
}

std::string Place::prefix() const {
  return source ? text() + ": " : "";
}

ConfigValue::ConfigValue(Scalar scalar, Place place)
    : data_(std::move(scalar)), place_(std::move(place)) {}
ConfigValue::ConfigValue(List list, Place place)
    : data_(std::move(list)), place_(std::move(place)) {}
ConfigValue::ConfigValue(Map map, Place place) : data_(std::move(map)), place_(std::move(place)) {}

ConfigValue ConfigValue::of(bool value) {
  return ConfigValue(Scalar{value ? "true" : "false"});
}
ConfigValue ConfigValue::of(std::int64_t value) {
  return ConfigValue(Scalar{fmt::to_string(value)});
}
ConfigValue ConfigValue::of(std::string_view text) {
  return ConfigValue(Scalar{.text = std::string(text), .quoted = true});
}
ConfigValue ConfigValue::of(double value) {
  if (std::isnan(value)) return ConfigValue(Scalar{".nan"});
  if (std::isinf(value)) return ConfigValue(Scalar{value > 0 ? ".inf" : "-.inf"});
  return ConfigValue(Scalar{fmt::format("{}", value)});
}

const ConfigValue* ConfigValue::find(std::string_view key) const {
  const Map* entries = map();
  if (!entries) return nullptr;
  const auto found = std::ranges::find(*entries, key, &Entry::key);
  return found == entries->end() ? nullptr : &found->value;
}

ConfigValue* ConfigValue::find(std::string_view key) {
  return const_cast<ConfigValue*>(std::as_const(*this).find(key));
}

ConfigValue& ConfigValue::operator[](std::string_view key) {
  if (is_null()) data_ = Map{};
  check(map() != nullptr, "only a map has entries");
  if (ConfigValue* found = find(key)) return *found;
  map()->push_back({std::string(key), {}, {}});
  return map()->back().value;
}

std::optional<ConfigValue> ConfigValue::take(std::string_view key) {
  Map* entries = map();
  if (!entries) return std::nullopt;
  const auto found = std::ranges::find(*entries, key, &Entry::key);
  if (found == entries->end()) return std::nullopt;
  ConfigValue value = std::move(found->value);
  entries->erase(found);
  return value;
}

std::optional<bool> ConfigValue::as_bool() const {
  const Scalar* s = scalar();
  if (!s || s->quoted) return std::nullopt;
  for (const auto* yes : {"true", "True", "TRUE", "yes", "Yes", "on", "On"}) {
    if (s->text == yes) return true;
  }
  for (const auto* no : {"false", "False", "FALSE", "no", "No", "off", "Off"}) {
    if (s->text == no) return false;
  }
  return std::nullopt;
}

std::optional<std::int64_t> ConfigValue::as_int() const {
  const Scalar* s = scalar();
  if (!s || s->quoted) return std::nullopt;
  const std::string_view text = s->text;
  std::int64_t value = 0;
  const char* begin = text.data() + (text.starts_with('+') ? 1 : 0);
  const char* end = text.data() + text.size();
  const auto [stop, problem] = std::from_chars(begin, end, value);
  if (problem == std::errc{} && stop == end) return value;
  const std::optional<double> number = parse_double(text);  // 1e5, 20000.0
  constexpr double kExact = 9007199254740992.0;             // 2^53
  if (!number || std::abs(*number) > kExact || *number != std::floor(*number)) return std::nullopt;
  return static_cast<std::int64_t>(*number);
}

std::optional<double> ConfigValue::as_double() const {
  const Scalar* s = scalar();
  if (!s) return std::nullopt;
  const std::optional<double> number = parse_double(s->text);
  // JSON can write infinities as text only
  if (s->quoted && (!number || !std::isinf(*number))) return std::nullopt;
  return number;
}

std::string ConfigValue::describe() const {
  if (is_null()) return "null";
  if (const Scalar* s = scalar()) return s->quoted ? fmt::format("\"{}\"", s->text) : s->text;
  if (const List* l = list()) return fmt::format("a list of {}", l->size());
  return fmt::format("a map of {}", map()->size());
}

bool operator==(const ConfigValue& a, const ConfigValue& b) {
  if (a.data_.index() != b.data_.index()) return false;
  if (a.scalar()) return *a.scalar() == *b.scalar();
  if (a.list()) return std::ranges::equal(*a.list(), *b.list());
  return a.is_null() || same(*a.map(), *b.map());
}

void merge_into(ConfigValue& base, const ConfigValue& over) {
  if (!over.map() || !base.map()) {
    base = over;
    return;
  }
  for (const auto& [key, value, place] : *over.map()) {
    if (ConfigValue* found = base.find(key)) {
      merge_into(*found, value);
    } else {
      base.map()->push_back({key, value, place});
    }
  }
}

void set_path(ConfigValue& root, std::string_view path, ConfigValue value) {
  ConfigValue* at = &root;
  std::string_view rest = path;
  while (true) {
    if (!at->is_null() && !at->map()) {
      fail(ErrorKind::config, "{}{}: {} has no part \"{}\"", value.place().prefix(), path,
           at->describe(), rest);
    }
    const std::size_t dot = rest.find('.');
    const std::string_view key = rest.substr(0, dot);
    if (key.empty()) {
      fail(ErrorKind::config, "{}\"{}\": a path is names with dots between them",
           value.place().prefix(), path);
    }
    if (!at->find(key)) {
      (*at)[key] = ConfigValue();
      at->map()->back().place = value.place();
    }
    at = at->find(key);
    if (dot == std::string_view::npos) break;
    rest.remove_prefix(dot + 1);
  }
  merge_into(*at, value);
}

}  // namespace knurl
