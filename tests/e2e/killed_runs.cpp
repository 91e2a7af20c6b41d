#include "killed_runs.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <map>
#include <optional>
#include <random>
#include <set>
#include <sstream>
#include <thread>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>
#include <signal.h>

#include "maze_runs.h"

namespace knurl::e2e {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;

constexpr int kKilled = 128 + SIGKILL;

Experiment experiment_of(const std::string& name, int iterations, const std::string& yaml) {
  const bool table = yaml.find("QLearning") != std::string::npos;  // no LibTorch to load
  return {
      .name = name,
      .yaml = fmt::format("{}:\n  stop: {{training_iteration: {}}}\n{}", name, iterations, yaml),
      .iterations = iterations,
      .start_up = std::chrono::milliseconds(table ? 50 : 500)};
}

/// Whether a number differs between two runs that learn the same.
bool differs_by_right(std::string_view name) {
  constexpr std::array<std::string_view, 4> kTimes{"time_", "timers/", "sampler_perf/", "perf/"};
  constexpr std::array<std::string_view, 4> kProcess{"date", "timestamp", "pid", "trial_id"};
  return std::ranges::any_of(kTimes, [&](auto with) { return name.starts_with(with); }) ||
         std::ranges::count(kProcess, name) > 0 || name.ends_with("_since_restore") ||
         name.find("throughput") != std::string_view::npos;
}

/// A row of result.json: paths of names and values as text, those that must be the same.
std::map<std::string, std::string> comparable(const Json& row) {
  std::map<std::string, std::string> out;
  const Json flat = row.flatten();
  for (const auto& [path, value] : flat.items()) {
    const std::string name = path.substr(1);
    if (!differs_by_right(name)) out[name] = value.dump();
  }
  return out;
}

std::vector<std::map<std::string, std::string>> rows_of_json(const fs::path& trial) {
  std::vector<std::map<std::string, std::string>> out;
  for (const Json& row : json_lines(read_file(trial / "result.json"))) {
    out.push_back(comparable(row));
  }
  return out;
}

/// Of a table without quoted cells.
std::vector<std::map<std::string, std::string>> rows_of_csv(const fs::path& trial) {
  std::istringstream lines(read_file(trial / "progress.csv"));
  const auto cells_of = [](const std::string& line) {
    std::vector<std::string> out;
    std::istringstream cells(line + ",");
    for (std::string cell; std::getline(cells, cell, ',');) out.push_back(cell);
    return out;
  };
  std::string line;
  std::getline(lines, line);
  const std::vector<std::string> header = cells_of(line);
  std::vector<std::map<std::string, std::string>> out;
  while (std::getline(lines, line)) {
    const std::vector<std::string> cells = cells_of(line);
    EXPECT_EQ(cells.size(), header.size()) << line;
    auto& row = out.emplace_back();
    for (std::size_t i = 0; i < std::min(cells.size(), header.size()); ++i) {
      if (!differs_by_right(header[i])) row[header[i]] = cells[i];
    }
  }
  return out;
}

void compare_rows(const std::string& file, const std::vector<std::map<std::string, std::string>>& a,
                  const std::vector<std::map<std::string, std::string>>& b,
                  std::vector<std::string>& out) {
  if (a.size() != b.size())
    out.push_back(fmt::format("{}: {} and {} rows", file, a.size(), b.size()));
  for (std::size_t i = 0; i < std::min(a.size(), b.size()); ++i) {
    std::set<std::string> names;
    for (const auto& [name, value] : a[i]) names.insert(name);
    for (const auto& [name, value] : b[i]) names.insert(name);
    for (const std::string& name : names) {
      const auto in = [&](const auto& row) {
        return row.contains(name) ? row.at(name) : std::string("nothing");
      };
      if (in(a[i]) == in(b[i])) continue;
      out.push_back(
          fmt::format("{}: row {}: {}: {} and {}", file, i + 1, name, in(a[i]), in(b[i])));
    }
  }
}

std::set<std::string> files_below(const fs::path& directory) {
  std::set<std::string> out;
  for (const auto& entry : fs::recursive_directory_iterator(directory)) {
    if (entry.is_regular_file()) out.insert(fs::relative(entry.path(), directory).string());
  }
  return out;
}

std::set<std::string> checkpoints_of(const fs::path& trial) {
  std::set<std::string> out;
  for (const auto& entry : fs::directory_iterator(trial)) {
    const std::string name = entry.path().filename().string();
    if (name.starts_with("checkpoint_")) out.insert(name);
  }
  return out;
}

/// A checkpoint's file as it must be: the manifest tells of times, and has checksums of them.
std::string comparable_text(const fs::path& file) {
  const std::string text = read_file(file);
  if (file.filename() == "manifest.json") return "";
  if (file.filename() != "algorithm.json") return text;
  Json json = Json::parse(text);
  json.erase("time_total_s");
  return json.dump();
}

void compare_checkpoints(const fs::path& a, const fs::path& b, std::vector<std::string>& out) {
  const std::string name = a.filename().string();
  const std::set<std::string> files = files_below(a);
  if (const auto others = files_below(b); others != files) {
    out.push_back(fmt::format("{}: files {} and {}", name, files, others));
    return;
  }
  for (const std::string& file : files) {
    if (comparable_text(a / file) != comparable_text(b / file)) {
      out.push_back(fmt::format("{}/{}: other bytes", name, file));
    }
  }
}

/// What `knurl checkpoint diff` says of the newest checkpoints, but for the time that they took.
void compare_by_tool(const fs::path& a, const fs::path& b, std::vector<std::string>& out) {
  const Finished diff = knurl({"checkpoint", "diff", a.string(), b.string()}, a);
  if (diff.exit_code > 1) out.push_back("checkpoint diff: " + diff.err);
  std::istringstream lines(diff.out);
  for (std::string line; std::getline(lines, line);) {
    const bool of_time = line == "algorithm.json" || line.starts_with("  time_total_s: ");
    if (diff.exit_code == 1 && !of_time) out.push_back("checkpoint diff: " + line);
  }
}

/// How many iterations TensorBoard's files of a trial tell of.
int iterations_in_events(const fs::path& trial) {
  int out = 0;
  for (const auto& entry : fs::directory_iterator(trial)) {
    if (!entry.path().filename().string().starts_with("events.out.tfevents.")) continue;
    out += count(read_file(entry.path()), "ray/tune/training_iteration");
  }
  return out;
}

std::optional<int> newest_checkpoint(const fs::path& results) {
  const fs::path trial = only_trial(results);
  const std::set<std::string> names = checkpoints_of(trial);
  if (names.empty()) return std::nullopt;
  return std::stoi(names.rbegin()->substr(std::string("checkpoint_").size()));
}

}  // namespace

std::vector<Experiment> experiments(int iterations) {
  return {experiment_of("dqn", iterations, R"(
  run: DQN
  env: CartPole-v1
  checkpoint_freq: 1
  config:
    {seed: 1, deterministic: true, num_workers: 2, num_envs_per_worker: 2, train_batch_size: 16,
     num_steps_sampled_before_learning_starts: 200, target_network_update_freq: 150, n_step: 3,
     noisy: true, num_atoms: 11, v_min: 0, v_max: 20, min_sample_timesteps_per_iteration: 100,
     hiddens: [16], model: {fcnet_hiddens: [16]}, lr: [[0, 0.001], [3000, 0.0001]],
     replay_buffer_config: {capacity: 700, prioritized_replay_beta: [[0, 0.4], [2000, 1]]},
     observation_filter: MeanStdFilter, normalize_rewards: true,
     evaluation_interval: 4, evaluation_duration: 2, evaluation_num_workers: 1,
     always_attach_evaluation_results: true}
)"),
          experiment_of("ppo", iterations, R"(
  run: PPO
  env: Pendulum-v1
  checkpoint_freq: 2
  keep_checkpoints_num: 3
  config:
    {seed: 2, deterministic: true, num_workers: 2, num_envs_per_worker: 3, train_batch_size: 250,
     sgd_minibatch_size: 64, num_sgd_iter: 4, use_sde: true, sde_sample_freq: 7, log_std_init: -1,
     observation_filter: MeanStdFilter, normalize_rewards: true,
     model: {fcnet_hiddens: [16], use_lstm: true, lstm_cell_size: 8, max_seq_len: 16,
             lstm_use_prev_action: true, lstm_use_prev_reward: true},
     lr: [[0, 0.001], [7000, 0.0]], entropy_coeff: [[0, 0.01], [5000, 0.0]]}
)"),
          experiment_of("sarsa", iterations, R"(
  run: QLearning
  env: Maze-v0
  checkpoint_freq: 3
  config:
    {seed: 3, deterministic: true, update_rule: sarsa, visit_power: 0.6, num_envs_per_worker: 4,
     train_batch_size: 50, min_sample_timesteps_per_iteration: 20000,
     exploration_config: {epsilon_timesteps: 500000}}
)"),
          experiment_of("double_q", iterations, R"(
  run: QLearning
  env: FrozenLake-v1
  checkpoint_freq: 1
  config:
    {seed: 4, deterministic: true, update_rule: double_q, visit_power: 0.6, num_workers: 2,
     num_envs_per_worker: 2, train_batch_size: 200, min_sample_timesteps_per_iteration: 3000}
)")};
}

fs::path train_whole(const Scratch& scratch, const Experiment& experiment,
                     const std::vector<std::string>& environment) {
  write_file(scratch.path() / "experiment.yaml", experiment.yaml);
  const Finished finished =
      knurl({"train", "experiment.yaml", "--quiet"}, scratch.path(), environment);
  EXPECT_EQ(finished.exit_code, 0) << finished.err;
  return only_trial(scratch.path() / "results");
}

KilledTrial train_killed(const Scratch& scratch, const Experiment& experiment, int kills,
                         std::uint64_t seed) {
  std::mt19937_64 random(seed);
  const auto draw = [&](int low, int high) {
    return low + static_cast<int>(random() % static_cast<std::uint64_t>(high - low + 1));
  };
  // the first after there must be a checkpoint, the last long before the end
  std::vector<int> iterations;
  for (int i = 0; i < kills; ++i) iterations.push_back(draw(3, experiment.iterations * 6 / 10));
  std::ranges::sort(iterations);

  KilledTrial out;
  write_file(scratch.path() / "experiment.yaml", experiment.yaml);
  std::vector<std::string> command{knurl_binary(), "train", "experiment.yaml"};
  for (int kill = 0; kill < kills; ++kill) {
    Process running(command, scratch.path());
    if (kill % 3 == 2) {  // most likely while it starts
      const auto most = static_cast<int>(experiment.start_up.count());
      std::this_thread::sleep_for(std::chrono::milliseconds(draw(0, most)));
    } else {
      int target = iterations[static_cast<std::size_t>(kill)];
      if (kill > 0) {
        target = std::max(target, newest_checkpoint(scratch.path() / "results").value_or(0) + 1);
      }
      running.wait_for_output(fmt::format("iter {} ", target), std::chrono::seconds(60));
      std::this_thread::sleep_for(std::chrono::milliseconds(draw(0, 30)));
    }
    running.send(SIGKILL);
    const Finished finished = running.wait();
    if (finished.exit_code == kKilled) ++out.kills;
    EXPECT_TRUE(finished.exit_code == kKilled || finished.exit_code == 0) << finished.err;
    out.directory = only_trial(scratch.path() / "results");
    command = {knurl_binary(), "train", "--resume", out.directory.string()};
  }
  const Finished last = Process(command, scratch.path()).wait();
  EXPECT_EQ(last.exit_code, 0) << last.err;
  return out;
}

std::vector<std::string> differences(const fs::path& first, const fs::path& second) {
  std::vector<std::string> out;
  compare_rows("result.json", rows_of_json(first), rows_of_json(second), out);
  compare_rows("progress.csv", rows_of_csv(first), rows_of_csv(second), out);
  if (iterations_in_events(first) != iterations_in_events(second)) {
    out.push_back(fmt::format("events of {} and {} iterations", iterations_in_events(first),
                              iterations_in_events(second)));
  }
  const std::set<std::string> checkpoints = checkpoints_of(first);
  if (const auto others = checkpoints_of(second); others != checkpoints) {
    out.push_back(fmt::format("checkpoints {} and {}", checkpoints, others));
    return out;
  }
  for (const std::string& name : checkpoints) {
    compare_checkpoints(first / name, second / name, out);
  }
  compare_by_tool(first, second, out);
  return out;
}

}  // namespace knurl::e2e
