#include <gtest/gtest.h>

#include "algorithm_cases.h"

/// DQN's categorical_distribution_temperature divides action values wherever their softmax counts.
namespace knurl {
namespace {

/// The weights that a short run of SimpleQ ends with, and so what its actions were.
std::vector<float> learnt_with(const std::string& options) {
  const auto algorithm = config_of({"SimpleQ", "SimpleQ"}, options)->build();
  for (int i = 0; i < 2; ++i) algorithm->train();
  return weights_of(*algorithm);
}

TEST(CategoricalTemperature, DividesValuesBeforeSoftQDividesThem) {
  const std::vector<float> quarter =
      learnt_with("{exploration_config: {type: SoftQ, temperature: 0.25}}");
  EXPECT_EQ(learnt_with("{categorical_distribution_temperature: 0.5,"
                        " exploration_config: {type: SoftQ, temperature: 0.5}}"),
            quarter);
  EXPECT_NE(learnt_with("{exploration_config: {type: SoftQ, temperature: 0.5}}"), quarter);
}

TEST(CategoricalTemperature, IsThatOfStochasticSampling) {
  EXPECT_EQ(learnt_with("{categorical_distribution_temperature: 0.25,"
                        " exploration_config: {type: StochasticSampling, temperature: 1}}"),
            learnt_with("{exploration_config: {type: SoftQ, temperature: 0.25}}"));
}

TEST(CategoricalTemperature, LeavesTheGreatestValueTheGreatest) {
  const std::string greedy = "exploration_config: {type: EpsilonGreedy, temperature: 1}";
  EXPECT_EQ(learnt_with("{categorical_distribution_temperature: 0.25, " + greedy + "}"),
            learnt_with("{" + greedy + "}"));
}

TEST(CategoricalTemperature, DecidesHowFarNoiseInParametersMayGo) {
  const std::string noise =
      "exploration_config: {type: ParameterNoise, temperature: 1, random_timesteps: 0}";
  // so hot that all policies are alike
  EXPECT_NE(learnt_with("{categorical_distribution_temperature: 1000000, " + noise + "}"),
            learnt_with("{categorical_distribution_temperature: 0.000001, " + noise + "}"));
}

}  // namespace
}  // namespace knurl
