#include "knurl/algorithms/glossary.h"

#include <algorithm>
#include <iterator>
#include <optional>
#include <set>
#include <string_view>

#include <fmt/format.h>

#include "knurl/algorithms/metrics.h"
#include "knurl/algorithms/registry.h"
#include "knurl/core/base/error.h"
#include "knurl/core/config/schema.h"
#include "knurl/core/config/yaml.h"
#include "knurl/core/tune/trial.h"

namespace knurl {
namespace {

constexpr std::string_view kEvaluation = "evaluation/";
constexpr const char* kAnyInfo = "NAME";

/// All that results of registered algorithms can hold where an env has one info number.
std::vector<Explanation> explanations(const std::string& info) {
  const std::vector<AlgorithmEntry> algorithms = registered_algorithms();
  std::vector<Explanation> out;
  for (const AlgorithmEntry& algorithm : algorithms) {
    const auto config = algorithm.make_config();
    config->update(parse_yaml("{evaluation_interval: 1}", "glossary"), "config");
    const MetricNames names = metric_names(*config, EnvSpec{.info = {info}});
    for (const MetricInfo& metric : names.metrics()) {
      auto known = std::ranges::find_if(out, [&](const Explanation& each) {
        return each.metric.name == metric.name && each.metric.sentence == metric.sentence;
      });
      if (known == out.end()) known = out.insert(out.end(), {.metric = metric});
      known->algorithms.push_back(algorithm.name);
    }
  }
  for (Explanation& each : out) {
    if (each.algorithms.size() == algorithms.size()) each.algorithms.clear();
  }
  for (const MetricInfo& fact : tune::trial_facts()) out.push_back({.metric = fact});
  std::ranges::stable_partition(out, [](const Explanation& e) { return e.algorithms.empty(); });
  return out;
}

/// The info number that a name such as "custom_metrics/success_mean" is about.
std::optional<std::string> info_of(std::string_view name) {
  constexpr std::string_view kCustom = "custom_metrics/";
  const std::size_t at = name.find(kCustom);
  const std::size_t end = name.rfind('_');
  if (at == std::string_view::npos || end <= at + kCustom.size()) return std::nullopt;
  return std::string(name.substr(at + kCustom.size(), end - at - kCustom.size()));
}

std::vector<std::string> names_of(const MetricInfo& metric) {
  std::vector<std::string> names{metric.name};
  names.insert(names.end(), metric.aliases.begin(), metric.aliases.end());
  return names;
}

/// Those that have a name of which `fits` holds.
template <class Fits>
std::vector<Explanation> those_with(const std::vector<Explanation>& all, Fits&& fits) {
  std::vector<Explanation> out;
  for (const Explanation& each : all) {
    if (std::ranges::any_of(names_of(each.metric), fits)) out.push_back(each);
  }
  return out;
}

/// Every name, and its last part, by which people look for it.
std::vector<std::string> searched_names(const std::vector<Explanation>& all) {
  std::set<std::string> names;
  for (const Explanation& each : all) {
    for (const std::string& name : names_of(each.metric)) {
      names.insert(name);
      names.insert(name.substr(name.rfind('/') + 1));
    }
  }
  return {names.begin(), names.end()};
}

/// What an unknown name may stand for: "lr" for cur_lr, "success_mean" for an env's own number.
std::string hint_for(const std::string& name, const std::vector<std::string>& names) {
  const auto longer = std::ranges::find_if(
      names, [&](const std::string& each) { return each.ends_with("_" + name); });
  if (longer != names.end() && longer->find('/') == std::string::npos) {
    return fmt::format("; did you mean {}?", *longer);
  }
  std::string otherwise = "; `knurl explain` shows what there is";
  for (const char* spread : {"_mean", "_min", "_max"}) {
    if (!name.ends_with(spread)) continue;
    otherwise = fmt::format("; a number of an env's or of callbacks is custom_metrics/{}", name);
  }
  return did_you_mean(name, names, otherwise);
}

}  // namespace

std::vector<Explanation> metric_glossary() {
  std::vector<Explanation> all = explanations(kAnyInfo);
  std::erase_if(all, [](const Explanation& e) { return e.metric.name.starts_with(kEvaluation); });
  const auto some =
      std::ranges::find_if_not(all, &std::vector<std::string>::empty, &Explanation::algorithms);
  all.insert(some, {.metric = {.name = fmt::format("{}…", kEvaluation),
                               .sentence = "the same of evaluation's episodes, where "
                                           "evaluation_interval is set"}});
  return all;
}

std::vector<Explanation> explain_metric(const std::string& name) {
  const std::vector<Explanation> all = explanations(info_of(name).value_or(kAnyInfo));
  std::vector<Explanation> found;
  std::ranges::copy_if(all, std::back_inserter(found),
                       [&](const Explanation& each) { return each.metric.name == name; });
  if (found.empty()) {
    found = those_with(all, [&](const std::string& each) { return each == name; });
  }
  if (found.empty()) {
    found = those_with(all, [&](const std::string& each) { return each.ends_with("/" + name); });
  }
  if (!found.empty()) return found;
  fail(ErrorKind::config, "{}: no such metric{}", name, hint_for(name, searched_names(all)));
}

}  // namespace knurl
