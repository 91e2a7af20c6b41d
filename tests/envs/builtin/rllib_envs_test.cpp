#include <set>

#include <gtest/gtest.h>

#include "../single_env.h"
#include "knurl/core/config/yaml.h"
#include "knurl/envs/registry.h"

/// The envs of RLlib's examples.
namespace knurl {
namespace {

using testing::SingleEnv;

std::unique_ptr<Env> made(const std::string& name, const std::string& config = "{}") {
  return make_env(name, parse_yaml(config, "a.yaml"));
}

std::string refusal(const std::string& name, const std::string& config) {
  try {
    (void)made(name, config);
  } catch (const Error& error) {
    return fmt::format("{}: {}", name_of(error.kind()), error.what());
  }
  return "";
}

TEST(RllibEnvs, AreMadeAsRllibsFilesNameThem) {
  const auto spec = [](const std::string& module_and_class, const std::string& config) {
    const EnvSpec old = made("ray.rllib.examples.env." + module_and_class, config)->spec();
    EXPECT_EQ(made("ray.rllib.examples.envs.classes." + module_and_class, config)->spec(), old);
    return old;
  };
  EXPECT_EQ(spec("stateless_cartpole.StatelessCartPole", "{}"), made("StatelessCartPole")->spec());
  EXPECT_EQ(spec("repeat_after_me_env.RepeatAfterMeEnv", "config: {repeat_delay: 2}"),
            made("RepeatAfterMeEnv")->spec());
  EXPECT_EQ(spec("transformed_action_space_env.TransformedActionPendulum",
                 "config: {low: 300.0, high: 500.0}")
                .action,
            Space(Box{.shape = {1}, .low = 300.0, .high = 500.0}));
  EXPECT_EQ(spec("random_env.RandomEnv", "{}").observation, Space(Discrete{.n = 2}));
  const Space large = Box{.shape = {5'000}, .low = -1.0, .high = 1.0};
  const EnvSpec leak = spec("random_env.RandomLargeObsSpaceEnv", "config: {static_samples: true}");
  EXPECT_EQ(leak.observation, large);
  EXPECT_EQ(leak.action, Space(Discrete{.n = 2}));
  const EnvSpec continuous = spec("random_env.RandomLargeObsSpaceEnvContActions", "{}");
  EXPECT_EQ(continuous.observation, large);
  EXPECT_EQ(continuous.action, Space(Box{.shape = {5}, .low = -1.0, .high = 1.0}));
  EXPECT_EQ(made("maze_gym_env.GymEnvironment")->spec(), made("Maze-v0")->spec());
}

TEST(StatelessCartPole, ShowsPositionAndAngleOfACartPole) {
  SingleEnv cart(made("CartPole-v1"), 3);
  SingleEnv positions(made("StatelessCartPole"), 3);
  const EnvSpec spec = positions.env().spec();
  const EnvSpec whole_spec = cart.env().spec();
  const Box& box = *spec.observation.as<Box>();
  const Box& whole = *whole_spec.observation.as<Box>();
  EXPECT_EQ(box.shape, Shape{2});
  EXPECT_EQ(box.low, Bounds({whole.low.at(0), whole.low.at(2)}));
  EXPECT_EQ(box.high, Bounds({whole.high.at(0), whole.high.at(2)}));
  for (int episode = 0; episode < 3; ++episode) {
    cart.reset();
    positions.reset();
    for (int i = 0; i < 200; ++i) {
      ASSERT_EQ(positions.observation()[0], cart.observation()[0]);
      ASSERT_EQ(positions.observation()[1], cart.observation()[2]);
      const StepResult expected = cart.step(i % 3 == 0 ? 1 : 0);
      const StepResult result = positions.step(i % 3 == 0 ? 1 : 0);
      ASSERT_EQ(result.reward, expected.reward);
      ASSERT_EQ(result.terminated, expected.terminated);
      if (result.terminated) break;
    }
  }
  EXPECT_EQ(positions.env().render(), cart.env().render());
}

TEST(StatelessCartPole, GoesOnWhileThePoleStands) {
  SingleEnv env(made("StatelessCartPole"));
  env.reset();
  std::array before{0.0F, 0.0F};
  for (int i = 0; i < 1'000; ++i) {  // CartPole-v1 lasts 500
    const std::array now{env.observation()[0], env.observation()[1]};
    const float lean =
        now[1] + 0.05F * now[0] + 20.0F * (now[1] - before[1]) + 3.0F * (now[0] - before[0]);
    before = now;
    const StepResult result = env.step(lean > 0.0F ? 1 : 0);
    ASSERT_FALSE(result.terminated || result.truncated) << "step " << i;
  }
}

TEST(TransformedActionPendulum, StretchesActionsToTorques) {
  SingleEnv pendulum(made("Pendulum-v1"), 3);
  SingleEnv transformed(made("TransformedActionPendulum", "{low: 300.0, high: 500.0}"), 3);
  pendulum.reset();
  transformed.reset();
  EXPECT_EQ(transformed.env().spec().max_episode_steps, 200);
  for (const auto& [action, torque] : {std::pair(300.0F, -2.0F), std::pair(400.0F, 0.0F),
                                       std::pair(425.0F, 0.5F), std::pair(500.0F, 2.0F)}) {
    EXPECT_EQ(transformed.step_by(action).reward, pendulum.step_by(torque).reward);
    for (std::size_t k = 0; k < 3; ++k) {
      EXPECT_EQ(transformed.observation()[k], pendulum.observation()[k]);
    }
  }
  EXPECT_EQ(refusal("TransformedActionPendulum", "{low: 5, high: 3}"),
            "config: env_config.low = 5 and env_config.high = 3: low must be below high");
}

TEST(RepeatAfterMe, WhatWasSeenDelayStepsAgoIsRight) {
  for (const int delay : {0, 1, 2, 5}) {
    SingleEnv env(made("RepeatAfterMe", fmt::format("repeat_delay: {}", delay)));
    env.reset();
    std::vector<std::int64_t> seen{env.observed()};
    int steps = 0;
    for (bool over = false; !over; ++steps) {
      const std::int64_t right = steps < delay ? 0 : seen[static_cast<std::size_t>(steps - delay)];
      const std::int64_t said = steps % 3 == 0 ? 1 - right : right;
      const StepResult result = env.step(said);
      ASSERT_EQ(result.reward, said == right ? 1.0 : -1.0) << "delay " << delay << ", " << steps;
      EXPECT_EQ(result.terminated, result.truncated);
      over = result.terminated;
      seen.push_back(env.observed());
    }
    EXPECT_EQ(steps, 101 - delay);
    EXPECT_EQ((std::set<std::int64_t>{seen.begin(), seen.end()}), (std::set<std::int64_t>{0, 1}));
  }
}

TEST(RepeatAfterMe, ForgetsTheLastEpisode) {
  SingleEnv env(made("RepeatAfterMe", "{repeat_delay: 3, episode_len: 10}"));
  for (int episode = 0; episode < 50; ++episode) {
    env.reset();
    for (int i = 0; i < 3; ++i) ASSERT_EQ(env.step(0).reward, 1.0);
    while (!env.step(0).terminated) {
    }
  }
}

TEST(RepeatAfterMe, WithNumbersTheRewardIsMinusTheDistance) {
  const std::unique_ptr<Env> env = made("RepeatAfterMe", "{repeat_delay: 1, continuous: true}");
  const SpaceLayout layout(env->spec().observation);
  SpaceValue observation(layout);
  SpaceValue action(layout);
  Rng rng(1);
  env->reset(rng, observation.row());
  const auto step = [&](float first, float second) {
    action.row()[0] = first;
    action.row()[1] = second;
    return env->step(std::as_const(action).row(), observation.row()).reward;
  };
  const std::array seen{observation.row()[0], observation.row()[1]};
  EXPECT_EQ(step(0.5F, -0.25F), -0.75) << "there was nothing to repeat";
  EXPECT_EQ(step(seen[0], seen[1]), 0.0);
  EXPECT_NE(env->render().find("is to say"), std::string::npos);
}

TEST(RepeatAfterMe, RefusesWhatCannotBe) {
  EXPECT_EQ(refusal("RepeatAfterMe", "repeat_delay: -1"),
            "config: a.yaml:1: env_config.repeat_delay = -1: must be in [0, 10000]");
  EXPECT_EQ(refusal("RepeatAfterMe", "episode_len: 0"),
            "config: a.yaml:1: env_config.episode_len = 0: must be in [1, 1000000000]");
  SingleEnv env(made("RepeatAfterMe"));
  env.reset();
  EXPECT_THROW(env.step(2), Error);
}

TEST(RepeatAfterMe, RendersWhatIsSeenAndWhatIsToBeSaid) {
  SingleEnv env(made("RepeatAfterMe"));
  env.reset();
  const std::int64_t first = env.observed();
  EXPECT_EQ(env.env().render(), fmt::format("sees {}, is to say 0\n", first));
  env.step(0);
  EXPECT_EQ(env.env().render(), fmt::format("sees {}, is to say {}\n", env.observed(), first));
}

TEST(RandomEnv, EndsByChanceAndAtItsLongest) {
  SingleEnv env(made("RandomEnv", "{p_terminated: 0.2, max_episode_len: 5}"));
  int terminated = 0;
  int truncated = 0;
  for (int episode = 0; episode < 5'000; ++episode) {
    env.reset();
    for (int step = 1;; ++step) {
      const StepResult result = env.step(0);
      ASSERT_GE(result.reward, -1.0);
      ASSERT_LE(result.reward, 1.0);
      ASSERT_FALSE(result.terminated && result.truncated);
      ASSERT_EQ(result.truncated, step == 5);
      terminated += result.terminated ? 1 : 0;
      truncated += result.truncated ? 1 : 0;
      if (result.terminated || result.truncated) break;
    }
  }
  EXPECT_EQ(terminated + truncated, 5'000);
  EXPECT_NEAR(truncated, 5'000 * 0.8 * 0.8 * 0.8 * 0.8, 180);  // five standard deviations
}

TEST(RandomEnv, StaticSamplesAreTheSameForEver) {
  const std::string config =
      "{observation_space: {type: Dict, spaces: {a: {type: Box, shape: [3], low: 0, high: 1}, "
      "b: {type: Discrete, n: 1000}}}, static_samples: true, p_terminated: 0}";
  SingleEnv env(made("RandomEnv", config), 1);
  SingleEnv other(made("RandomEnv", config), 2);
  env.reset();
  other.reset();
  const auto text = [](SingleEnv& of) {
    const auto a = of.observation().leaf<float>("a");
    return fmt::format("{} {} {} {}", a[0], a[1], a[2],
                       of.observation().leaf<std::int64_t>("b")[0]);
  };
  const std::string first = text(env);
  EXPECT_EQ(text(other), first);
  std::set<double> rewards;
  for (int i = 0; i < 20; ++i) {
    rewards.insert(env.step(0).reward);
    EXPECT_EQ(text(env), first);
  }
  EXPECT_EQ(rewards.size(), 1U);
}

TEST(RandomEnv, RewardsAreDrawnFromTheirSpace) {
  const auto rewards = [](const std::string& space) {
    SingleEnv env(made("RandomEnv", "{p_terminated: 0, reward_space: " + space + "}"));
    env.reset();
    std::set<double> out;
    for (int i = 0; i < 200; ++i) out.insert(env.step(0).reward);
    return out;
  };
  EXPECT_EQ(rewards("{type: Discrete, n: 3, start: -1}"), (std::set<double>{-1.0, 0.0, 1.0}));
  EXPECT_EQ(rewards("{type: Box, low: 2, high: 3, dtype: int32}"), (std::set<double>{2.0, 3.0}));
  const std::set<double> box = rewards("{type: Box, low: 5, high: 6, shape: []}");
  EXPECT_GE(*box.begin(), 5.0);
  EXPECT_LT(*box.begin(), 5.1);
  EXPECT_GT(*box.rbegin(), 5.9);
  EXPECT_EQ(refusal("RandomEnv", "reward_space: {type: Box, shape: [2]}"),
            "config: env_config.reward_space = Box([2], -inf, inf, float32): must be a Discrete or "
            "a Box of one element");
}

TEST(RandomEnv, ChecksActionsWhereItIsToldTo) {
  SingleEnv careless(made("RandomEnv"));
  careless.reset();
  EXPECT_NO_THROW(careless.step(7));
  SingleEnv careful(made("RandomEnv", "check_action_bounds: true"));
  careful.reset();
  EXPECT_NO_THROW(careful.step(1));
  try {
    careful.step(7);
    FAIL() << "took it";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::env);
    EXPECT_STREQ(error.what(), "Invalid action of Discrete(2): element 0: 7 is not in [0, 1]");
  }
}

}  // namespace
}  // namespace knurl
