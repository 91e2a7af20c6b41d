#include <algorithm>
#include <filesystem>

#include <fmt/format.h>

#include "knurl/apps/cli/cli.h"
#include "knurl/apps/cli/commands.h"
#include "knurl/apps/cli/console.h"
#include "knurl/apps/cli/paths.h"
#include "knurl/core/base/text.h"
#include "knurl/core/config/yaml.h"
#include "knurl/envs/conformance.h"
#include "knurl/envs/registry.h"

namespace knurl::cli {
namespace {

/// The env_config that --config gives, as text or in a file.
ConfigValue env_config_of(const std::string& given) {
  if (given.empty()) return ConfigValue::empty_map();
  const std::filesystem::path path = expanded(given);
  const std::string extension = path.extension();
  const bool named_as_file = extension == ".yaml" || extension == ".yml" || extension == ".json";
  if (named_as_file || std::filesystem::is_regular_file(path)) return read_yaml_file(path);
  return parse_yaml(given, "--config");
}

const Violation* find_rule(const std::vector<Violation>& among, EnvRule rule) {
  const auto found = std::ranges::find(among, rule, &Violation::rule);
  return found == among.end() ? nullptr : &*found;
}

/// A line a rule, and below those that are broken what was seen.
void print_report(const EnvReport& report) {
  for (const auto& [rule, name] : names(EnvRule{})) {
    const Violation* broken = find_rule(report.violations, rule);
    const Violation* untried = find_rule(report.untried, rule);
    const char* state = broken ? "BROKEN" : untried ? "not tried" : "ok";
    print_line(fmt::format("{:<14}{:<11}{}{}", name, state, promise_of(rule),
                           untried ? fmt::format(" ({})", untried->text) : ""));
    if (broken) print_line(fmt::format("{:<25}seen: {}", "", broken->text));
  }
}

}  // namespace

int check_env_command(const CheckEnvArguments& arguments) {
  const ConfigValue config = env_config_of(arguments.config);
  EnvCheckOptions options;
  options.steps = arguments.steps.value_or(options.steps);
  options.seed =
      static_cast<std::uint64_t>(arguments.seed.value_or(static_cast<std::int64_t>(options.seed)));
  find_env(arguments.env);
  try {
    make_env(arguments.env, config);  // options that cannot mean anything are no fault of the env
  } catch (const Error& error) {
    if (error.kind() == ErrorKind::config) throw;
  }

  const EnvReport report = report_env(arguments.env, config, options);
  print_line(fmt::format("{}: {} random steps, seed {}\n", arguments.env, grouped(options.steps),
                         options.seed));
  print_report(report);
  for (const WrapperChoice& wrapper : wrappers_of(arguments.env, config)) {
    if (!entry_of(wrapper).by_run) continue;
    print_line(fmt::format("{}: is carried out by runs; nothing was to be tried", wrapper.name));
  }
  const std::size_t broken = report.violations.size();
  print_line(broken == 0 ? "\nno rule is broken"
                         : fmt::format("\n{} of {} rules broken", broken, names(EnvRule{}).size()));
  return broken == 0 ? kSuccess : kFailure;
}

}  // namespace knurl::cli
