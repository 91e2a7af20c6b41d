#include <algorithm>
#include <set>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "knurl/algorithms/metrics.h"
#include "knurl/algorithms/registry.h"
#include "knurl/apps/cli/cli.h"
#include "knurl/apps/cli/commands.h"
#include "knurl/apps/cli/console.h"
#include "knurl/envs/registry.h"
#include "knurl/envs/wrappers/wrapper_list.h"

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

void list_wrappers() {
  for (const WrapperEntry& entry : known_wrappers()) {
    print_line(fmt::format("{:<24}{}", entry.name, entry.sentence));
    for (const Field& field : entry.options->fields()) {
      print_line(fmt::format("    {}: {}", field.name, field.sentence));
    }
  }
}

void list_envs() {
  const std::vector<EnvEntry> envs = registered_envs();
  std::size_t width = 0;
  for (const EnvEntry& entry : envs) width = std::max(width, entry.name.size() + 2);
  for (const EnvEntry& entry : envs) {
    print_line(fmt::format("{:<{}}{}", entry.name, width, entry.sentence));
    for (const std::string& alias : entry.aliases) print_line("    also: " + alias);
  }
}

}  // namespace

int list(const ListArguments& arguments) {
  if (arguments.what == "algorithms") {
    for (const AlgorithmEntry& entry : registered_algorithms()) {
      print_line(fmt::format("{:<24}{}", entry.name, entry.sentence));
    }
  } else if (arguments.what == "envs") {
    list_envs();
  } else if (arguments.what == "wrappers") {
    list_wrappers();
  } else {
    list_metrics();
  }
  return kSuccess;
}

}  // namespace knurl::cli
