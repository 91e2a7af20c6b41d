#include "knurl/apps/cli/trial_record.h"

#include <chrono>
#include <fstream>

#include <fmt/chrono.h>
#include <nlohmann/json.hpp>

#include "knurl/core/base/error.h"
#include "knurl/core/base/file.h"
#include "knurl/core/base/plugin.h"
#include "knurl/core/base/version.h"
#include "knurl/core/config/yaml.h"
#include "knurl/core/tune/provenance.h"
#include "knurl/core/tune/trial.h"
#include "knurl/models/fast/kernels.h"
#include "knurl/models/trainable_net.h"

namespace knurl::cli {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

constexpr const char* kRecordFile = "experiment.json";

Json json_of(const ConfigValue& value) {
  return Json::parse(to_json(value));
}

/// Text that is not UTF-8 is written with replacement characters.
void write_json(const fs::path& path, const Json& json) {
  replace_text_file(path, json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n");
}

Json read_json(const fs::path& path) {
  Json json = Json::parse(read_text_file(path), nullptr, false);
  if (!json.is_object()) fail(ErrorKind::checkpoint, "{}: damaged: not JSON", path.string());
  return json;
}

std::string now_text() {
  const auto now = std::chrono::system_clock::to_time_t(std::chrono::system_clock::now());
  return fmt::format("{:%Y-%m-%d_%H-%M-%S}", fmt::localtime(now));
}

Json git_of(const fs::path& directory) {
  const auto commit = tune::git_commit_of(directory.empty() ? "." : directory);
  if (!commit) return nullptr;
  return {{"repository", commit->repository.string()},
          {"commit", commit->commit},
          {"branch", commit->branch.empty() ? Json() : Json(commit->branch)}};
}

/// What a run comes from beside its config: when, which program, which machine; the commit of the
/// experiment's file, or of the working directory where there is no file.
Json provenance_of(const fs::path& file) {
  const tune::Machine machine = tune::this_machine();
  const std::optional<std::string> torch = loaded_torch_version();
  return {{"date", now_text()},
          {"file", file.empty() ? Json() : Json(file.string())},
          {"git", git_of(file.parent_path())},
          {"program",
           {{"knurl", kVersion},
            {"compiler", tune::compiler_version()},
            {"libtorch", torch ? Json(*torch) : Json()},
            {"instruction_set", fast::kernels().name}}},
          {"machine",
           {{"system", machine.system},
            {"distribution", machine.distribution},
            {"cpu", machine.cpu},
            {"num_cpus", machine.num_cpus}}}};
}

}  // namespace

void write_record(const fs::path& directory, const PlannedTrial& trial,
                  const AlgorithmConfig& resolved) {
  Json record{{"name", trial.name},
              {"tag", trial.tag},
              {"run", resolved.algorithm()},
              {"env", *resolved.common().environment.env},
              {"stop", json_of(trial.stop.to_value())},
              {"checkpoint_config", json_of(schema_of<tune::CheckpointOptions>().write(
                                        &trial.checkpoints, Shown::given))},
              {"plugins", loaded_plugins()},
              {"seed", resolved.common().debugging.seed->value_or(0)},
              {"deterministic", resolved.common().debugging.deterministic.value()}};
  const fs::path path = directory / kRecordFile;
  if (fs::exists(path)) {
    const Json before = read_json(path);
    record["started"] = before.value("started", Json());
    record["resumed"] = before.value("resumed", Json::array());
  } else {
    record["started"] = provenance_of(trial.file);
  }
  write_json(path, record);
  write_json(directory / "params.json", json_of(resolved.to_value()));
}

void require_record(const fs::path& directory) {
  if (fs::exists(directory / kRecordFile)) return;
  fail(ErrorKind::checkpoint, "{}: is not the directory of a trial: {} is missing{}",
       directory.string(), kRecordFile, tune::trials_hint(directory));
}

PlannedTrial read_record(const fs::path& directory) {
  require_record(directory);
  const fs::path path = directory / kRecordFile;
  const Json record = read_json(path);
  try {
    if (!record.value("resumed", Json::array()).is_array()) {
      fail(ErrorKind::checkpoint, "resumed is no list");
    }
    PlannedTrial trial{.name = record.at("name").get<std::string>(),
                       .tag = record.value("tag", ""),
                       .config = nullptr};
    const auto part = [&](const char* name) {
      return parse_yaml(record.value(name, Json::object()).dump(), path.string());
    };
    trial.stop = tune::StopConditions::from(part("stop"), "stop");
    read_fields(part("checkpoint_config"), schema_of<tune::CheckpointOptions>(), &trial.checkpoints,
                "checkpoint_config");
    return trial;
  } catch (const std::exception& error) {
    fail(ErrorKind::checkpoint, "{}: damaged: {}", path.string(), error.what());
  }
}

std::vector<fs::path> recorded_plugins(const fs::path& directory) {
  const fs::path path = directory / kRecordFile;
  if (!fs::exists(path)) return {};
  try {
    const auto plugins = read_json(path).value("plugins", std::vector<std::string>());
    return {plugins.begin(), plugins.end()};
  } catch (const Json::exception& error) {
    fail(ErrorKind::checkpoint, "{}: damaged: plugins: {}", path.string(), error.what());
  }
}

void note_resume(const fs::path& directory, const Resumption& resumption) {
  const fs::path path = directory / kRecordFile;
  Json record = read_json(path);
  Json resumed{{"checkpoint", resumption.checkpoint.filename().string()},
               {"stop", resumption.stop},
               {"config", resumption.config},
               {"set", resumption.set}};
  resumed.update(provenance_of({}));
  record["resumed"].push_back(std::move(resumed));
  write_json(path, record);
}

std::optional<Result> result_of_iteration(const fs::path& result_json, std::int64_t iteration) {
  std::ifstream lines(result_json);
  std::optional<Result> found;
  for (std::string line; std::getline(lines, line);) {
    std::optional<Result> result = numbers_of_json(line);
    if (result && result->number("training_iteration") == static_cast<double>(iteration)) {
      found = std::move(result);
    }
  }
  return found;
}

}  // namespace knurl::cli
