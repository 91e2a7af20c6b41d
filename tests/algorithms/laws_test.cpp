// How what is learnt follows from what envs give.

#include <regex>

#include <gtest/gtest.h>

#include "algorithm_cases.h"
#include "knurl/algorithms/q_learning/q_learning_config.h"
#include "knurl/core/base/error.h"
#include "knurl/core/config/yaml.h"
#include "knurl/core/data/finite.h"
#include "spoilt_env.h"

namespace knurl {
namespace {

class EveryAlgorithmLaw : public ::testing::TestWithParam<AlgorithmCase> {};

/// What a run is refused with before its 20th iteration.
std::string refusal_of(Algorithm& algorithm) {
  try {
    for (int i = 0; i < 20; ++i) algorithm.train();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::env);
    return error.what();
  }
  return "trained on";
}

TEST_P(EveryAlgorithmLaw, NaNFromAnEnvStopsTheRunAndSpoilsNoWeights) {
  register_env_once<SpoiltEnv>("Spoilt-v0");
  const std::string env = *config_of(GetParam())->common().environment.env;
  const Space observation = make_env(env, ConfigValue::empty_map())->spec().observation;
  const auto check = [&](bool of_observation, const char* workers, const char* worker) {
    const auto algorithm =
        config_of(GetParam(),
                  fmt::format("{{env: Spoilt-v0, env_config: {{env: {}, after: 60, observation: "
                              "{}}}, {}}}",
                              env, of_observation, workers))
            ->build();
    const std::vector<float> before = weights_of(*algorithm);
    const std::string refusal = refusal_of(*algorithm);
    const std::regex expected(fmt::format(
        R"(Spoilt-v0 \(worker {}, env [0-5]\): episode [0-9]+, step 5: {} is nan: must be finite)",
        worker, of_observation ? R"(observation\[0\])" : "reward"));
    EXPECT_TRUE(std::regex_match(refusal, expected)) << refusal;
    const std::vector<float> after = weights_of(*algorithm);
    EXPECT_NE(after, before);  // it learnt until then
    EXPECT_TRUE(all_finite(after));
  };
  for (const bool of_observation : {false, true}) {
    if (of_observation && !SpaceLayout(observation).plain_float())
      continue;  // whole numbers are no NaN
    check(of_observation, "num_workers: 0", "0");
    check(of_observation, "num_workers: 2, num_envs_per_worker: 3", "[12]");
  }
}

INSTANTIATE_TEST_SUITE_P(Each, EveryAlgorithmLaw, ::testing::ValuesIn(algorithm_cases()),
                         [](const auto& one) { return one.param.name; });

TEST(QLearningLaw, RewardsTimesAPowerOfTwoMakeTablesTimesIt) {
  for (const auto& [rule, name] : names(UpdateRule{})) {
    for (const double visit_power : {0.0, 0.6}) {
      const auto table = [&](double scale, double initial_q) {
        const AlgorithmCase which{
            "", "QLearning",
            fmt::format("{{update_rule: {}, visit_power: {}, initial_q: {},"
                        " env_config: {{wrappers: [{{TransformReward: {{scale: "
                        "{}}}}}]}}}}",
                        name, visit_power, initial_q, scale)};
        const auto algorithm = config_of(which)->build();
        for (int i = 0; i < 5; ++i) algorithm->train();
        return weights_of(*algorithm);
      };
      const std::vector<float> once = table(1.0, 0.75);
      EXPECT_NE(once, std::vector<float>(once.size(), 0.75F));
      for (const float scale : {8.0F, 0.25F}) {
        std::vector<float> expected = once;
        for (float& value : expected) value *= scale;
        EXPECT_EQ(table(scale, 0.75 * scale), expected)
            << name << " " << visit_power << " " << scale;
      }
      EXPECT_NE(table(8.0, 0.75), once) << name;  // nothing is scaled in silence
    }
  }
}

}  // namespace
}  // namespace knurl
