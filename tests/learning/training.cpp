#include "training.h"

#include <algorithm>
#include <cstdio>
#include <exception>
#include <fstream>
#include <mutex>
#include <optional>
#include <sstream>
#include <thread>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "knurl/algorithms/algorithm.h"
#include "knurl/core/base/error.h"
#include "knurl/core/base/file.h"
#include "knurl/core/base/version.h"
#include "knurl/core/checkpoint/checkpoint.h"
#include "knurl/envs/builtin/tabular_env.h"
#include "knurl/envs/registry.h"
#include "knurl/envs/wrappers/wrapper.h"
#include "knurl/models/fast/kernels.h"
#include "scratch.h"

namespace knurl::learning {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;

std::string quoted(const std::string& word) {
  std::string out = "'";
  for (const char c : word) out += c == '\'' ? "'\\''" : std::string(1, c);
  return out + "'";
}

/// The last line that a command prints, as JSON. Throws Error(io) where the command fails.
Json last_json_line(const std::string& command) {
  FILE* pipe = ::popen(command.c_str(), "r");
  if (!pipe) fail(ErrorKind::io, "{}: cannot be started", command);
  std::string text;
  char buffer[4096];
  for (std::size_t n; (n = std::fread(buffer, 1, sizeof(buffer), pipe)) > 0;)
    text.append(buffer, n);
  if (::pclose(pipe) != 0) fail(ErrorKind::io, "{}: failed", command);
  text.resize(text.find_last_not_of('\n') + 1);
  return Json::parse(text.substr(text.rfind('\n') + 1));
}

/// The directory of the only trial below an output directory.
fs::path trial_in(const fs::path& output) {
  fs::path trial = output;
  for (int level = 0; level < 2; ++level) trial = fs::directory_iterator(trial)->path();
  return trial;
}

/// What the metric was over training: means of the last 100 episodes.
Curve curve_of(const fs::path& trial, Metric metric) {
  const char* key = metric == Metric::length_mean ? "episode_len_mean" : "episode_reward_mean";
  Curve out;
  std::istringstream lines(read_text_file(trial / "result.json"));
  for (std::string line; std::getline(lines, line);) {
    const Json iteration = Json::parse(line);
    const Json& value = iteration.at(key);
    if (value.is_null()) continue;  // no episode yet
    out.push_back({.env_steps = iteration.at("timesteps_total"), .value = value});
  }
  return thinned(out);
}

/// The expected return of a trained table's greedy policy, by dynamic programming.
double exact_score(const fs::path& trial) {
  const auto algorithm = Algorithm::from_checkpoint(list_checkpoints(trial).back().directory);
  const EnvironmentOptions& options = algorithm->config().common().environment;
  const std::unique_ptr<Env> env = make_env(*options.env, *options.env_config);
  const std::optional<int> limit = env->spec().max_episode_steps;
  Env* inner = env.get();
  while (auto* wrapper = dynamic_cast<EnvWrapper*>(inner)) inner = &wrapper->inner();
  const auto* tabular = dynamic_cast<TabularEnv*>(inner);
  if (!tabular || !limit) {
    fail(ErrorKind::config, "{}: has no table, or no time limit: its value cannot be computed",
         *options.env);
  }
  const TransitionTable& table = tabular->table();
  const auto actions = static_cast<std::size_t>(table.num_actions());
  std::vector<double> policy(static_cast<std::size_t>(table.num_states()) * actions, 0.0);
  for (int state = 0; state < table.num_states(); ++state) {
    const auto action =
        std::get<std::int64_t>(algorithm->compute_single_action(static_cast<std::int64_t>(state)));
    policy[static_cast<std::size_t>(state) * actions + static_cast<std::size_t>(action)] = 1.0;
  }
  return exact_value(table, policy, 1.0, *limit);
}

/// What the trained policy comes to.
double score_of(const std::string& knurl, const fs::path& trial, const Bar& bar) {
  if (*bar.metric == Metric::exact_value) return exact_score(trial);
  const Json summary = last_json_line(fmt::format("{} evaluate {} --episodes {} --json",
                                                  quoted(knurl), quoted(trial), *bar.episodes));
  return summary.at(std::string(name_of(*bar.metric)));
}

SeedResult train_seed(const Row& row, const TrainingOptions& options, int seed,
                      const fs::path& output) {
  const Json trained =
      last_json_line(fmt::format("{} train {} --seed {} --json --output {}", quoted(options.knurl),
                                 quoted(options.root / *row.bar.config), seed, quoted(output)));
  const fs::path trial = trial_in(output);
  return {.seed = seed,
          .env_steps = trained.at("timesteps_total"),
          .score = score_of(options.knurl, trial, row.bar),
          .seconds = trained.at("time_total_s").get<double>(),
          .curve = curve_of(trial, row.bar.metric)};
}

/// Calls `work` with 0 … count - 1, at most `jobs` at a time, in order of their starts. Rethrows
/// the first error, after which nothing new is started.
void for_each(std::size_t count, int jobs, const std::function<void(std::size_t)>& work) {
  std::mutex mutex;
  std::size_t next = 0;
  std::exception_ptr error;
  const auto take = [&]() -> std::optional<std::size_t> {
    const std::scoped_lock lock(mutex);
    return error || next == count ? std::nullopt : std::optional(next++);
  };
  const auto run = [&] {
    while (const auto index = take()) {
      try {
        work(*index);
      } catch (...) {
        const std::scoped_lock lock(mutex);
        if (!error) error = std::current_exception();
      }
    }
  };
  {
    std::vector<std::jthread> threads;
    for (int i = 0; i < jobs; ++i) threads.emplace_back(run);
  }
  if (error) std::rethrow_exception(error);
}

}  // namespace

void train_rows(const std::vector<Row>& rows, const TrainingOptions& options,
                const std::function<void(const Row&, const RowResult&)>& on_row) {
  const auto seeds = static_cast<std::size_t>(options.seeds);
  std::vector<RowResult> results;
  for (const Row& row : rows) {
    results.push_back({.experiment = row.experiment,
                       .version = fmt::format("{}, {} kernels", kVersion, fast::kernels().name),
                       .machine = machine(),
                       .jobs = options.jobs,
                       .seeds = std::vector<SeedResult>(seeds)});
  }
  std::vector<std::size_t> left(rows.size(), seeds);
  const Scratch scratch;
  std::mutex mutex;
  for_each(rows.size() * seeds, options.jobs, [&](std::size_t task) {
    const std::size_t row = task / seeds;
    const std::size_t index = task % seeds;
    const fs::path output = scratch.path() / fmt::format("{}-{}", rows[row].name, index + 1);
    const SeedResult result = train_seed(rows[row], options, static_cast<int>(index) + 1, output);
    fs::remove_all(output);
    const std::scoped_lock lock(mutex);
    results[row].seeds[index] = result;
    if (--left[row] == 0) on_row(rows[row], results[row]);
  });
}

std::string machine() {
  std::string model = "an unknown processor";
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);) {
    if (!line.starts_with("model name")) continue;
    model = line.substr(std::min(line.size(), line.find(':') + 2));
    break;
  }
  const unsigned cores = std::thread::hardware_concurrency();
  return fmt::format("{}, {} core{}", model, cores, cores == 1 ? "" : "s");
}

}  // namespace knurl::learning
