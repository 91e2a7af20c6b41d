#include "knurl/core/tune/stop.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "knurl/core/base/error.h"
#include "knurl/core/base/text.h"

namespace knurl::tune {
namespace {

void collect(const ConfigValue& map, const std::string& path, const std::string& prefix,
             std::vector<StopConditions::Condition>& out) {
  if (!map.map()) {
    fail(ErrorKind::config, "{}{} = {}: must be a map of metrics and numbers", map.place().prefix(),
         path, map.describe());
  }
  for (const auto& [key, value, place] : *map.map()) {
    const std::string metric = prefix + key;
    if (value.map()) {
      collect(value, fmt::format("{}.{}", path, key), metric + "/", out);
      continue;
    }
    const std::optional<bool> flag = value.as_bool();
    const std::optional<double> bound = flag ? std::optional(*flag ? 1.0 : 0.0) : value.as_double();
    if (!bound || std::isnan(*bound)) {
      const bool equals = key.find('=') != std::string::npos;
      fail(ErrorKind::config, "{}{}.{} = {}: must be a number{}", value.place().prefix(), path, key,
           value.describe(), equals ? "; write {metric: number}" : "");
    }
    out.push_back({.metric = metric, .bound = *bound, .place = place});
  }
}

}  // namespace

StopConditions StopConditions::from(const ConfigValue& map, const std::string& path) {
  StopConditions out;
  if (!map.is_null()) collect(map, path, "", out.conditions_);
  return out;
}

std::optional<std::string> StopConditions::met_by(const Result& result,
                                                  const MetricNames& known) const {
  for (const Condition& condition : conditions_) {
    const auto value = result.number(known.canonical(condition.metric));
    if (value && *value >= condition.bound) {
      return fmt::format("{} {} >= {:.10g}", condition.metric, figures(*value), condition.bound);
    }
  }
  return std::nullopt;
}

std::optional<double> StopConditions::progress(const Result& result,
                                               const MetricNames& known) const {
  std::optional<double> out;
  for (const Condition& condition : conditions_) {
    const MetricInfo* metric = known.find(condition.metric);
    if (!metric || metric->kind != MetricKind::counter || condition.bound <= 0.0) continue;
    if (const auto value = result.number(metric->name)) {
      out = std::max(out.value_or(0.0), std::min(1.0, *value / condition.bound));
    }
  }
  return out;
}

void StopConditions::update(const StopConditions& other, const MetricNames& known) {
  const auto canonical = [&](const Condition& c) { return known.canonical(c.metric); };
  for (const Condition& condition : other.conditions_) {
    const auto found = std::ranges::find(conditions_, canonical(condition), canonical);
    if (found == conditions_.end()) {
      conditions_.push_back(condition);
    } else {
      *found = condition;
    }
  }
}

ConfigValue StopConditions::to_value() const {
  ConfigValue out = ConfigValue::empty_map();
  for (const Condition& condition : conditions_) {
    out[condition.metric] = ConfigValue::of(condition.bound);
  }
  return out;
}

}  // namespace knurl::tune
