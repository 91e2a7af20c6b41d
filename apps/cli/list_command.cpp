#include <fmt/format.h>

#include "knurl/algorithms/registry.h"
#include "knurl/apps/cli/cli.h"
#include "knurl/apps/cli/commands.h"
#include "knurl/envs/registry.h"

namespace knurl::cli {

int list(const ListArguments& arguments) {
  if (arguments.what == "algorithms") {
    for (const AlgorithmEntry& entry : registered_algorithms()) {
      fmt::print("{:<24}{}\n", entry.name, entry.sentence);
    }
  } else {
    for (const EnvEntry& entry : registered_envs()) {
      fmt::print("{:<24}{}\n", entry.name, entry.sentence);
    }
  }
  return kSuccess;
}

}  // namespace knurl::cli
