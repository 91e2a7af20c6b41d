// Trains a file as users do and watches the process's resident memory after each iteration. Exit
// code 1 where it still grows in the second half of the run by more than it may.
//   memory KNURL FILE STEPS BYTES [OPTION=VALUE…]
// STEPS env steps, seed 1; BYTES for each env step; OPTION as for `knurl train --set`.

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <unistd.h>

#include "knurl/core/base/error.h"
#include "knurl/core/base/file.h"

namespace {

using Json = nlohmann::json;

struct Sample {
  double env_steps = 0.0;
  double bytes = 0.0;
};

/// The resident memory of a process, in bytes. Throws Error(io) where there is no such process.
double resident_bytes(std::int64_t pid) {
  const std::string statm = knurl::read_text_file(fmt::format("/proc/{}/statm", pid));
  const std::size_t second = statm.find(' ') + 1;
  return std::stod(statm.substr(second)) * static_cast<double>(::sysconf(_SC_PAGESIZE));
}

/// What the process of a training is like after each iteration of about `env_steps`; shows a tenth
/// of that.
std::vector<Sample> watch(const std::string& command, double env_steps) {
  FILE* pipe = ::popen(command.c_str(), "r");
  if (!pipe) knurl::fail(knurl::ErrorKind::io, "{}: cannot be started", command);
  std::vector<Sample> out;
  double next_shown = 0.0;
  char* line = nullptr;
  std::size_t room = 0;
  while (::getline(&line, &room, pipe) > 0) {
    const Json iteration = Json::parse(line);
    if (!iteration.contains("pid")) continue;
    out.push_back({.env_steps = iteration.at("timesteps_total"),
                   .bytes = resident_bytes(iteration.at("pid"))});
    if (out.back().env_steps < next_shown) continue;
    fmt::print("{:>9.0f} env steps: {:.1f} MB\n", out.back().env_steps, out.back().bytes * 1e-6);
    std::fflush(stdout);
    next_shown += env_steps / 10;
  }
  std::free(line);
  if (::pclose(pipe) != 0) knurl::fail(knurl::ErrorKind::io, "{}: failed", command);
  return out;
}

/// Bytes that an env step adds, by least squares.
double growth_of(std::span<const Sample> samples) {
  double steps = 0.0;
  double bytes = 0.0;
  for (const Sample& sample : samples) {
    steps += sample.env_steps / static_cast<double>(samples.size());
    bytes += sample.bytes / static_cast<double>(samples.size());
  }
  double products = 0.0;
  double squares = 0.0;
  for (const Sample& sample : samples) {
    products += (sample.env_steps - steps) * (sample.bytes - bytes);
    squares += (sample.env_steps - steps) * (sample.env_steps - steps);
  }
  return products / squares;
}

int run(const std::vector<std::string>& arguments) {
  if (arguments.size() < 4) {
    knurl::fail(knurl::ErrorKind::config, "memory KNURL FILE STEPS BYTES [OPTION=VALUE...]");
  }
  const std::filesystem::path file = arguments[1];
  const std::string output = file.stem().string();
  std::string command =
      fmt::format("'{}' train '{}' --seed 1 --json --output '{}' --stop '{{timesteps_total: {}}}'",
                  arguments[0], file.string(), output, arguments[2]);
  for (std::size_t i = 4; i < arguments.size(); ++i) {
    command += fmt::format(" --set '{}'", arguments[i]);
  }
  std::filesystem::remove_all(output);
  const std::vector<Sample> samples = watch(command, std::stod(arguments[2]));
  std::filesystem::remove_all(output);
  if (samples.size() < 20) knurl::fail(knurl::ErrorKind::config, "too few iterations to judge");
  const double growth = growth_of(std::span(samples).subspan(samples.size() / 2));
  const double most = std::stod(arguments[3]);
  fmt::print("second half: {:+.1f} bytes an env step, of at most {}: {}\n", growth, most,
             growth <= most ? "level" : "GROWS");
  return growth <= most ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return run({argv + 1, argv + argc});
  } catch (const std::exception& error) {
    fmt::print(stderr, "memory: {}\n", error.what());
    return 2;
  }
}
