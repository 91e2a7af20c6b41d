// Trains the configs of bars.yaml through the command line, as users do, and holds the median of
// the final greedy evaluations against the bar.
//   learning KNURL ROOT NAME…            checks some; exit 1 where a bar is missed
//   learning KNURL ROOT --write FILE     runs all and writes the table
//   learning KNURL ROOT --list           names, slow ones marked

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>
#include <unistd.h>

#include "knurl/core/base/error.h"
#include "knurl/core/base/version.h"
#include "knurl/core/config/fields.h"
#include "knurl/core/config/yaml.h"
#include "knurl/models/fast/kernels.h"

namespace {

namespace fs = std::filesystem;
using knurl::Opt;

struct Bar {
  Opt<std::string> config = {};
  Opt<std::int64_t> env_steps = {};
  Opt<std::string> metric = {};
  Opt<std::optional<double>> at_least = {};
  Opt<std::optional<double>> at_most = {};
  Opt<bool> slow = knurl::Default{false};

  static void fields(auto& self, auto&& field) {
    field("config", self.config, "the config file");
    field("env_steps", self.env_steps, "env steps that may be used");
    field("metric", self.metric, "of the evaluation's summary");
    field("at_least", self.at_least, "bar for the median");
    field("at_most", self.at_most, "bar for the median");
    field("slow", self.slow, "not among the fast tests");
  }
  [[nodiscard]] bool met_by(double median) const {
    return (!at_least.value() || median >= *at_least.value()) &&
           (!at_most.value() || median <= *at_most.value());
  }
  [[nodiscard]] std::string text() const {
    return at_least.value() ? fmt::format("at least {}", *at_least.value())
                            : fmt::format("at most {}", *at_most.value());
  }
};

struct NamedBar {
  std::string name;
  Bar bar;
};

/// What one seed came to.
struct Outcome {
  std::int64_t env_steps = 0;
  double seconds = 0.0;
  double score = 0.0;
};

const std::vector<int> kSeeds{1, 2, 3};

std::vector<NamedBar> read_bars(const fs::path& root) {
  std::vector<NamedBar> out;
  const knurl::ConfigValue file = knurl::read_yaml_file(root / "tests/learning/bars.yaml");
  for (const auto& entry : *file.map()) {
    out.push_back({entry.key, {}});
    read_fields(entry.value, knurl::schema_of<Bar>(), &out.back().bar, entry.key);
  }
  return out;
}

/// The last line that a command prints, as JSON. Throws where the command fails.
nlohmann::json last_json_line(const std::string& command) {
  FILE* pipe = ::popen(command.c_str(), "r");
  std::string text;
  char buffer[4096];
  for (std::size_t n; (n = std::fread(buffer, 1, sizeof(buffer), pipe)) > 0;)
    text.append(buffer, n);
  if (::pclose(pipe) != 0) throw std::runtime_error(command + ": failed");
  text.resize(text.find_last_not_of('\n') + 1);
  return nlohmann::json::parse(text.substr(text.rfind('\n') + 1));
}

Outcome run(const std::string& knurl, const fs::path& root, const Bar& bar, int seed,
            const fs::path& scratch) {
  const fs::path output = scratch / fmt::format("seed-{}", seed);
  const auto trained =
      last_json_line(fmt::format("{} train {} --seed {} --json --output {}", knurl,
                                 (root / *bar.config).string(), seed, output.string()));
  fs::path trial = output;
  for (int level = 0; level < 2; ++level) trial = fs::directory_iterator(trial)->path();
  const auto evaluated =
      last_json_line(fmt::format("{} evaluate {} --episodes 100 --json", knurl, trial.string()));
  return {.env_steps = trained["timesteps_total"],
          .seconds = trained["time_total_s"],
          .score = evaluated[*bar.metric]};
}

double median(std::vector<double> numbers) {
  std::ranges::sort(numbers);
  return numbers[numbers.size() / 2];
}

struct Row {
  NamedBar named;
  std::vector<Outcome> outcomes;
  double median_score = 0.0;
  bool met = false;
};

Row measure(const std::string& knurl, const fs::path& root, const NamedBar& named) {
  Row row{.named = named, .outcomes = {}};
  const fs::path scratch =
      fs::temp_directory_path() / fmt::format("knurl-learning-{}-{}", named.name, ::getpid());
  std::vector<double> scores;
  bool within = true;
  for (const int seed : kSeeds) {
    row.outcomes.push_back(run(knurl, root, named.bar, seed, scratch));
    scores.push_back(row.outcomes.back().score);
    within = within && row.outcomes.back().env_steps <= named.bar.env_steps;
  }
  fs::remove_all(scratch);
  row.median_score = median(scores);
  row.met = within && named.bar.met_by(row.median_score);
  fmt::print("{}: {} {:.2f} by seed, median {:.2f}, {} within {} env steps: {}\n", named.name,
             *named.bar.metric, fmt::join(scores, ", "), row.median_score, named.bar.text(),
             named.bar.env_steps.value(), row.met ? "met" : "MISSED");
  std::fflush(stdout);
  return row;
}

void write_table(const std::vector<Row>& rows, const fs::path& path) {
  std::ofstream file(path);
  file << fmt::format(
      "# Learning results\n\n"
      "Written by `./dev results` (knurl {}, {} kernels): each config is trained with seeds {}, "
      "then\n"
      "evaluated greedily for 100 episodes from its last checkpoint. The median counts.\n\n"
      "| config | env steps | metric | by seed | median | bar | seconds of training |\n"
      "|---|---|---|---|---|---|---|\n",
      knurl::kVersion, knurl::fast::kernels().name, fmt::join(kSeeds, ", "));
  for (const Row& row : rows) {
    std::vector<std::string> scores;
    std::vector<std::string> seconds;
    for (const Outcome& outcome : row.outcomes) {
      scores.push_back(fmt::format("{:.1f}", outcome.score));
      seconds.push_back(fmt::format("{:.2f}", outcome.seconds));
    }
    file << fmt::format("| {} | {} | {} | {} | {:.1f} | {}{} | {} |\n", *row.named.bar.config,
                        row.outcomes.front().env_steps, *row.named.bar.metric,
                        fmt::join(scores, ", "), row.median_score, row.named.bar.text(),
                        row.met ? "" : " (missed)", fmt::join(seconds, ", "));
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 4) return 2;
  const std::string knurl = argv[1];
  const fs::path root = argv[2];
  const std::vector<std::string> wanted(argv + 3, argv + argc);
  try {
    std::vector<Row> rows;
    bool all_met = true;
    for (const NamedBar& named : read_bars(root)) {
      if (wanted.front() == "--list") {
        fmt::print("{}{}\n", named.name, named.bar.slow ? " slow" : "");
        continue;
      }
      if (wanted.front() != "--write" && std::ranges::count(wanted, named.name) == 0) continue;
      rows.push_back(measure(knurl, root, named));
      all_met = all_met && rows.back().met;
    }
    if (wanted.front() == "--write") write_table(rows, wanted.at(1));
    return all_met ? 0 : 1;
  } catch (const std::exception& error) {
    fmt::print(stderr, "learning: {}\n", error.what());
    return 2;
  }
}
