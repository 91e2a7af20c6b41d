#include <gtest/gtest.h>

#include "knurl/algorithms/algorithm.h"
#include "knurl/algorithms/ppo/ppo_config.h"
#include "knurl/algorithms/registry.h"
#include "knurl/core/base/error.h"
#include "knurl/core/config/yaml.h"
#include "knurl/envs/env.h"
#include "knurl/envs/registry.h"

namespace knurl {
namespace {

PPOConfig masked_config(const std::string& more = "{lr: 0.003}") {
  PPOConfig config = PPOConfig::from_yaml(
      "{env: ActionMaskEnv, env_config: {strict: true}, num_workers: 0, num_envs_per_worker: 8, "
      "train_batch_size: 1000,"
      " sgd_minibatch_size: 200, num_sgd_iter: 3, seed: 1,"
      " model: {fcnet_hiddens: [16]}}");
  config.update(parse_yaml(more, "test"), "");
  return config;
}

std::string refusal(const std::function<void()>& body) {
  try {
    body();
  } catch (const Error& error) {
    return error.what();
  }
  return "accepted";
}

// the env takes an action that is not allowed for an error
TEST(ActionMask, TenThousandStepsAndAnEvaluationTakeNoActionThatIsNotAllowed) {
  const auto algorithm =
      masked_config("{lr_schedule: [[0, 0.003], [8999, 0.003], [9000, 0]]}").build();
  Result result;
  for (int i = 0; i < 10; ++i) {
    result = algorithm->train();
    for (const char* name : {"kl", "entropy", "total_loss", "policy_loss"}) {
      const auto value =
          result.number(std::string("info/learner/default_policy/learner_stats/") + name);
      ASSERT_TRUE(value.has_value() && std::isfinite(*value)) << name;
    }
  }
  EXPECT_LT(result.number("info/learner/default_policy/learner_stats/kl").value(), 1e-7)
      << "without a step the policy that learns is the one that acted";
  EXPECT_NO_THROW(algorithm->evaluate());
}

TEST(ActionMask, WithoutItAnActionIsSoonNotAllowed) {
  const auto algorithm = masked_config("{action_mask_key: ''}").build();
  EXPECT_NE(refusal([&] { algorithm->train(); }).find("Invalid action"), std::string::npos);
}

TEST(ActionMask, TheNetDoesNotReadIt) {
  const auto with = masked_config().build();
  const auto without = masked_config("{action_mask_key: ''}").build();
  EXPECT_NE(with->get_policy().summary().find("[N, 5]"), std::string::npos);
  EXPECT_NE(without->get_policy().summary().find("[N, 15]"), std::string::npos);
}

/// Allows both actions, and in its third step none.
class Closing final : public Env {
 public:
  struct Config {
    bool strict = false;  // what all configs here give
    static void fields(auto& self, auto&& field) { field("strict", self.strict, "nothing"); }
  };
  explicit Closing(const Config&) {}
  [[nodiscard]] EnvSpec spec() const override {
    return {.observation = Dict{.spaces = {{"action_mask", MultiBinary{.shape = {2}}},
                                           {"seen", Box{.shape = {1}}}}},
            .action = Discrete{.n = 2}};
  }
  void reset(Rng&, ObservationOut observation) override {
    steps_ = 0;
    show(observation);
  }
  StepResult step(ActionView, ObservationOut observation) override {
    ++steps_;
    show(observation);
    return {};
  }

 private:
  void show(ObservationOut observation) const {
    std::ranges::fill(observation.leaf<std::uint8_t>("action_mask"), steps_ == 3 ? 0 : 1);
    observation.leaf<float>("seen")[0] = 0.0F;
  }
  int steps_ = 0;
};

TEST(ActionMask, AnObservationThatAllowsNothingIsNamed) {
  register_env_once<Closing>("Closing-v0");
  const auto algorithm = masked_config("{env: Closing-v0, num_envs_per_worker: 1}").build();
  EXPECT_EQ(refusal([&] { algorithm->train(); }),
            "Closing-v0 (worker 0, env 0): episode 0, step 3: observation[action_mask] allows no "
            "action");
}

TEST(ActionMask, AKeyThatNamesNothingIsRefusedWhereItStands) {
  const std::string text = refusal([] { masked_config("{action_mask_key: mask}").build(); });
  EXPECT_TRUE(text.starts_with("test:1: environment.action_mask_key = mask: the observation Dict("))
      << text;
  EXPECT_TRUE(text.ends_with("; did you mean action_mask?")) << text;
  EXPECT_EQ(refusal([] { masked_config("{action_mask_key: action_mask}").build(); }), "accepted");
  EXPECT_EQ(
      refusal([] {
        masked_config("{env: CartPole-v1, env_config: null, action_mask_key: action_mask}").build();
      }),
      "accepted")
      << "a config that is written out has it";
}

TEST(ActionMask, DqnSaysThatItHeedsNone) {
  const auto config = make_config("DQN");
  config->update(parse_yaml("{env: ActionMaskEnv}", "test"), "");
  EXPECT_NE(refusal([&] { config->build(); }).find("DQN heeds no action masks"), std::string::npos);
  const auto unmasked = make_config("DQN");
  unmasked->update(parse_yaml("{env: ActionMaskEnv, action_mask_key: ''}", "test"), "");
  EXPECT_NO_THROW(unmasked->build());
}

}  // namespace
}  // namespace knurl
