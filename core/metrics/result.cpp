#include "knurl/core/metrics/result.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "knurl/core/config/schema.h"

namespace knurl {
namespace {

using Json = nlohmann::ordered_json;

/// What stands where there is no number.
enum class Missing { null, reason };

Json json_of(const Result::Value& value, Missing missing) {
  return std::visit(
      [&](const auto& v) -> Json {
        using T = std::remove_cvref_t<decltype(v)>;
        if constexpr (std::is_same_v<T, Result::Nothing>) {
          return missing == Missing::null ? Json(nullptr) : Json(v.why);
        } else if constexpr (std::is_same_v<T, double>) {
          return std::isfinite(v) ? Json(v) : Json(nullptr);
        } else {
          return v;
        }
      },
      value);
}

/// The object that a path's last part belongs to.
Json& parent_of(Json& root, std::string_view& path) {
  Json* at = &root;
  for (std::size_t slash; (slash = path.find('/')) != std::string_view::npos;) {
    at = &(*at)[std::string(path.substr(0, slash))];
    path.remove_prefix(slash + 1);
  }
  return *at;
}

Json nested(const Result& result, Missing missing) {
  Json root = Json::object();
  for (const auto& [name, value] : result.entries()) {
    std::string_view path = name;
    Json& parent = parent_of(root, path);
    parent[std::string(path)] = json_of(value, missing);
  }
  return root;
}

void print(const Json& object, int indent, std::string& out) {
  for (const auto& [key, value] : object.items()) {
    if (value.is_array()) continue;
    const std::string label = fmt::format("{:{}}{}:", "", indent, key);
    if (value.is_object()) {
      std::string inner;
      print(value, indent + 2, inner);
      if (!inner.empty()) out += label + "\n" + inner;
      continue;
    }
    out += label;
    if (value.is_string()) {
      out += fmt::format(" {}\n", value.get<std::string>());
    } else {
      out += fmt::format(" {}\n", value.dump());
    }
  }
}

void collect_numbers(const Json& object, const std::string& prefix, Result& out) {
  for (const auto& [key, value] : object.items()) {
    if (value.is_object()) {
      collect_numbers(value, prefix + key + "/", out);
    } else if (value.is_number()) {
      out.set(prefix + key, value.get<double>());
    }
  }
}

}  // namespace

const MetricInfo* MetricNames::find(std::string_view name) const {
  const auto found = std::ranges::find_if(metrics_, [&](const MetricInfo& metric) {
    return metric.name == name || std::ranges::count(metric.aliases, name) > 0;
  });
  return found == metrics_.end() ? nullptr : &*found;
}

std::string MetricNames::canonical(std::string_view name) const {
  const MetricInfo* metric = find(name);
  return metric ? metric->name : std::string(name);
}

std::optional<std::string> MetricNames::problem_with(std::string_view name) const {
  if (const MetricInfo* metric = find(name)) {
    if (metric->kind != MetricKind::list) return std::nullopt;
    return "is a list, not a number";
  }
  std::vector<std::string> known;
  for (const MetricInfo& metric : metrics_) {
    if (metric.kind == MetricKind::list) continue;
    known.push_back(metric.name);
    known.insert(known.end(), metric.aliases.begin(), metric.aliases.end());
  }
  return fmt::format("no such metric is reported{}", did_you_mean(name, known));
}

void Result::set(std::string_view name, Value value) {
  if (const auto* number = std::get_if<double>(&value); number && std::isnan(*number)) {
    value = Nothing{};
  }
  const auto found = std::ranges::find(entries_, name, &Entry::name);
  if (found == entries_.end()) {
    entries_.push_back({std::string(name), std::move(value)});
  } else {
    found->value = std::move(value);
  }
}

void Result::merge(const Result& other, std::string_view prefix) {
  for (const auto& [name, value] : other.entries_) set(fmt::format("{}{}", prefix, name), value);
}

const Result::Value* Result::find(std::string_view name) const {
  const auto found = std::ranges::find(entries_, name, &Entry::name);
  return found == entries_.end() ? nullptr : &found->value;
}

std::optional<double> Result::number(std::string_view name) const {
  const Value* value = find(name);
  return value ? number_of(*value) : std::nullopt;
}

std::optional<double> Result::number_of(const Value& value) {
  if (const auto* number = std::get_if<double>(&value)) return *number;
  if (const auto* whole = std::get_if<std::int64_t>(&value)) return static_cast<double>(*whole);
  if (const auto* flag = std::get_if<bool>(&value)) return *flag ? 1.0 : 0.0;
  return std::nullopt;
}

std::string Result::to_json() const {
  return nested(*this, Missing::null).dump();
}

std::optional<Result> numbers_of_json(std::string_view line) {
  const Json json = Json::parse(line, nullptr, false);
  if (!json.is_object()) return std::nullopt;
  Result out;
  collect_numbers(json, "", out);
  return out;
}

std::string pretty_print(const Result& result) {
  std::string out;
  print(nested(result, Missing::reason), 0, out);
  return out;
}

}  // namespace knurl
