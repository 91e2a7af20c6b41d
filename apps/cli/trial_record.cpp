#include "knurl/apps/cli/trial_record.h"

#include <chrono>
#include <cstdlib>
#include <fstream>

#include <fmt/chrono.h>
#include <nlohmann/json.hpp>

#include "knurl/core/base/error.h"
#include "knurl/core/base/file.h"
#include "knurl/core/base/version.h"
#include "knurl/core/config/yaml.h"

namespace knurl::cli {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

constexpr const char* kRecordFile = "experiment.json";

Json json_of(const ConfigValue& value) {
  return Json::parse(to_json(value));
}

Json read_json(const fs::path& path) {
  if (!fs::exists(path)) {
    fail(ErrorKind::checkpoint, "{}: is missing: not the directory of a trial", path.string());
  }
  Json json = Json::parse(read_text_file(path), nullptr, false);
  if (!json.is_object()) fail(ErrorKind::checkpoint, "{}: damaged: not JSON", path.string());
  return json;
}

}  // namespace

void write_record(const fs::path& directory, const PlannedTrial& trial,
                  const AlgorithmConfig& resolved) {
  Json record{{"name", trial.name},
              {"run", resolved.algorithm()},
              {"env", *resolved.common().environment.env},
              {"stop", json_of(trial.stop.to_value())},
              {"checkpoint_config", json_of(schema_of<tune::CheckpointOptions>().write(
                                        &trial.checkpoints, Shown::given))},
              {"knurl_version", kVersion}};
  const fs::path path = directory / kRecordFile;
  if (fs::exists(path)) record["resumed"] = read_json(path).value("resumed", Json::array());
  replace_text_file(path, record.dump(2) + "\n");
  replace_text_file(directory / "params.json", json_of(resolved.to_value()).dump(2) + "\n");
}

PlannedTrial read_record(const fs::path& directory) {
  const fs::path path = directory / kRecordFile;
  const Json record = read_json(path);
  PlannedTrial trial{
      .name = record.value("name", "default"), .config = nullptr, .stop = {}, .checkpoints = {}};
  const auto part = [&](const char* name) {
    return parse_yaml(record.value(name, Json::object()).dump(), path.string());
  };
  trial.stop = tune::StopConditions::from(part("stop"), "stop");
  read_fields(part("checkpoint_config"), schema_of<tune::CheckpointOptions>(), &trial.checkpoints,
              "checkpoint_config");
  return trial;
}

void note_resume(const fs::path& directory, const fs::path& checkpoint, const std::string& stop,
                 const std::vector<std::string>& set) {
  const fs::path path = directory / kRecordFile;
  Json record = read_json(path);
  const auto now = std::chrono::system_clock::to_time_t(std::chrono::system_clock::now());
  record["resumed"].push_back({{"date", fmt::format("{:%Y-%m-%d_%H-%M-%S}", fmt::localtime(now))},
                               {"checkpoint", checkpoint.filename().string()},
                               {"stop", stop},
                               {"set", set}});
  replace_text_file(path, record.dump(2) + "\n");
}

std::optional<Result> last_result(const fs::path& result_json) {
  std::ifstream lines(result_json);
  std::string last;
  for (std::string line; std::getline(lines, line);) last = std::move(line);
  return numbers_of_json(last);
}

std::string expanded(const std::string& path) {
  const char* home = std::getenv("HOME");
  if (!home || !path.starts_with('~') || (path.size() > 1 && path[1] != '/')) return path;
  return home + path.substr(1);
}

std::string safe_name(const std::string& name) {
  std::string out;
  for (const char c : name) out += c == '/' || c == '\0' ? '_' : c;
  return out.empty() || out == "." || out == ".." ? "experiment" : out;
}

}  // namespace knurl::cli
