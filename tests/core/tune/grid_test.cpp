#include "knurl/core/tune/grid.h"

#include <gtest/gtest.h>

#include "knurl/core/base/error.h"
#include "knurl/core/config/yaml.h"
#include "knurl/core/tune/experiment.h"

namespace knurl::tune {
namespace {

std::vector<GridPoint> points_of(const std::string& yaml) {
  Problems problems;
  std::vector<GridPoint> out = grid_points(parse_yaml(yaml, "a.yaml"), "x", problems);
  problems.throw_any();
  return out;
}

std::string refusal(const std::string& yaml) {
  try {
    points_of(yaml);
  } catch (const Error& error) {
    return error.what();
  }
  return "accepted";
}

void expect_points(const std::string& yaml,
                   const std::vector<std::pair<std::string, std::string>>& expected) {
  const std::vector<GridPoint> points = points_of(yaml);
  ASSERT_EQ(points.size(), expected.size()) << yaml;
  for (std::size_t i = 0; i < points.size(); ++i) {
    EXPECT_EQ(points[i].tag, expected[i].first);
    EXPECT_EQ(points[i].value, parse_yaml(expected[i].second, "expected")) << points[i].tag;
  }
}

TEST(Grid, WithoutASearchThereIsTheValueItself) {
  expect_points("{a: [1, {b: 2}]}", {{"", "{a: [1, {b: 2}]}"}});
}

TEST(Grid, HasEveryCombinationAndTheFirstSearchChangesFastest) {
  expect_points("{a: {grid_search: [1, 4]}, b: {c: {grid_search: [x, y, z]}}, d: 5}",
                {{"0_a=1,c=x", "{a: 1, b: {c: x}, d: 5}"},
                 {"1_a=4,c=x", "{a: 4, b: {c: x}, d: 5}"},
                 {"2_a=1,c=y", "{a: 1, b: {c: y}, d: 5}"},
                 {"3_a=4,c=y", "{a: 4, b: {c: y}, d: 5}"},
                 {"4_a=1,c=z", "{a: 1, b: {c: z}, d: 5}"},
                 {"5_a=4,c=z", "{a: 4, b: {c: z}, d: 5}"}});
}

TEST(Grid, ChoosesListsMapsAndNothingToo) {
  expect_points("{a: {grid_search: [[64, 64], {b: 1}, null]}}", {{"0_a=[64,64]", "{a: [64, 64]}"},
                                                                 {"1_a={\"b\":1}", "{a: {b: 1}}"},
                                                                 {"2_a=null", "{a: null}"}});
}

TEST(Grid, SearchesInLists) {
  expect_points(
      "{lr: [[0, 1], [9, {grid_search: [2, 3]}]]}",
      {{"0_lr[1][1]=2", "{lr: [[0, 1], [9, 2]]}"}, {"1_lr[1][1]=3", "{lr: [[0, 1], [9, 3]]}"}});
}

TEST(Grid, NamesAChoiceByItsWholePathWhereTwoEndAlike) {
  expect_points("{a: {n: {grid_search: [1]}}, b: {n: {grid_search: [2]}}}",
                {{"0_a.n=1,b.n=2", "{a: {n: 1}, b: {n: 2}}"}});
}

TEST(Grid, ASearchThatMeansNothingIsRefusedWithItsPlace) {
  EXPECT_EQ(refusal("a:\n  b: {grid_search: []}"),
            "a.yaml:2: x.a.b.grid_search = []: must have at least one value");
  EXPECT_EQ(refusal("a: {grid_search: 3}"),
            "a.yaml:1: x.a.grid_search = 3: must be a list of values");
  EXPECT_EQ(refusal("a: {grid_search: {b: 1}}"),
            "a.yaml:1: x.a.grid_search = a map of 1: must be a list of values");
  EXPECT_EQ(refusal("a: {grid_search: [1], b: 2}"),
            "a.yaml:1: x.a.grid_search: must stand alone, without other keys beside it");
  EXPECT_EQ(refusal("a: [0, {grid_search: [{b: {grid_search: [1]}}]}]"),
            "a.yaml:1: x.a[1].grid_search: must not hold another grid_search");
}

TEST(Grid, RandomChoicesAreRefusedByWhatTheyAre) {
  const char* const text = "random choices are not available yet; grid_search tries each of a list";
  for (const char* lr : {"{uniform: [0, 1]}", "{loguniform: [1e-4, 1e-2]}", "{choice: [1, 2]}",
                         "{tune.choice: [1, 2]}", "tune.uniform(0 1)"}) {
    EXPECT_EQ(refusal(std::string("config:\n  lr: ") + lr),
              std::string("a.yaml:2: x.config.lr: ") + text);
  }
  expect_points("{env_config: {choice: [1, 2]}, uniform: true}",
                {{"", "{env_config: {choice: [1, 2]}, uniform: true}"}});
}

TEST(Grid, TenThousandTrialsAreTheMost) {
  std::string hundred = "{grid_search: [0";
  for (int i = 1; i < 100; ++i) hundred += ", " + std::to_string(i);
  hundred += "]}";
  EXPECT_EQ(points_of("{a: " + hundred + ", b: " + hundred + "}").size(), 10'000U);
  EXPECT_EQ(refusal("{a: " + hundred + ", b: " + hundred + ", c: {grid_search: [1, 2]}}"),
            "a.yaml:1: x: its grid_search keys make more than 10000 trials");
}

TEST(Grid, AnExperimentIsThereOnceForEachCombination) {
  const auto experiments = parse_experiments(parse_yaml(
      "one: {run: {grid_search: [PPO, DQN]}, env: E}\ntwo: {run: PPO, env: E}", "a.yaml"));
  ASSERT_EQ(experiments.size(), 3U);
  EXPECT_EQ(experiments[0].name, "one");
  EXPECT_EQ(experiments[0].tag, "0_run=PPO");
  EXPECT_EQ(*experiments[0].experiment.run, "PPO");
  EXPECT_EQ(experiments[1].tag, "1_run=DQN");
  EXPECT_EQ(*experiments[1].experiment.run, "DQN");
  EXPECT_EQ(experiments[2].tag, "");
}

}  // namespace
}  // namespace knurl::tune
