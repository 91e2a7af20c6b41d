#include <fmt/format.h>

#include "knurl/algorithms/registry.h"
#include "knurl/apps/cli/cli.h"
#include "knurl/apps/cli/commands.h"
#include "knurl/apps/cli/console.h"
#include "knurl/envs/registry.h"

namespace knurl::cli {
int list(const ListArguments& arguments) {
  if (arguments.what == "algorithms") {
    for (const AlgorithmEntry& entry : registered_algorithms()) {
      print_line(fmt::format("{:<24}{}", entry.name, entry.sentence));
    }
  } else if (arguments.what == "envs") {
    for (const EnvEntry& entry : registered_envs()) {
      print_line(fmt::format("{:<24}{}", entry.name, entry.sentence));
    }
  } else {
    return explain({});
  }
  return kSuccess;
}

}  // namespace knurl::cli
