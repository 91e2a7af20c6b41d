#include "row.h"

#include <algorithm>
#include <cctype>
#include <cmath>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "knurl/core/base/error.h"
#include "knurl/core/base/file.h"
#include "knurl/core/config/yaml.h"

namespace knurl::learning {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

std::string text_at(const ConfigValue& experiment, const char* key, const fs::path& path) {
  const ConfigValue* value = experiment.find(key);
  if (!value || !value->scalar()) fail(ErrorKind::config, "{}: {} is missing", path.string(), key);
  return value->scalar()->text;
}

/// What a config file of one experiment says.
void read_experiment(const fs::path& path, Row& row) {
  const ConfigValue file = read_yaml_file(path);
  if (!file.map() || file.map()->size() != 1) {
    fail(ErrorKind::config, "{}: must hold one experiment", path.string());
  }
  const ConfigValue& experiment = file.map()->front().value;
  row.algorithm = text_at(experiment, "run", path);
  row.env = text_at(experiment, "env", path);
  row.experiment = Json::parse(knurl::to_json(experiment)).dump();  // as a result's file has it
}

/// Calls `read` with the JSON that a text is. Throws Error(io) naming the path where it is none, or
/// is not what `read` expects.
template <class Read>
auto parsed(const std::string& text, const fs::path& path, Read read) {
  try {
    return read(Json::parse(text));
  } catch (const Json::exception& error) {
    fail(ErrorKind::io, "{}: {}", path.string(), error.what());
  }
}

Curve curve_from(const Json& points) {
  Curve out;
  for (const Json& point : points) out.push_back({.env_steps = point.at(0), .value = point.at(1)});
  return out;
}

/// Files keep what a picture can show: six digits.
double rounded(double value) {
  return std::stod(fmt::format("{:.6g}", value));
}

}  // namespace

bool Bar::met_by(double median) const {
  return (!at_least.value() || median >= *at_least.value()) &&
         (!at_most.value() || median <= *at_most.value());
}

std::string Bar::text() const {
  return at_least.value() ? fmt::format("at least {}", *at_least.value())
                          : fmt::format("at most {}", *at_most.value());
}

std::vector<Row> read_rows(const fs::path& root) {
  std::vector<Row> out;
  const ConfigValue file = read_yaml_file(root / "tests/learning/bars.yaml");
  for (const auto& entry : *file.map()) {
    Row row{.name = entry.key};
    read_fields(entry.value, schema_of<Bar>(), &row.bar, entry.key);
    if (row.bar.at_least.value().has_value() == row.bar.at_most.value().has_value()) {
      fail(ErrorKind::config, "bars.yaml: {}: give at_least or at_most, one of them", row.name);
    }
    read_experiment(root / *row.bar.config, row);
    out.push_back(std::move(row));
  }
  return out;
}

std::optional<Reference> read_reference(const fs::path& root, const Row& row) {
  if (*row.bar.metric != Metric::reward_mean) return std::nullopt;
  std::string algorithm = row.algorithm;
  std::ranges::transform(algorithm, algorithm.begin(),
                         [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  const fs::path path =
      root / "tests/learning/references" / fmt::format("{}-{}.json", algorithm, row.env);
  if (!fs::exists(path)) return std::nullopt;
  return parsed(read_text_file(path), path, [](const Json& json) {
    Reference out{.name =
                      fmt::format("stable-baselines3 {}",
                                  json.at("versions").at("stable_baselines3").get<std::string>())};
    for (const Json& seed : json.at("seeds")) {
      out.seeds.push_back({.seed = seed.at("seed"),
                           .env_steps = seed.at("env_steps"),
                           .score = seed.at("evaluation").at("mean"),
                           .curve = curve_from(seed.at("curve"))});
    }
    return out;
  });
}

/// One line a seed, so that versions of a file can be compared.
std::string to_json(const RowResult& result) {
  std::string out = fmt::format(
      "{{\n\"experiment\": {},\n\"version\": {},\n\"machine\": {},\n\"jobs\": {},\n\"seeds\": [",
      result.experiment, Json(result.version).dump(), Json(result.machine).dump(), result.jobs);
  for (const SeedResult& seed : result.seeds) {
    Json curve = Json::array();
    for (const CurvePoint& point : seed.curve) {
      curve.push_back({static_cast<std::int64_t>(point.env_steps), rounded(point.value)});
    }
    const Json line{{"seed", seed.seed},
                    {"env_steps", seed.env_steps},
                    {"score", seed.score},
                    {"seconds", rounded(seed.seconds.value())},
                    {"curve", std::move(curve)}};
    out += fmt::format("{}\n{}", &seed == result.seeds.data() ? "" : ",", line.dump());
  }
  return out + "\n]\n}\n";
}

RowResult row_result_from_json(const std::string& text, const fs::path& path) {
  return parsed(text, path, [](const Json& json) {
    RowResult out{.experiment = json.at("experiment").dump(),
                  .version = json.at("version"),
                  .machine = json.at("machine"),
                  .jobs = json.at("jobs"),
                  .seeds = {}};
    for (const Json& seed : json.at("seeds")) {
      out.seeds.push_back({.seed = seed.at("seed"),
                           .env_steps = seed.at("env_steps"),
                           .score = seed.at("score"),
                           .seconds = seed.at("seconds").get<double>(),
                           .curve = curve_from(seed.at("curve"))});
    }
    return out;
  });
}

std::vector<double> scores_of(const std::vector<SeedResult>& seeds) {
  std::vector<double> out;
  for (const SeedResult& seed : seeds) out.push_back(seed.score);
  return out;
}

std::vector<Curve> curves_of(const std::vector<SeedResult>& seeds) {
  std::vector<Curve> out;
  for (const SeedResult& seed : seeds) out.push_back(seed.curve);
  return out;
}

std::int64_t most_env_steps(const std::vector<SeedResult>& seeds) {
  return std::ranges::max_element(seeds, {}, &SeedResult::env_steps)->env_steps;
}

bool met(const Bar& bar, const std::vector<SeedResult>& seeds) {
  return most_env_steps(seeds) <= bar.env_steps && bar.met_by(median(scores_of(seeds)));
}

std::optional<bool> below(const std::vector<SeedResult>& seeds, const Reference& reference) {
  if (most_env_steps(seeds) > most_env_steps(reference.seeds)) return std::nullopt;
  return interquartile_mean(scores_of(seeds)) <
         bootstrap_interval(scores_of(reference.seeds), interquartile_mean).low;
}

}  // namespace knurl::learning
