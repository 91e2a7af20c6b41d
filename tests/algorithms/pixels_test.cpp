// Learning from pictures.

#include <gtest/gtest.h>

#include "algorithm_cases.h"
#include "knurl/algorithms/dqn/dqn_config.h"
#include "knurl/algorithms/ppo/ppo_config.h"
#include "lit_pixel_env.h"

namespace knurl {
namespace {

/// Mean reward of the last episodes, after at most so many iterations.
double learnt(const std::string& algorithm, const std::string& options, int iterations) {
  const auto built = config_of({"pixels", algorithm, options})->build();
  double reward = 0.0;
  for (int i = 0; i < iterations && reward < 9.5; ++i) {
    reward = built->train().number("episode_reward_mean").value_or(0.0);
  }
  return reward;
}

// at random half of the ten answers are right
TEST(Pixels, PpoLearnsWhichHalfIsLit) {
  EXPECT_GT(learnt("PPO",
                   "{env: LitPixel-v0, train_batch_size: 600, sgd_minibatch_size: 100, "
                   "num_sgd_iter: 5, lr: 0.003, model: {conv_filters: [[8, 3, 2], [16, 3, 1]]}}",
                   20),
            9.5);
}

TEST(Pixels, DqnLearnsWhichHalfIsLit) {
  EXPECT_GT(learnt("SimpleQ",
                   "{env: LitPixel-v0, lr: 0.003, gamma: 0, exploration_config: {type: "
                   "EpsilonGreedy, epsilon_timesteps: 600, temperature: 1}, training_intensity: 8, "
                   "model: {conv_filters: [[8, 3, 2], [16, 3, 1]]}}",
                   40),
            9.5);
}

NetSpec net_of(const std::string& model) {
  PPOConfig config = PPOConfig::from_yaml("{env: LitPixel-v0, model: " + model + "}");
  const EnvSpec env = LitPixelEnv({}).spec();
  return config.net_for(SpaceLayout(env.observation), SpaceLayout(env.action));
}

TEST(Pixels, HeadsShareConvolutionsOnlyWhereTheyShareLayers) {
  const auto names = [](const NetSpec& net) {
    std::vector<std::string> out;
    for (const LayerSpec& layer : net.layers) out.push_back(layer.name);
    return out;
  };
  EXPECT_EQ(
      names(net_of("{post_fcnet_hiddens: [8]}")),
      (std::vector<std::string>{"policy.conv.0", "policy.conv.1", "policy.hidden.0", "policy.out",
                                "value.conv.0", "value.conv.1", "value.hidden.0", "value.out"}));
  EXPECT_EQ(names(net_of("{vf_share_layers: true}")),
            (std::vector<std::string>{"conv.0", "conv.1", "policy.out", "value.out"}));
  const NetSpec net = net_of("{conv_activation: elu}");  // the filters of a small picture
  EXPECT_EQ(net.layers[0].conv.filters, 16);
  EXPECT_EQ(net.layers[1].conv.filters, 256);
  EXPECT_EQ(net.layers[1].activation, Activation::elu);
  EXPECT_EQ(net.layers[0].init, WeightInit::xavier_uniform);
}

}  // namespace
}  // namespace knurl
