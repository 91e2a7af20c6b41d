#include <set>

#include "../single_env.h"
#include "golden.h"
#include "knurl/core/config/yaml.h"
#include "knurl/envs/registry.h"

/// The envs of RLlib's examples that draw what they show do what RLlib's classes did:
/// tests/golden/rllib_chance_envs.json.
namespace knurl {
namespace {

using nlohmann::json;
using testing::expect_space;
using testing::golden;
using testing::SingleEnv;

std::unique_ptr<Env> made(const std::string& name, const json& config) {
  return make_env(name, parse_yaml(config.dump(), "golden"));
}

std::string ending(const StepResult& result) {
  if (result.terminated && result.truncated) return "both";
  if (result.terminated) return "terminated";
  return result.truncated ? "truncated" : "-";
}

void expect_spaces(const Env& env, const json& expected) {
  expect_space(env.spec().observation, expected.at("observation_space"));
  expect_space(env.spec().action, expected.at("action_space"));
}

/// An episode as the golden file has it: "tokens answers", and whether each was right.
struct Episode {
  std::string key;
  std::string outcome;
  std::vector<std::string> endings;
};

Episode play_by_chance(SingleEnv& env, Rng& rng) {
  Episode out;
  std::string answers;
  env.reset();
  while (out.endings.empty() || out.endings.back() == "-") {
    const auto answer = static_cast<std::int64_t>(rng.below(2));
    out.key += std::to_string(env.observed());
    answers += std::to_string(answer);
    const StepResult result = env.step(answer);
    out.outcome += result.reward == 1.0 ? '+' : '-';
    out.endings.push_back(ending(result));
  }
  out.key += " " + answers;
  return out;
}

TEST(Golden, RepeatAfterMeDoesAsTheReferenceInEveryShortEpisode) {
  const json all = golden("rllib_chance_envs.json").at("repeat_after_me");
  for (const json& expected : all) {
    SCOPED_TRACE(expected.at("env_config").dump());
    SingleEnv env(made("RepeatAfterMe", expected.at("env_config")));
    expect_spaces(env.env(), expected);
    const json& episodes = expected.at("episodes");
    std::set<std::string> met;
    Rng rng(1);
    for (int i = 0; i < 2'000; ++i) {  // of at most 64 kinds
      const Episode episode = play_by_chance(env, rng);
      ASSERT_EQ(episode.endings, expected.at("endings").get<std::vector<std::string>>());
      ASSERT_EQ(episode.outcome, episodes.at(episode.key).get<std::string>()) << episode.key;
      met.insert(episode.key);
    }
    EXPECT_EQ(met.size(), episodes.size());
  }
}

TEST(Golden, RepeatAfterMeLastsAsLongAsTheReference) {
  SingleEnv env(made("RepeatAfterMe", json::object()));
  Rng rng(1);
  const json length = golden("rllib_chance_envs.json").at("repeat_after_me_length");
  EXPECT_EQ(play_by_chance(env, rng).endings.size(), length.get<std::size_t>());
}

TEST(Golden, RepeatAfterMeWithNumbersDoesAsTheReference) {
  const json expected = golden("rllib_chance_envs.json").at("repeat_numbers");
  const std::unique_ptr<Env> env = made("RepeatAfterMe", expected.at("env_config"));
  expect_spaces(*env, expected);
  SpaceLayout layout(env->spec().observation);
  SpaceValue observation(layout);
  SpaceValue answer(layout);
  Rng rng(1);
  env->reset(rng, observation.row());
  for (std::size_t i = 0; i < expected.at("answers").size(); ++i) {
    for (std::size_t k = 0; k < 2; ++k) answer.row()[k] = expected.at("answers")[i][k];
    const StepResult result = env->step(std::as_const(answer).row(), observation.row());
    EXPECT_EQ(result.reward, expected.at("rewards")[i].get<double>()) << i;
    EXPECT_EQ(ending(result), expected.at("endings")[i].get<std::string>()) << i;
  }
}

TEST(Golden, RandomEnvEndsAsTheReference) {
  const json all = golden("rllib_chance_envs.json").at("random_env");
  for (const json& expected : all) {
    SCOPED_TRACE(expected.at("env_config").dump());
    SingleEnv env(made("RandomEnv", expected.at("env_config")));
    expect_spaces(env.env(), expected);
    env.reset();
    for (const json& end : expected.at("endings")) {
      EXPECT_EQ(ending(env.step(0)), end.get<std::string>());
    }
  }
}

TEST(Golden, LargeRandomEnvsHaveTheReferencesSpaces) {
  const json all = golden("rllib_chance_envs.json").at("large");
  for (const json& expected : all) {
    const EnvSpec spec = made(expected.at("env"), json::object())->spec();
    const json& seen = expected.at("observation");
    EXPECT_EQ(spec.observation, Space(Box{.shape = seen.at("shape").get<Shape>(),
                                          .low = seen.at("low").get<double>(),
                                          .high = seen.at("high").get<double>()}));
    expect_space(spec.action, expected.at("action_space"));
  }
}

}  // namespace
}  // namespace knurl
