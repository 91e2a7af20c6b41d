#include <set>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "knurl/algorithms/metrics.h"
#include "knurl/algorithms/registry.h"
#include "knurl/apps/cli/cli.h"
#include "knurl/apps/cli/commands.h"
#include "knurl/apps/cli/console.h"
#include "knurl/envs/registry.h"

namespace knurl::cli {
namespace {

/// Those of all algorithms, each once; an env's own info numbers come on top.
void list_metrics() {
  std::set<std::string> shown;
  for (const AlgorithmEntry& entry : registered_algorithms()) {
    const MetricNames names = metric_names(*entry.make_config(), EnvSpec{});
    for (const MetricInfo& metric : names.metrics()) {
      if (!shown.insert(metric.name).second) continue;
      print_line(metric.name);
      print_line(fmt::format("    {}", metric.sentence));
      if (metric.aliases.empty()) continue;
      print_line(fmt::format("    also: {}", fmt::join(metric.aliases, ", ")));
    }
  }
  print_line("custom_metrics/<info>_mean, _min, _max");
  print_line("    the info numbers that an env names, at episode ends");
  print_line("evaluation/…");
  print_line("    the same of evaluation's episodes, where evaluation_interval is set");
}

}  // namespace

int list(const ListArguments& arguments) {
  if (arguments.what == "algorithms") {
    for (const AlgorithmEntry& entry : registered_algorithms()) {
      print_line(fmt::format("{:<24}{}", entry.name, entry.sentence));
    }
  } else if (arguments.what == "envs") {
    for (const EnvEntry& entry : registered_envs()) {
      print_line(fmt::format("{:<28}{}", entry.name, entry.sentence));
      if (entry.aliases.empty()) continue;
      print_line(fmt::format("    also: {}", fmt::join(entry.aliases, ", ")));
    }
  } else {
    list_metrics();
  }
  return kSuccess;
}

}  // namespace knurl::cli
