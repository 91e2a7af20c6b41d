// Trains the configs of bars.yaml as users do, and holds the median of the final greedy evaluations
// against the bar. Exit code 1 where a bar is missed.
//   learning KNURL ROOT check NAME…        trains some rows with 3 seeds and writes nothing
//   learning KNURL ROOT results [NAME…]    trains rows with 10 seeds; writes docs/results.md
// NAME is a row of bars.yaml; options: --help.

#include <algorithm>
#include <cstdio>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "knurl/core/base/error.h"
#include "page.h"
#include "training.h"

namespace {

using namespace knurl::learning;

struct Arguments {
  TrainingOptions training = {};
  std::vector<std::string> names = {};
  bool write = false;
  bool table_only = false;
};

/// The rows of these names, all for none. Throws Error(config) naming the rows for an unknown one.
std::vector<Row> chosen(const std::vector<Row>& rows, const std::vector<std::string>& names) {
  for (const std::string& name : names) {
    if (std::ranges::count(rows, name, &Row::name) > 0) continue;
    std::vector<std::string> known;
    for (const Row& row : rows) known.push_back(row.name);
    knurl::fail(knurl::ErrorKind::config, "{}: no row of bars.yaml; there are {}", name,
                fmt::join(known, ", "));
  }
  std::vector<Row> out;
  for (const Row& row : rows) {
    if (names.empty() || std::ranges::count(names, row.name) > 0) out.push_back(row);
  }
  return out;
}

void print(const Row& row, const RowResult& result) {
  const std::vector<double> scores = scores_of(result.seeds);
  fmt::print("{}: {} {:.2f} by seed, median {:.2f}, {} within {} env steps: {}\n", row.name,
             knurl::name_of(row.bar.metric.value()), fmt::join(scores, ", "), median(scores),
             row.bar.text(), row.bar.env_steps.value(),
             met(row.bar, result.seeds) ? "met" : "MISSED");
  std::fflush(stdout);
}

int run(const Arguments& arguments) {
  const std::filesystem::path& root = arguments.training.root;
  const std::vector<Row> rows = read_rows(root);
  bool all_met = true;
  if (!arguments.table_only) {
    train_rows(chosen(rows, arguments.names), arguments.training,
               [&](const Row& row, const RowResult& result) {
                 print(row, result);
                 all_met = all_met && met(row.bar, result.seeds);
                 if (arguments.write) save_result(root, row, result);
               });
  }
  if (arguments.write) write_page(root, rows);
  return all_met ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  Arguments arguments;
  CLI::App app("What knurl must learn, and what it has learnt.", "learning");
  app.add_option("knurl", arguments.training.knurl, "the knurl command")->required();
  app.add_option("root", arguments.training.root, "the repository")->required();
  app.require_subcommand(1);
  CLI::App* check = app.add_subcommand("check", "trains rows and compares them with their bars");
  CLI::App* results = app.add_subcommand("results", "trains rows and writes docs/results.md");
  for (CLI::App* command : {check, results}) {
    command->add_option("names", arguments.names, "rows of bars.yaml; all where none is named");
    command->add_option("--seeds", arguments.training.seeds, "how many: 3, for results 10")
        ->check(CLI::Range(1, 1000));
    command->add_option("--jobs", arguments.training.jobs, "seeds that train at a time")
        ->check(CLI::Range(1, 1000));
  }
  results->preparse_callback([&](std::size_t) { arguments.training.seeds = 10; });
  results->add_flag("--table", arguments.table_only, "train nothing: write the page anew");
  CLI11_PARSE(app, argc, argv);
  arguments.write = results->parsed();
  try {
    return run(arguments);
  } catch (const std::exception& error) {
    fmt::print(stderr, "learning: {}\n", error.what());
    return 2;
  }
}
