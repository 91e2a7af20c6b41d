#include <algorithm>

#include <fmt/format.h>

#include "knurl/algorithms/registry.h"
#include "knurl/apps/cli/cli.h"
#include "knurl/apps/cli/commands.h"
#include "knurl/apps/cli/console.h"
#include "knurl/envs/registry.h"
#include "knurl/envs/wrappers/wrapper_list.h"
#include "knurl/models/custom_model.h"

namespace knurl::cli {
namespace {

void list_options(const Schema* options) {
  if (!options) return;
  for (const Field& field : options->fields()) {
    print_line(fmt::format("    {}: {}", field.name, field.sentence));
  }
}

void list_wrappers() {
  for (const WrapperEntry& entry : known_wrappers()) {
    print_line(fmt::format("{:<24}{}", entry.name, entry.sentence));
    list_options(entry.options);
  }
}

void list_models() {
  const std::vector<ModelEntry> models = registered_models();
  for (const ModelEntry& entry : models) {
    print_line(fmt::format("{:<24}{}", entry.name, entry.sentence));
    list_options(entry.options);
  }
  if (models.empty()) print_line("no models are registered: a program or a plug-in brings its own");
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
  } else if (arguments.what == "models") {
    list_models();
  } else {
    return explain({});
  }
  return kSuccess;
}

}  // namespace knurl::cli
