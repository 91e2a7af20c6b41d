#include "knurl/core/metrics/result.h"

#include <cmath>
#include <limits>

#include <gtest/gtest.h>

namespace knurl {
namespace {

TEST(Result, KeepsTypesAndOrder) {
  Result result;
  result.set("b", 1);
  result.set("a", 0.5F);
  result.set("flag", true);
  result.set("name", "x");
  result.set("b", std::int64_t{2});
  ASSERT_EQ(result.entries().size(), 4U);
  EXPECT_EQ(result.entries()[0], (Result::Entry{"b", std::int64_t{2}}));
  EXPECT_EQ(result.entries()[1], (Result::Entry{"a", 0.5}));
  EXPECT_EQ(result.number("flag"), 1.0);
  EXPECT_EQ(result.number("name"), std::nullopt);
  EXPECT_EQ(result.number("nothing"), std::nullopt);
}

TEST(Result, NaNIsNothing) {
  Result result;
  result.set("mean", std::nan(""));
  EXPECT_EQ(*result.find("mean"), Result::Value(Result::Nothing{}));
  EXPECT_EQ(result.number("mean"), std::nullopt);
}

TEST(Result, JsonNestsAlongPathsAndReadsBack) {
  Result result;
  result.set("training_iteration", 3);
  result.set("info/learner/kl", 0.25);
  result.set("info/learner/lr", std::numeric_limits<double>::infinity());
  result.set("episode_reward_mean", Result::Nothing{});
  result.set("hist", std::vector<double>{1, 2});
  const std::string json = result.to_json();
  EXPECT_EQ(json, R"({"training_iteration":3,"info":{"learner":{"kl":0.25,"lr":null}},)"
                  R"("episode_reward_mean":null,"hist":[1.0,2.0]})");
  const auto back = numbers_of_json(json);
  ASSERT_TRUE(back);
  EXPECT_EQ(back->number("training_iteration"), 3.0);
  EXPECT_EQ(back->number("info/learner/kl"), 0.25);
  EXPECT_EQ(numbers_of_json(json.substr(0, json.size() / 2)), std::nullopt);
}

TEST(Result, PrettyPrintIsYamlForPeople) {
  Result result;
  result.set("episode_reward_mean", Result::Nothing{"no episode yet"});
  result.set("a/b/c", 1.5);
  result.set("a/list", std::vector<double>{1, 2});
  result.set("only/lists", std::vector<double>{1});
  EXPECT_EQ(pretty_print(result), "episode_reward_mean: no episode yet\na:\n  b:\n    c: 1.5\n");
}

TEST(MetricNames, SayWhatIsWrongWithAName) {
  const MetricNames names(
      {{"reward", {"env_runners/return"}, ""}, {"returns", {}, "", MetricKind::list}});
  EXPECT_EQ(names.problem_with("env_runners/return"), std::nullopt);
  EXPECT_EQ(names.problem_with("rewrd"), "no such metric is reported; did you mean reward?");
  EXPECT_EQ(names.problem_with("returns"), "is a list, not a number");
}

TEST(Result, MergeTakesOverBelowAPrefix) {
  Result inner;
  inner.set("x", 1);
  Result outer;
  outer.merge(inner, "evaluation/");
  EXPECT_EQ(outer.number("evaluation/x"), 1.0);
}

TEST(MetricNames, FindAliases) {
  const MetricNames names({{"reward", {"env_runners/return"}, ""}});
  EXPECT_EQ(names.canonical("env_runners/return"), "reward");
  EXPECT_EQ(names.canonical("loss"), "loss");
  EXPECT_FALSE(names.find("rewards"));
}

}  // namespace
}  // namespace knurl
