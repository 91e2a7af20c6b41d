#include "page.h"

#include <filesystem>

#include <gtest/gtest.h>

#include "knurl/core/base/file.h"
#include "scratch.h"

namespace knurl::learning {
namespace {

ShownRow shown_row() {
  const Curve curve{{10, 1}, {100, 500}};
  ShownRow out{.row = {.name = "ppo_a",
                       .bar = {.config = std::string("configs/ppo/a.yaml"),
                               .env_steps = 100,
                               .at_least = std::optional(475.0)},
                       .algorithm = "PPO",
                       .env = "A-v1",
                       .experiment = "{}"},
               .result = RowResult{.experiment = "{}",
                                   .version = "0.1.0, x86-64-v3 kernels",
                                   .machine = "a machine",
                                   .jobs = 1,
                                   .seeds = {}},
               .reference = {}};
  for (const double score : {500.0, 480.0, 400.0}) {
    out.result->seeds.push_back({.seed = static_cast<int>(out.result->seeds.size()) + 1,
                                 .env_steps = 96,
                                 .score = score,
                                 .seconds = score / 100.0,
                                 .curve = curve});
  }
  return out;
}

bool has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

TEST(ResultsPage, HasALineForEachRow) {
  const std::string page = results_page({shown_row()});
  // mean of three 460; a resample of 400 alone has chance 1/27, more than 0.025, and so of 500
  EXPECT_TRUE(has(page,
                  "| [ppo_a](#ppo_a) | PPO | A-v1 | 96 | 3 | reward_mean | 480.0 | 460.0 [400.0, "
                  "500.0] | at least 475 |  |  | 4 |\n"))
      << page;
  EXPECT_TRUE(has(page, "by seed: 500.0, 480.0, 400.0.")) << page;
  EXPECT_TRUE(has(page, "(results/ppo_a.svg)")) << page;
  EXPECT_FALSE(has(page, "has changed since"));
  EXPECT_FALSE(has(page, "Not trained yet"));
}

TEST(ResultsPage, SaysWhatTheReferenceReaches) {
  ShownRow shown = shown_row();
  shown.reference = Reference{.name = "stable-baselines3 2",
                              .seeds = {{.seed = 1, .env_steps = 96, .score = 461.0}}};
  EXPECT_TRUE(has(results_page({shown}), "| 461.0 [461.0, 461.0] | no |"));
  shown.reference->seeds[0].score = 460.0;
  EXPECT_TRUE(has(results_page({shown}), "| 460.0 [460.0, 460.0] | yes |"));
  shown.reference->seeds[0].env_steps = 95;
  EXPECT_TRUE(has(results_page({shown}), "| more steps than SB3's 95 |"));
}

TEST(ResultsPage, TellsMissedBarsChangedConfigsAndUntrainedRows) {
  ShownRow missed = shown_row();
  missed.row.bar.at_least = std::optional(481.0);
  missed.row.experiment = R"({"run":"PPO"})";
  ShownRow untrained = shown_row();
  untrained.row.name = "ppo_b";
  untrained.result.reset();
  const std::string page = results_page({missed, untrained});
  EXPECT_TRUE(has(page, "at least 481 (missed) |")) << page;
  EXPECT_TRUE(has(page, "which has changed since")) << page;
  EXPECT_TRUE(has(page, "Not trained yet: ppo_b.")) << page;
}

TEST(LearningCurve, HasTheReferenceBesideIt) {
  ShownRow shown = shown_row();
  EXPECT_FALSE(has(learning_curve(shown).value(), "stable-baselines3"));
  shown.reference = Reference{.name = "stable-baselines3 2", .seeds = shown.result->seeds};
  EXPECT_TRUE(has(learning_curve(shown).value(), "stable-baselines3 2"));
  shown.result->seeds[1].curve.clear();
  EXPECT_FALSE(learning_curve(shown));
}

TEST(WritePage, DrawsWhatWasSaved) {
  const Scratch scratch;
  const std::filesystem::path& root = scratch.path();
  std::filesystem::create_directories(root / "docs");
  const ShownRow shown = shown_row();
  save_result(root, shown.row, *shown.result);
  write_page(root, {shown.row});
  EXPECT_EQ(read_text_file(root / "docs/results.md"), results_page({shown}));
  EXPECT_EQ(read_text_file(root / "docs/results/ppo_a.svg"), learning_curve(shown));
}

}  // namespace
}  // namespace knurl::learning
