#include "knurl/core/tune/experiment.h"

#include <utility>

#include <fmt/format.h>

#include "knurl/core/base/error.h"
#include "knurl/core/config/foreign_keys.h"
#include "knurl/core/config/problems.h"
#include "knurl/core/tune/grid.h"

namespace knurl::tune {
namespace {

constexpr auto kNoEffect = ForeignKey::Kind::no_effect;
constexpr auto kNotYet = ForeignKey::Kind::not_yet;

// clang-format off
/// What Tune's experiments have beyond ours.
constexpr ForeignKey kTuneKeys[] = {
    {"pass_criteria", kNoEffect, "", "for RLlib's own tests"},
    {"verbose", kNoEffect, "", "the command line has --quiet and --verbose"},
    {"resources_per_trial", kNoEffect, "", "trials run one after the other"},
    {"max_concurrent_trials", kNoEffect, "", "trials run one after the other"},
    {"reuse_actors", kNoEffect, "", "trials run one after the other"},
    {"log_to_file", kNoEffect, "", "results are always written to the trial's directory"},
    {"raise_on_failed_trial", kNotYet, "[true]", "the exit code tells of a trial that failed"},
    {"fail_fast", kNotYet, "[false]", "the trials after one that fails are run"},
    {"max_failures", kNotYet, "[0]", "starting again after a failure is not available yet; `knurl train --resume` goes on"},
    {"restore", kNotYet, "[null]", "use `knurl train --resume DIR`, or --init-from DIR for the weights alone"},
    {"resume", kNotYet, "[false]", "use `knurl train --resume DIR`"},
    {"scheduler", kNotYet, "[null]", "schedulers of trials are not available yet"},
    {"search_alg", kNotYet, "[null]", "searching is not available yet"},
    {"time_budget_s", kNotYet, "[null]", "use stop: {time_total_s: …}"},
    {"trial_name_creator", kNotYet, "[null]", "trials are named by algorithm, env and time"},
    {"trial_dirname_creator", kNotYet, "[null]", "trials are named by algorithm, env and time"},
    {"sync_config", kNotYet, "[null, {}]", "copying results elsewhere is not available yet"},
    {"callbacks", kNotYet, "[null, []]", "not available yet"},
};
// clang-format on

/// Options that stand beside the others in files, but belong to checkpoint_config.
void gather_checkpoint_options(ConfigValue& map, const std::string& path, Problems& problems) {
  const ConfigValue* below = map.find("checkpoint_config");
  if (below && !below->map() && !below->is_null()) return;  // read_fields says what is wrong
  ConfigValue moved = ConfigValue::empty_map();
  for (const Field& field : schema_of<CheckpointOptions>().fields()) {
    std::vector<std::string> known = field.aliases;
    known.push_back(field.name);
    for (const std::string& name : known) {
      std::optional<ConfigValue> value = map.take(name);
      if (!value) continue;
      const ConfigValue* twin = nullptr;
      for (const std::string& other : known) {
        const ConfigValue* part = map.find("checkpoint_config");
        if (!part || !(twin = part->find(other))) continue;
        problems.add(value->place(),
                     fmt::format("{}{}.{}: the same option as checkpoint_config.{} on line {}; "
                                 "give one of them",
                                 value->place().prefix(), path, name, other, twin->place().line));
        break;
      }
      if (!twin) moved[name] = std::move(*value);
    }
  }
  if (!moved.map()->empty()) merge_into(map["checkpoint_config"], moved);
}

/// Takes out the keys that belong elsewhere, and says where.
void refuse_misplaced(ConfigValue& map, const std::string& path, const KeyHint& hint,
                      Problems& problems) {
  if (!hint) return;
  std::erase_if(*map.map(), [&](const ConfigValue::Entry& entry) {
    if (schema_of<Experiment>().find(entry.key)) return false;
    const std::string text = hint(entry.key);
    if (text.empty()) return false;
    problems.add(entry.place,
                 fmt::format("{}{}.{}: {}", entry.place.prefix(), path, entry.key, text));
    return true;
  });
}

const ConfigValue* find_either(const ConfigValue& map, const char* name, const char* alias) {
  const ConfigValue* value = map.find(name);
  return value ? value : map.find(alias);
}

Place place_of(const ConfigValue& map, const char* name, const char* alias) {
  const ConfigValue* value = find_either(map, name, alias);
  return value ? value->place() : map.place();
}

NamedExperiment parse_experiment(const std::string& name, ConfigValue map, const Place& place,
                                 const KeyHint& hint, Problems& problems) {
  NamedExperiment out{.name = name,
                      .run_place = place_of(map, "run", "algo"),
                      .env_place = place_of(map, "env", "env")};
  out.notes = take_foreign_keys(map, kTuneKeys, name, problems);
  gather_checkpoint_options(map, name, problems);
  refuse_misplaced(map, name, hint, problems);
  Experiment& experiment = out.experiment;
  const Section section{.schema = &schema_of<Experiment>(), .object = &experiment};
  read_sections(map, std::span(&section, 1), name, problems);
  CheckpointOptions& checkpoints = experiment.checkpoint_config;
  if (const std::string score = *checkpoints.checkpoint_score_attribute;
      score.starts_with("min-")) {
    set_score(checkpoints, score);
  }
  if (experiment.run->empty()) {
    problems.add(place, fmt::format("{}{}.run: the algorithm is missing", place.prefix(), name));
  }
  if (experiment.num_samples > 1) {
    const Place there = place_of(map, "num_samples", "num_samples");
    problems.add(there, fmt::format("{}{}.num_samples = {}: several samples are not available yet",
                                    there.prefix(), name, experiment.num_samples.value()));
  }
  return out;
}

}  // namespace

void set_score(CheckpointOptions& options, const std::string& attribute) {
  const bool small_is_good = attribute.starts_with("min-");
  options.checkpoint_score_attribute = small_is_good ? attribute.substr(4) : attribute;
  options.checkpoint_score_order = small_is_good ? ScoreOrder::min : ScoreOrder::max;
}

std::vector<NamedExperiment> parse_experiments(const ConfigValue& file) {
  Problems problems;
  std::vector<NamedExperiment> out = parse_experiments(file, {}, problems);
  problems.throw_any();
  return out;
}

std::vector<NamedExperiment> parse_experiments(const ConfigValue& file, const KeyHint& hint,
                                               Problems& problems) {
  if (!file.map() || file.map()->empty()) {
    fail(ErrorKind::config, "{}: must hold experiments, as name: {{run: PPO, env: CartPole-v1}}",
         file.place().text());
  }
  if (const ConfigValue* run = find_either(file, "run", "algo"); run && run->scalar()) {
    fail(ErrorKind::config,
         "{}run: the file holds an experiment without a name; write one above it, as my-name:, and "
         "indent the rest",
         run->place().prefix());
  }
  std::vector<NamedExperiment> out;
  for (const auto& [name, value, place] : *file.map()) {
    if (value.map()) {
      for (GridPoint& point : grid_points(value, name, problems)) {
        out.push_back(parse_experiment(name, std::move(point.value), place, hint, problems));
        out.back().tag = std::move(point.tag);
      }
    } else {
      problems.add(place, fmt::format("{}{} = {}: must be an experiment, as "
                                      "{{run: PPO, env: CartPole-v1}}",
                                      place.prefix(), name, value.describe()));
    }
  }
  return out;
}

}  // namespace knurl::tune
