#include "row.h"

#include <algorithm>

#include <gtest/gtest.h>

#include "knurl/core/base/error.h"

namespace knurl::learning {
namespace {

const std::filesystem::path kRoot = KNURL_SOURCE_DIR;

std::vector<SeedResult> seeds_of(const std::vector<double>& scores, std::int64_t env_steps) {
  std::vector<SeedResult> out;
  for (const double score : scores) {
    out.push_back(
        {.seed = static_cast<int>(out.size()) + 1, .env_steps = env_steps, .score = score});
  }
  return out;
}

TEST(Rows, EachNamesAConfigWhoseAlgorithmAndEnvAreTold) {
  const std::vector<Row> rows = read_rows(kRoot);
  const auto row = std::ranges::find(rows, "dqn_cartpole", &Row::name);
  ASSERT_NE(row, rows.end());
  EXPECT_EQ(row->algorithm, "DQN");
  EXPECT_EQ(row->env, "CartPole-v1");
  EXPECT_NE(row->experiment.find("\"target_network_update_freq\":10"), std::string::npos);
}

TEST(Bar, IsForTheMedianWithinTheEnvSteps) {
  const Bar bar{.env_steps = 100, .at_least = std::optional(475.0)};
  EXPECT_TRUE(met(bar, seeds_of({9, 475, 500}, 100)));
  EXPECT_FALSE(met(bar, seeds_of({9, 474, 500}, 100)));
  EXPECT_FALSE(met(bar, seeds_of({500, 500, 500}, 101)));
  EXPECT_TRUE(met(Bar{.env_steps = 100, .at_most = std::optional(8.0)}, seeds_of({8}, 100)));
  EXPECT_FALSE(met(Bar{.env_steps = 100, .at_most = std::optional(8.0)}, seeds_of({8.1}, 100)));
}

TEST(RowResult, IsTheSameFromItsFile) {
  const RowResult result{
      .experiment = R"({"run":"PPO","config":{"lr":[[0,0.001],[100,0.0]]}})",
      .version = "0.1.0, x86-64-v3 kernels",
      .machine = "a \"quick\" one",
      .jobs = 2,
      .seeds = {
          {.seed = 1, .env_steps = 96, .score = 1.0 / 3.0, .seconds = 2.5},
          {.seed = 2, .env_steps = 99, .score = -7, .seconds = 3, .curve = {{10, 1.5}, {99, -2}}}}};
  const std::string text = to_json(result);
  const RowResult read = row_result_from_json(text, "file");
  EXPECT_EQ(to_json(read), text);
  EXPECT_EQ(read.experiment, result.experiment);
  EXPECT_EQ(read.machine, result.machine);
  EXPECT_EQ(read.jobs, 2);
  ASSERT_EQ(read.seeds.size(), 2U);
  EXPECT_EQ(read.seeds[0].score, 1.0 / 3.0);
  EXPECT_EQ(read.seeds[1].env_steps, 99);
  EXPECT_EQ(read.seeds[1].seconds, 3.0);
  EXPECT_EQ(read.seeds[1].curve, result.seeds[1].curve);
}

TEST(RowResult, ADamagedFileIsNamed) {
  for (const char* text : {"", "{}", R"({"experiment": {}, "version": "1", "seeds": 3})"}) {
    try {
      row_result_from_json(text, "docs/results/x.json");
      ADD_FAILURE() << text;
    } catch (const Error& error) {
      EXPECT_TRUE(std::string(error.what()).starts_with("docs/results/x.json: ")) << error.what();
    }
  }
}

TEST(Reference, HasTheSeedsOfItsFile) {
  Row row{.name = "ppo_cartpole", .algorithm = "PPO", .env = "CartPole-v1"};
  const std::optional<Reference> reference = read_reference(kRoot, row);
  ASSERT_TRUE(reference);
  EXPECT_TRUE(reference->name.starts_with("stable-baselines3 ")) << reference->name;
  ASSERT_GE(reference->seeds.size(), 5U);
  for (const SeedResult& seed : reference->seeds) {
    EXPECT_GE(seed.env_steps, 100'000);
    EXPECT_GT(seed.curve.size(), 40U);
    EXPECT_LE(seed.curve.size(), kMostCurvePoints);
  }
  row.env = "NoSuch-v0";
  EXPECT_FALSE(read_reference(kRoot, row));
  row.env = "CartPole-v1";
  row.bar.metric = Metric::length_mean;  // references have returns
  EXPECT_FALSE(read_reference(kRoot, row));
}

TEST(Below, ComparesTheInterquartileMeanWithTheReferencesInterval) {
  // bootstrap means of 10, 20 are 10, 15 and 20: the interval begins at 10
  const Reference reference{.name = "other", .seeds = seeds_of({10, 20}, 100)};
  EXPECT_EQ(below(seeds_of({-5, 10, 10, 400}, 100), reference), false);
  EXPECT_EQ(below(seeds_of({-5, 9, 10, 400}, 100), reference), true);
  EXPECT_EQ(below(seeds_of({30}, 90), reference), false);
}

TEST(Below, MoreEnvStepsThanTheReferencesProveNothing) {
  const Reference reference{.name = "other", .seeds = seeds_of({10, 20}, 100)};
  EXPECT_EQ(below(seeds_of({30}, 101), reference), std::nullopt);
}

}  // namespace
}  // namespace knurl::learning
