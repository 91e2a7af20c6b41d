#include "bench.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <stdexcept>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>
#include <sys/wait.h>

#include "knurl/core/base/version.h"
#include "knurl/models/fast/kernels.h"

namespace knurl::bench {

Figure figure_of(std::vector<double> measurements) {
  std::ranges::sort(measurements);
  return {.median = measurements[measurements.size() / 2],
          .min = measurements.front(),
          .max = measurements.back()};
}

std::optional<double> Row::ratio() const {
  if (!other) return std::nullopt;
  const bool small_is_good = unit == "s" || unit == "ms" || unit == "us";
  return small_is_good ? other->median / ours.median : ours.median / other->median;
}

Pair measure(const std::function<double()>& ours, const std::function<double()>& other) {
  std::vector<double> a;
  std::vector<double> b;
  for (int run = 0; run < kRuns; ++run) {
    a.push_back(ours());
    b.push_back(other());
  }
  return {.ours = figure_of(std::move(a)), .other = figure_of(std::move(b))};
}

Figure measure(const std::function<double()>& ours) {
  std::vector<double> a;
  for (int run = 0; run < kRuns; ++run) a.push_back(ours());
  return figure_of(std::move(a));
}

double now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

std::string last_line_of(const std::string& command) {
  FILE* pipe = ::popen(command.c_str(), "r");
  if (!pipe) throw std::runtime_error(command + ": cannot be started");
  std::string text;
  char buffer[4096];
  for (std::size_t n; (n = std::fread(buffer, 1, sizeof(buffer), pipe)) > 0;)
    text.append(buffer, n);
  const int status = ::pclose(pipe);
  if (status != 0)
    throw std::runtime_error(fmt::format("{}: exit {}", command, WEXITSTATUS(status)));
  text.resize(text.find_last_not_of('\n') + 1);
  return text.substr(text.rfind('\n') + 1);
}

double seconds_of(const std::string& command) {
  const double start = now();
  if (std::system((command + " >/dev/null").c_str()) != 0) {
    throw std::runtime_error(command + ": failed");
  }
  return now() - start;
}

void require_peers(const Places& places) {
  if (std::filesystem::exists(places.python)) return;
  throw std::runtime_error("the peers are not installed: run ./dev bench --setup-peers");
}

namespace {

/// "2,712,345", "0.512", "93.1"
std::string number_text(double value) {
  if (value < 1000.0) return fmt::format("{:.3g}", value);
  std::string digits = fmt::format("{:.0f}", value);
  for (auto at = static_cast<std::ptrdiff_t>(digits.size()) - 3; at > 0; at -= 3) {
    digits.insert(static_cast<std::size_t>(at), ",");
  }
  return digits;
}

std::string figure_text(const Figure& figure) {
  return fmt::format("{} ({} to {})", number_text(figure.median), number_text(figure.min),
                     number_text(figure.max));
}

void print(const Row& row) {
  fmt::print("{}: {}\n", row.bench, row.what);
  fmt::print("  {:<44} {} {}\n", fmt::format("knurl {} ({})", kVersion, fast::kernels().name),
             figure_text(row.ours), row.unit);
  if (row.other) {
    fmt::print("  {:<44} {} {}\n", row.other_name, figure_text(*row.other), row.unit);
    fmt::print("  ratio {:.2f}{}\n", *row.ratio(),
               row.required
                   ? fmt::format(", required {:g}{}", *row.required, row.missed() ? ": MISSED" : "")
                   : "");
  }
  std::fflush(stdout);
}

nlohmann::ordered_json json_of(const Row& row) {
  const auto figure = [](const Figure& f) {
    return nlohmann::ordered_json{{"median", f.median}, {"min", f.min}, {"max", f.max}};
  };
  nlohmann::ordered_json out{
      {"bench", row.bench}, {"what", row.what}, {"unit", row.unit}, {"ours", figure(row.ours)}};
  out["other"] = row.other ? figure(*row.other) : nlohmann::ordered_json();
  out["other_name"] = row.other_name;
  out["ratio"] = row.ratio() ? nlohmann::ordered_json(*row.ratio()) : nlohmann::ordered_json();
  out["required"] = row.required ? nlohmann::ordered_json(*row.required) : nlohmann::ordered_json();
  return out;
}

const std::map<std::string, std::vector<Row> (*)(const Places&)> kBenches{
    {"env_step", env_step}, {"inference", inference}, {"startup", startup}, {"train", train}};

int run(const std::string& name, const Places& places, const std::string& json_path, bool check) {
  const auto bench = kBenches.find(name);
  if (bench == kBenches.end()) {
    std::vector<std::string> names;
    for (const auto& [known, function] : kBenches) names.push_back(known);
    throw std::runtime_error(
        fmt::format("bench {}: unknown; there are {}", name, fmt::join(names, ", ")));
  }
  fmt::print("median of {} (min to max)\n", kRuns);
  const std::vector<Row> rows = bench->second(places);
  std::ofstream json;
  if (!json_path.empty()) json.open(json_path, std::ios::app);
  bool missed = false;
  for (const Row& row : rows) {
    print(row);
    if (json.is_open()) json << json_of(row).dump() << "\n";
    missed = missed || row.missed();
  }
  return check && missed ? 1 : 0;
}

}  // namespace
}  // namespace knurl::bench

/// bench KNURL ROOT PYTHON NAME [--json FILE] [--check]
int main(int argc, char** argv) {
  const std::vector<std::string> arguments(argv + 1, argv + argc);
  try {
    if (arguments.size() < 4) throw std::runtime_error("bench: which one?");
    std::string json;
    bool check = false;
    for (std::size_t i = 4; i < arguments.size(); ++i) {
      if (arguments[i] == "--json" && i + 1 < arguments.size()) {
        json = arguments[++i];
      } else if (arguments[i] == "--check") {
        check = true;
      } else {
        throw std::runtime_error("bench: what is " + arguments[i] + "?");
      }
    }
    return knurl::bench::run(arguments[3],
                             {.knurl = arguments[0], .root = arguments[1], .python = arguments[2]},
                             json, check);
  } catch (const std::exception& error) {
    fmt::print(stderr, "{}\n", error.what());
    return 2;
  }
}
