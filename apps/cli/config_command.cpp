#include <algorithm>
#include <filesystem>

#include <fmt/format.h>

#include "knurl/algorithms/registry.h"
#include "knurl/apps/cli/cli.h"
#include "knurl/apps/cli/commands.h"
#include "knurl/apps/cli/planned_trial.h"
#include "knurl/core/config/yaml.h"

namespace knurl::cli {
namespace {

/// "[256, 256]": a value on one line.
std::string one_line(const ConfigValue& value) {
  if (value.map()) return value.map()->empty() ? "{}" : to_json(value);
  std::string text = to_yaml(value);
  text.pop_back();
  return text;
}

void print_fields(const Schema& schema, const void* object, const std::string& prefix,
                  const std::vector<std::string>& unused) {
  for (const Field& field : schema.fields()) {
    if (std::ranges::count(unused, field.name) > 0) continue;
    const void* member = field.in(object);
    const std::string name = prefix + field.name;
    if (field.type->nested()) {
      print_fields(*field.type->nested(), member, name + ".", {});
      continue;
    }
    const std::string range = field.range.text();
    fmt::print("  {} = {}\n", name, one_line(field.type->write(member, Shown::all)));
    fmt::print("      {}; {}{}{}\n", field.sentence, field.type->text(), range.empty() ? "" : "; ",
               range);
    if (!field.aliases.empty()) {
      fmt::print("      also: {}\n", fmt::join(field.aliases, ", "));
    }
  }
}

void print_algorithm(const AlgorithmConfig& config) {
  fmt::print("Options of {}: default, meaning, values.\n", config.algorithm());
  std::string group;
  for (const ConstSection& section : config.sections()) {
    if (section.group != group) fmt::print("\n{}\n", group = section.group);
    print_fields(*section.schema, section.object, "", config.unused_options());
  }
}

}  // namespace

int show_config(const ConfigArguments& arguments) {
  const std::filesystem::path path = arguments.what;
  const bool file =
      path.extension() == ".yaml" || path.extension() == ".yml" || std::filesystem::exists(path);
  if (!file) {
    print_algorithm(*make_config(arguments.what));
    return kSuccess;
  }
  for (const PlannedTrial& trial : trials_of_file(path)) {
    ConfigValue out = ConfigValue::empty_map();
    out["run"] = ConfigValue::of(trial.config->algorithm());
    out["stop"] = trial.stop.to_value();
    out["config"] = trial.config->resolved()->to_value();
    ConfigValue named = ConfigValue::empty_map();
    named[trial.name] = std::move(out);
    fmt::print("{}", to_yaml(named));
  }
  return kSuccess;
}

}  // namespace knurl::cli
