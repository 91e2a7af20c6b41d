#include "knurl/envs/wrappers/wrapper_list.h"

#include <gtest/gtest.h>

#include "../single_env.h"
#include "../test_envs.h"
#include "knurl/core/config/yaml.h"
#include "knurl/envs/registry.h"

namespace knurl {
namespace {

using testing::Counter;
using testing::SingleEnv;

/// The list that YAML gives, around an env.
std::unique_ptr<Env> wrapped(std::unique_ptr<Env> env, const std::string& yaml) {
  const auto list = ValueType<std::vector<WrapperChoice>>::read(parse_yaml(yaml, "a.yaml"),
                                                                "env_config.wrappers", {});
  return wrap(std::move(env), list);
}

/// A Counter to nine, whose reward is 0.1 a step, in wrappers.
SingleEnv counter(const std::string& yaml) {
  return SingleEnv(wrapped(std::make_unique<Counter>(9), yaml));
}

/// What making an env with this env_config fails with.
std::string refusal(const std::string& env, const std::string& yaml) {
  try {
    (void)make_env(env, parse_yaml(yaml, "a.yaml"));
  } catch (const Error& error) {
    return fmt::format("{}: {}", name_of(error.kind()), error.what());
  }
  return "";
}

double first_reward(const std::string& yaml) {
  SingleEnv env = counter(yaml);
  env.reset();
  return env.step(0).reward;
}

std::vector<float> seen(SingleEnv& env) {
  const auto values = env.observation().as<float>();
  return {values.begin(), values.end()};
}

TEST(Wrappers, LimitRewards) {
  EXPECT_EQ(first_reward("[{ClipReward: {high: 0.05}}]"), 0.05);
  EXPECT_EQ(first_reward("[{ClipReward: {low: 0.5}}]"), 0.5);
  EXPECT_EQ(first_reward("[{ClipReward: {low: -1, high: 1}}]"), 0.1);
}

TEST(Wrappers, TakeTheSignsOfRewards) {
  EXPECT_EQ(first_reward("[{ClipReward: {sign: true}}]"), 1.0);
  EXPECT_EQ(first_reward("[{TransformReward: {scale: -1}}, {ClipReward: {sign: true}}]"), -1.0);
  EXPECT_EQ(first_reward("[{TransformReward: {scale: 0}}, {ClipReward: {sign: true}}]"), 0.0);
}

TEST(Wrappers, ScaleRewardsThenShiftThem) {
  EXPECT_EQ(first_reward("[{TransformReward: {scale: 10, shift: -3}}]"), -2.0);
  EXPECT_EQ(first_reward("[TransformReward]"), 0.1) << "without options it changes nothing";
}

TEST(Wrappers, StandInTheOrderOfTheListTheFirstInnermost) {
  EXPECT_EQ(first_reward("[{TransformReward: {scale: 100}}, {ClipReward: {high: 1}}]"), 1.0);
  EXPECT_EQ(first_reward("[{ClipReward: {high: 1}}, {TransformReward: {scale: 100}}]"), 10.0);
}

TEST(Wrappers, StackObservationsTheNewestLast) {
  SingleEnv env = counter("[{FrameStack: {num: 3}}]");
  EXPECT_EQ(env.env().spec().observation, Space(Box{.shape = {3, 1}, .low = 0.0, .high = 9.0}));
  for (int episode = 0; episode < 2; ++episode) {
    env.reset();
    EXPECT_EQ(seen(env), (std::vector<float>{0, 0, 0}));
    const std::vector<std::vector<float>> expected{{0, 0, 1}, {0, 1, 2}, {1, 2, 3}};
    for (const auto& frames : expected) {
      env.step(0);
      EXPECT_EQ(seen(env), frames);
    }
  }
}

TEST(Wrappers, AStackHasTheBoundsOfEachOfItsFrames) {
  const Space space =
      wrapped(make_env("CartPole-v1"), "[{FrameStack: {num: 2}}]")->spec().observation;
  const Box& box = *space.as<Box>();
  const Space one = make_env("CartPole-v1")->spec().observation;
  EXPECT_EQ(box.shape, (Shape{2, 4}));
  for (int i = 0; i < 8; ++i) {
    EXPECT_EQ(box.low.at(i), one.as<Box>()->low.at(i % 4)) << i;
    EXPECT_EQ(box.high.at(i), one.as<Box>()->high.at(i % 4)) << i;
  }
}

/// A picture [1, 2, 2] whose element i is 10 t + i in step t.
class TinyFilm final : public Env {
 public:
  [[nodiscard]] EnvSpec spec() const override {
    return {.observation =
                Box{.shape = {1, 2, 2}, .low = {0, 1, 2, 3}, .high = 255, .dtype = DType::uint8},
            .action = Discrete{.n = 1}};
  }
  void reset(Rng& /*rng*/, ObservationOut observation) override { show(observation, step_ = 0); }
  StepResult step(ActionView /*action*/, ObservationOut observation) override {
    show(observation, ++step_);
    return {};
  }

 private:
  static void show(ObservationOut observation, int step) {
    for (int i = 0; i < 4; ++i) {
      observation.as<std::uint8_t>()[static_cast<std::size_t>(i)] =
          static_cast<std::uint8_t>(10 * step + i);
    }
  }
  int step_ = 0;
};

TEST(Wrappers, PicturesAreStackedInTheirChannelsWhereAsked) {
  SingleEnv env(wrapped(std::make_unique<TinyFilm>(), "[{FrameStack: {num: 2, channels: true}}]"));
  const Space space = env.env().spec().observation;
  EXPECT_EQ(space, Space(Box{.shape = {1, 2, 4},
                             .low = {0, 1, 0, 1, 2, 3, 2, 3},
                             .high = 255,
                             .dtype = DType::uint8}));
  const auto pixels = [&] {
    const auto numbers = env.observation().as<std::uint8_t>();
    return std::vector<int>(numbers.begin(), numbers.end());
  };
  env.reset();
  EXPECT_EQ(pixels(), (std::vector<int>{0, 1, 0, 1, 2, 3, 2, 3}));
  env.step(0);
  env.step(0);  // steps 1 and 2, pixel by pixel
  EXPECT_EQ(pixels(), (std::vector<int>{10, 11, 20, 21, 12, 13, 22, 23}));
  EXPECT_EQ(refusal("Pendulum-v1", "wrappers: [{FrameStack: {channels: true}}]"),
            "config: a.yaml:1: env_config.wrappers[0].FrameStack: channels: true is for pictures "
            "[height, width, channels], not " +
                make_env("Pendulum-v1")->spec().observation.text());
}

TEST(Wrappers, ATimeLimitStandsInPlaceOfTheEnvsOwn) {
  const auto limit = [](const std::string& yaml) {
    return make_env("Maze-v0", parse_yaml(yaml, "a.yaml"))->spec().max_episode_steps;
  };
  EXPECT_EQ(limit("{}"), 100);
  EXPECT_EQ(limit("wrappers: [{TimeLimit: {max_episode_steps: 7}}]"), 7);
  EXPECT_EQ(limit("{max_episode_steps: 5, wrappers: [{ClipReward: {low: 0}}]}"), 5);
  SingleEnv env(make_env(
      "Maze-v0", parse_yaml("wrappers: [{TimeLimit: {max_episode_steps: 200}}]", "a.yaml")));
  env.reset();
  for (int step = 1; step <= 200; ++step) {
    EXPECT_EQ(env.step(1).truncated, step == 200) << step;  // against the wall
  }
}

TEST(Wrappers, AreRefusedWithPlaceAndRule) {
  EXPECT_EQ(refusal("Pendulum-v1", "wrappers:\n- ClipRewards"),
            "config: a.yaml:2: env_config.wrappers[0] = ClipRewards: unknown wrapper; did you mean "
            "ClipReward?");
  EXPECT_EQ(refusal("Pendulum-v1", "wrappers:\n- FrameStack\n- {FrameStack: {nun: 2}}"),
            "config: a.yaml:3: env_config.wrappers[1].FrameStack.nun: unknown option; did you mean "
            "num?");
  EXPECT_EQ(refusal("Pendulum-v1", "wrappers:\n- {FrameStack: {num: 1}}"),
            "config: a.yaml:2: env_config.wrappers[0].FrameStack.num = 1: must be in [2, 1000]");
  EXPECT_EQ(refusal("Pendulum-v1", "wrappers:\n- ClipReward"),
            "config: a.yaml:2: env_config.wrappers[0].ClipReward: limits nothing: give low or high "
            "or both, or sign");
  EXPECT_EQ(
      refusal("Pendulum-v1", "wrappers:\n- {ClipReward: {low: 1, sign: true}}"),
      "config: a.yaml:2: env_config.wrappers[0].ClipReward: sign and limits cannot both hold: "
      "give low or high or both, or sign");
  EXPECT_EQ(refusal("Pendulum-v1", "wrappers: [{ClipReward: {low: 1, high: -1}}]"),
            "config: a.yaml:1: env_config.wrappers[0].ClipReward: low = 1: must be at most "
            "high = -1");
  EXPECT_EQ(
      refusal("Pendulum-v1", "wrappers: [{TransformReward: {scale: .inf}}]"),
      "config: a.yaml:1: env_config.wrappers[0].TransformReward: scale = inf, shift = 0: must "
      "be finite");
  EXPECT_EQ(refusal("Pendulum-v1", "wrappers: [TimeLimit]"),
            "config: a.yaml:1: env_config.wrappers[0].TimeLimit: max_episode_steps: is missing");
  EXPECT_EQ(refusal("Maze-v0", "wrappers: [FrameStack]"),
            "config: a.yaml:1: env_config.wrappers[0].FrameStack: takes observations that are one "
            "Box, not Discrete(25)");
}

TEST(Wrappers, OfOtherFormsAndDoubleLimitsAreRefused) {
  const std::string form = "must be a wrapper's name, or {name: its options}";
  EXPECT_NE(refusal("Maze-v0", "wrappers: [{ClipReward: {low: 0}, FrameStack: {}}]").find(form),
            std::string::npos);
  EXPECT_NE(refusal("Maze-v0", "wrappers: [[ClipReward]]").find(form), std::string::npos);
  EXPECT_NE(refusal("Maze-v0", "wrappers: ClipReward").find("must be a list of wrappers"),
            std::string::npos);
  EXPECT_EQ(refusal("Maze-v0",
                    "{max_episode_steps: 3, wrappers: [{TimeLimit: "
                    "{max_episode_steps: 4}}]}"),
            "config: a.yaml:1: env_config: episodes are limited twice: give one of "
            "max_episode_steps and the wrapper TimeLimit");
  EXPECT_NE(refusal("Maze-v0",
                    "wrappers: [{TimeLimit: {max_episode_steps: 4}}, {TimeLimit: "
                    "{max_episode_steps: 5}}]")
                .find("give one of the wrappers TimeLimit"),
            std::string::npos);
}

TEST(Wrappers, AreReadBackAsTheyAreWritten) {
  using List = ValueType<std::vector<WrapperChoice>>;
  const ConfigValue given = parse_yaml("[{FrameStack: {num: 3}}, {TransformReward: {}}]", "a");
  EXPECT_EQ(List::write(List::read(given, "wrappers", {})), given);
}

}  // namespace
}  // namespace knurl
