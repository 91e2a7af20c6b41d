#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

/// What benches are made of: figures measured in turn, so that both sides of a ratio see the same
/// machine, and the table that they end in.
namespace knurl::bench {

/// Median, least and most of some measurements.
struct Figure {
  double median = 0.0;
  double min = 0.0;
  double max = 0.0;
};
Figure figure_of(std::vector<double> measurements);

/// A row of the table: a figure of ours, another's, and what the ratio has to be.
struct Row {
  std::string bench = {};  ///< "env_step"
  std::string what = {};   ///< "CartPole-v1, 64 envs, serial, random actions"
  std::string unit = {};   ///< "steps/s"; "s", "ms" and "us" are better when small
  Figure ours = {};
  std::optional<Figure> other = std::nullopt;
  std::string other_name = {};  ///< with its version and threads
  std::optional<double> required = std::nullopt;

  /// How many times better ours is.
  [[nodiscard]] std::optional<double> ratio() const;
  [[nodiscard]] bool missed() const { return required && ratio().value_or(0.0) < *required; }
};

/// How often each side is measured.
inline constexpr int kRuns = 5;

/// Measures both in turn, kRuns times.
struct Pair {
  Figure ours;
  Figure other;
};
Pair measure(const std::function<double()>& ours, const std::function<double()>& other);
Figure measure(const std::function<double()>& ours);

/// Where things are.
struct Places {
  std::string knurl;   ///< the built command
  std::string root;    ///< the repository
  std::string python;  ///< of the peers' environment
};

/// Runs a command and returns the last line it prints. Throws where it fails, with what it said.
std::string last_line_of(const std::string& command);
/// Runs a command; its time from exec to exit in seconds.
double seconds_of(const std::string& command);
double now();

/// The peers' environment is there. Throws, saying how to make it.
void require_peers(const Places& places);

std::vector<Row> env_step(const Places& places);
std::vector<Row> inference(const Places& places);
std::vector<Row> train(const Places& places);
std::vector<Row> startup(const Places& places);

}  // namespace knurl::bench
