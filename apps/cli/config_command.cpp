#include <algorithm>
#include <filesystem>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "knurl/algorithms/registry.h"
#include "knurl/apps/cli/cli.h"
#include "knurl/apps/cli/commands.h"
#include "knurl/apps/cli/console.h"
#include "knurl/apps/cli/paths.h"
#include "knurl/apps/cli/planned_trial.h"
#include "knurl/core/base/error.h"
#include "knurl/core/config/yaml.h"
#include "knurl/envs/registry.h"
#include "knurl/models/custom_model.h"

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
    print_line(fmt::format("  {} = {}", name, one_line(field.type->write(member, Shown::all))));
    print_line(fmt::format("      {}; {}{}{}", in_own_words(field.sentence), field.type->text(),
                           range.empty() ? "" : "; ", range));
    if (field.aliases.empty()) continue;
    print_line(fmt::format("      also: {}", fmt::join(field.aliases, ", ")));
  }
}

void print_algorithm(const AlgorithmConfig& config) {
  print_line(fmt::format("Options of {}: default, meaning, values.", config.algorithm()));
  std::string group;
  for (const ConstSection& section : config.sections()) {
    if (section.group != group) print_line("\n" + (group = section.group));
    print_fields(*section.schema, section.object, "", config.unused_options());
  }
}

void print_env(const EnvEntry& entry) {
  print_line(fmt::format("Options of {} (env_config): default, meaning, values.\n", entry.name));
  if (entry.options) print_fields(*entry.options, entry.defaults.get(), "", {});
  const CommonEnvOptions common;
  print_fields(schema_of<CommonEnvOptions>(), &common, "", {});
}

void print_model(const ModelEntry& entry) {
  print_line(
      fmt::format("Options of {} (custom_model_config): default, meaning, values.\n", entry.name));
  if (entry.options) print_fields(*entry.options, entry.defaults.get(), "", {});
}

/// A file as it would be with every option written out.
void print_file(const std::filesystem::path& path) {
  ConfigValue all = ConfigValue::empty_map();
  for (const PlannedTrial& trial : trials_of_file(path)) {
    check_trial(trial);
    all[label_of(trial)] = to_value(trial);
  }
  print_line(to_yaml(all));
}

/// The algorithm of this name. Throws Error(config) naming what the word could have been instead.
std::unique_ptr<AlgorithmConfig> algorithm_of(const std::string& word) {
  const std::string env = did_you_mean_env(word);
  if (!env.empty()) {
    fail(ErrorKind::config, "{}: no algorithm, environment or file{}", word, env);
  }
  return make_config(word);
}

}  // namespace

int show_config(const ConfigArguments& arguments) {
  const std::filesystem::path path = expanded(arguments.what);
  const std::vector<EnvEntry> envs = registered_envs();
  const auto env = std::ranges::find_if(
      envs, [&](const EnvEntry& entry) { return entry.goes_by(arguments.what); });
  const std::vector<ModelEntry> models = registered_models();
  const auto model = std::ranges::find(models, arguments.what, &ModelEntry::name);
  if (path.extension() == ".yaml" || path.extension() == ".yml" ||
      std::filesystem::is_regular_file(path)) {
    print_file(path);
  } else if (env != envs.end()) {
    print_env(*env);
  } else if (model != models.end()) {
    print_model(*model);
  } else {
    print_algorithm(*algorithm_of(arguments.what));
  }
  return kSuccess;
}

}  // namespace knurl::cli
