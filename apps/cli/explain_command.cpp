#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "knurl/algorithms/glossary.h"
#include "knurl/algorithms/registry.h"
#include "knurl/apps/cli/cli.h"
#include "knurl/apps/cli/commands.h"
#include "knurl/apps/cli/console.h"

namespace knurl::cli {
namespace {

void print_explanation(const Explanation& explanation) {
  const MetricInfo& metric = explanation.metric;
  const std::string whose = explanation.algorithms.empty()
                                ? ""
                                : fmt::format(" ({})", fmt::join(explanation.algorithms, ", "));
  print_line(metric.name + whose);
  print_line(fmt::format("    {}", metric.sentence));
  if (!metric.aliases.empty()) {
    print_line(fmt::format("    also: {}", fmt::join(metric.aliases, ", ")));
  }
}

template <class Wanted>
void print_table(const std::vector<Explanation>& glossary, Wanted&& wanted) {
  print_line("\n| metric | what it says | also |\n|---|---|---|");
  for (const Explanation& each : glossary) {
    if (!wanted(each)) continue;
    std::vector<std::string> aliases;
    for (const std::string& alias : each.metric.aliases) {
      aliases.push_back(fmt::format("`{}`", alias));
    }
    print_line(fmt::format("| `{}` | {} | {} |", each.metric.name, each.metric.sentence,
                           fmt::join(aliases, ", ")));
  }
}

/// The page docs/metrics.md.
void print_markdown(const std::vector<Explanation>& glossary) {
  print_line(
      "# Metrics\n\n"
      "What an iteration reports, under RLlib 2.9's names; the other names work in stop "
      "conditions\n"
      "and as checkpoint scores too. `knurl explain METRIC` says the same of one. This page is\n"
      "written by `knurl explain --markdown`.\n\n"
      "## Of every algorithm");
  print_table(glossary, [](const Explanation& each) { return each.algorithms.empty(); });
  for (const AlgorithmEntry& algorithm : registered_algorithms()) {
    const auto is_own = [&](const Explanation& each) {
      return std::ranges::count(each.algorithms, algorithm.name) > 0;
    };
    if (std::ranges::none_of(glossary, is_own)) continue;
    print_line(fmt::format("\n## Of {}", algorithm.name));
    print_table(glossary, is_own);
  }
}

}  // namespace

int explain(const ExplainArguments& arguments) {
  std::vector<Explanation> found;
  for (const std::string& metric : arguments.metrics) {
    for (Explanation& each : explain_metric(metric)) found.push_back(std::move(each));
  }
  if (arguments.metrics.empty()) found = metric_glossary();
  if (arguments.markdown) {
    print_markdown(found);
  } else {
    for (const Explanation& each : found) print_explanation(each);
  }
  return kSuccess;
}

}  // namespace knurl::cli
