#include "page.h"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "chart.h"
#include "knurl/core/base/file.h"

namespace knurl::learning {
namespace {

namespace fs = std::filesystem;

constexpr const char* kIntroduction =
    R"(# Learning results

Written by `./dev results`: each config is trained through the command line with seeds 1, 2, …, then
evaluated greedily from its last checkpoint, for 100 episodes where nothing else is said.
`./dev results NAME…` trains some rows anew,
`--seeds` and `--jobs` say how many seeds, and how many at a time; `./dev results --table` draws this page
again from [results/](results). The rows are those of
[bars.yaml](../tests/learning/bars.yaml).

IQM is the interquartile mean of the seeds' scores (Agarwal et al. 2021; as in rliable, a quarter that is
no whole number of seeds is rounded down), with the 95 % interval of 10,000 bootstrap resamples of the seeds.
SB3 is stable-baselines3 with the hyperparameters of rl-baselines3-zoo
([references](../tests/learning/references)), its figures computed alike; "not below" says whether knurl's IQM
is not below SB3's interval, where knurl took no more env steps. The bar is for the median of the seeds.
Seconds are of training, those of the fastest seed: what else a machine does only adds to them.

)";

const char* label_of(Metric metric) {
  return metric == Metric::length_mean ? "steps of an episode" : "return of an episode";
}

/// A score with as many decimals as its metric needs: exact values are chances here.
std::string score_text(double score, Metric metric) {
  return metric == Metric::exact_value ? fmt::format("{:.4f}", score)
                                       : fmt::format("{:.1f}", score);
}

/// "475.2 [461.0, 500.0]"
std::string iqm_text(const std::vector<double>& scores, Metric metric) {
  const Interval interval = bootstrap_interval(scores, interquartile_mean);
  return fmt::format("{} [{}, {}]", score_text(interquartile_mean(scores), metric),
                     score_text(interval.low, metric), score_text(interval.high, metric));
}

std::string scores_text(const std::vector<SeedResult>& seeds, Metric metric) {
  std::vector<std::string> out;
  for (const SeedResult& seed : seeds) out.push_back(score_text(seed.score, metric));
  return fmt::format("{}", fmt::join(out, ", "));
}

double least_seconds(const std::vector<SeedResult>& seeds) {
  std::vector<double> out;
  for (const SeedResult& seed : seeds) out.push_back(seed.seconds.value());
  return *std::ranges::min_element(out);
}

std::string verdict(const std::vector<SeedResult>& seeds, const Reference& reference) {
  const std::optional<bool> is_below = below(seeds, reference);
  if (!is_below) return fmt::format("more steps than SB3's {}", most_env_steps(reference.seeds));
  return *is_below ? "no" : "yes";
}

std::string table_line(const ShownRow& shown) {
  const auto& [row, result, reference] = shown;
  const std::vector<SeedResult>& seeds = result->seeds;
  const Metric metric = row.bar.metric;
  return fmt::format(
      "| [{0}](#{0}) | {1} | {2} | {3} | {4} | {5} | {6} | {7} | {8}{9} | {10} | "
      "{11} | {12:.3g} |\n",
      row.name, row.algorithm, row.env, most_env_steps(seeds), seeds.size(), name_of(metric),
      score_text(median(scores_of(seeds)), metric), iqm_text(scores_of(seeds), metric),
      row.bar.text(), met(row.bar, seeds) ? "" : " (missed)",
      reference ? iqm_text(scores_of(reference->seeds), metric) : "",
      reference ? verdict(seeds, *reference) : "", least_seconds(seeds));
}

std::string part_of(const ShownRow& shown) {
  const auto& [row, result, reference] = shown;
  std::string out = fmt::format(
      "\n## {0}\n\n[{1}](../{1}){2}. knurl {3}, on {4}, {5} at a time{6}; by seed: {7}.\n",
      row.name, *row.bar.config,
      result->experiment == row.experiment ? "" : ", which has changed since: train this row anew",
      result->version, result->machine,
      result->jobs == 1 ? "one seed" : fmt::format("{} seeds", result->jobs),
      *row.bar.episodes == 100 ? "" : fmt::format(", {} episodes", *row.bar.episodes),
      scores_text(result->seeds, row.bar.metric));
  if (reference) {
    out += fmt::format("\n{}, {} env steps, by seed: {}.\n", reference->name,
                       most_env_steps(reference->seeds),
                       scores_text(reference->seeds, row.bar.metric));
  }
  if (learning_curve(shown)) {
    out += fmt::format("\n![learning curve of {0}](results/{0}.svg)\n", row.name);
  }
  return out;
}

fs::path result_file(const fs::path& root, const Row& row, const char* ending) {
  return root / "docs/results" / (row.name + ending);
}

}  // namespace

std::string results_page(const std::vector<ShownRow>& rows) {
  std::string out = kIntroduction;
  out +=
      "| row | algorithm | env | env steps | seeds | metric | median | IQM | bar | SB3's IQM | "
      "not below | seconds |\n|---|---|---|---|---|---|---|---|---|---|---|---|\n";
  std::vector<std::string> missing;
  for (const ShownRow& shown : rows) {
    if (shown.result) out += table_line(shown);
    if (!shown.result) missing.push_back(shown.row.name);
  }
  if (!missing.empty()) out += fmt::format("\nNot trained yet: {}.\n", fmt::join(missing, ", "));
  out +=
      "\nThe curves show the mean over seeds of the last 100 episodes of training, exploration "
      "included, and its 95 %\nbootstrap interval.\n";
  for (const ShownRow& shown : rows) {
    if (shown.result) out += part_of(shown);
  }
  return out;
}

std::optional<std::string> learning_curve(const ShownRow& shown) {
  std::vector<ChartSeries> series{{"knurl", band_of(curves_of(shown.result->seeds))}};
  if (series.front().points.empty()) return std::nullopt;
  if (shown.reference) {
    series.push_back({shown.reference->name, band_of(curves_of(shown.reference->seeds))});
  }
  return chart_svg(fmt::format("{} on {}", shown.row.algorithm, shown.row.env),
                   label_of(shown.row.bar.metric), series);
}

void save_result(const fs::path& root, const Row& row, const RowResult& result) {
  const fs::path path = result_file(root, row, ".json");
  fs::create_directories(path.parent_path());
  replace_text_file(path, to_json(result));
}

void write_page(const fs::path& root, const std::vector<Row>& rows) {
  std::vector<ShownRow> shown;
  for (const Row& row : rows) {
    shown.push_back({.row = row, .result = {}, .reference = read_reference(root, row)});
    const fs::path path = result_file(root, row, ".json");
    if (!fs::exists(path)) continue;
    shown.back().result = row_result_from_json(read_text_file(path), path);
    const std::optional<std::string> curve = learning_curve(shown.back());
    if (curve) replace_text_file(result_file(root, row, ".svg"), *curve);
  }
  replace_text_file(root / "docs/results.md", results_page(shown));
}

}  // namespace knurl::learning
