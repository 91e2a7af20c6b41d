#include "golden.h"

#include <numbers>
#include <set>

#include "../single_env.h"
#include "knurl/core/config/yaml.h"
#include "knurl/envs/builtin/acrobot.h"
#include "knurl/envs/builtin/cartpole.h"
#include "knurl/envs/builtin/mountain_car_continuous.h"
#include "knurl/envs/builtin/pendulum.h"
#include "knurl/envs/registry.h"
#include "knurl/envs/wrappers/wrapper.h"

/// The built-in envs do what the reference implementation did: tests/golden/*.json.
namespace knurl {
namespace {

using nlohmann::json;
using testing::expect_space;
using testing::golden;
using testing::number;
using testing::SingleEnv;

/// How far from the reference's numbers an env's may be.
template <class E>
constexpr double kTolerance = 1e-5;
template <>
constexpr double kTolerance<MountainCar> = 0.0;
template <>
constexpr double kTolerance<MountainCarContinuous> = 0.0;

void set_state(CartPole& env, const json& state) {
  env.set_state({.x = state[0], .x_dot = state[1], .theta = state[2], .theta_dot = state[3]});
}
void set_state(Pendulum& env, const json& state) {
  env.set_state({.theta = state[0], .theta_dot = state[1]});
}

void set_state(MountainCar& env, const json& state) {
  env.set_state({.position = state[0], .velocity = state[1]});
}
void set_state(MountainCarContinuous& env, const json& state) {
  env.set_state({.car = {.position = state[0], .velocity = state[1]}});
}
void set_state(Acrobot& env, const json& state) {
  env.set_state(
      {.theta1 = state[0], .theta2 = state[1], .theta1_dot = state[2], .theta2_dot = state[3]});
}

/// Where an episode of CartPole ended, for what a transcript must cover.
std::string side(const json& observation) {
  if (observation[0] > 2.4) return "x high";
  if (observation[0] < -2.4) return "x low";
  return observation[2] > 0.0 ? "theta high" : "theta low";
}

/// The env of this class below all wrappers.
template <class E>
E& innermost(Env& env) {
  Env* found = &env;
  while (auto* wrapper = dynamic_cast<EnvWrapper*>(found)) found = &wrapper->inner();
  return dynamic_cast<E&>(*found);
}

/// Plays a transcript's actions from its states and compares every step.
template <class E>
void replay(const std::string& name, const json& transcript) {
  SCOPED_TRACE(name + ", " + transcript.at("name").get<std::string>());
  SingleEnv single(make_env(name, parse_yaml(transcript.at("env_config").dump(), "golden")));
  E& env = innermost<E>(single.env());
  const auto terminated = transcript.at("terminated_at").get<std::set<std::size_t>>();
  const auto truncated = transcript.at("truncated_at").get<std::set<std::size_t>>();
  const json& states = transcript.at("states");
  const json& actions = transcript.at("actions");
  std::size_t episode = 0;
  bool start = true;
  for (std::size_t i = 0; i < actions.size(); ++i) {
    if (start) {
      single.reset();
      set_state(env, states[episode++ % states.size()]);
    }
    const bool by_index = env.spec().action.template as<Discrete>() != nullptr;
    const StepResult result =
        by_index ? single.step(actions[i]) : single.step_by(actions[i].get<float>());
    const json& expected = transcript.at("observations")[i];
    for (std::size_t k = 0; k < expected.size(); ++k) {
      ASSERT_NEAR(single.observation()[k], static_cast<float>(number(expected[k])), kTolerance<E>)
          << "step " << i << ", element " << k;
    }
    ASSERT_NEAR(result.reward, number(transcript.at("rewards")[i]), kTolerance<E>) << "step " << i;
    ASSERT_EQ(result.terminated, terminated.contains(i)) << "step " << i;
    ASSERT_EQ(result.truncated, truncated.contains(i)) << "step " << i;
    start = result.terminated || result.truncated;
  }
}

template <class E>
void compare(const json& file) {
  const auto name = file.at("env").get<std::string>();
  const EnvSpec spec = make_env(name)->spec();
  expect_space(spec.observation, file.at("observation_space"));
  expect_space(spec.action, file.at("action_space"));
  const json& limit = file.at("max_episode_steps");
  EXPECT_EQ(spec.max_episode_steps, limit.is_null() ? std::nullopt : std::optional<int>(limit));
  for (const json& transcript : file.at("transcripts")) replay<E>(name, transcript);
}

TEST(Golden, CartPoleDoesAsTheReference) {
  compare<CartPole>(golden("cartpole_v1.json"));
}

TEST(Golden, PendulumDoesAsTheReference) {
  compare<Pendulum>(golden("pendulum_v1.json"));
}

TEST(Golden, MountainCarDoesAsTheReference) {
  compare<MountainCar>(golden("mountain_car_v0.json"));
}

TEST(Golden, MountainCarContinuousDoesAsTheReference) {
  compare<MountainCarContinuous>(golden("mountain_car_continuous_v0.json"));
}

TEST(Golden, AcrobotDoesAsTheReference) {
  compare<Acrobot>(golden("acrobot_v1.json"));
}

TEST(Golden, StatelessCartPoleDoesAsTheReference) {
  compare<CartPole>(golden("stateless_cartpole.json"));
}

TEST(Golden, TransformedActionPendulumDoesAsTheReference) {
  compare<Pendulum>(golden("transformed_action_pendulum.json"));
}

TEST(Golden, TheCartPoleTranscriptsCoverEveryEnding) {
  std::set<std::string> sides;
  std::size_t truncations = 0;
  std::size_t both = 0;
  const json transcripts = golden("cartpole_v1.json").at("transcripts");
  for (const json& transcript : transcripts) {
    for (const std::size_t at : transcript.at("terminated_at")) {
      sides.insert(side(transcript.at("observations")[at]));
      both += static_cast<std::size_t>(std::ranges::count(transcript.at("truncated_at"), json(at)));
    }
    truncations += transcript.at("truncated_at").size();
  }
  EXPECT_EQ(sides, (std::set<std::string>{"theta high", "theta low", "x high", "x low"}));
  EXPECT_GT(truncations, 5U);
  EXPECT_EQ(both, 1U);
}

TEST(Golden, ThePendulumTranscriptsReachItsOwnTimeLimitAndItsTopSpeed) {
  const json transcripts = golden("pendulum_v1.json").at("transcripts");
  EXPECT_TRUE(transcripts[0].at("env_config").empty());
  EXPECT_EQ(transcripts[0].at("truncated_at"), json({199}));
  std::set<double> top;
  for (const json& transcript : transcripts) {
    for (const json& observation : transcript.at("observations")) {
      if (std::abs(observation[2].get<double>()) >= 8.0) top.insert(observation[2].get<double>());
    }
  }
  EXPECT_EQ(top, (std::set<double>{-8.0, 8.0}));
}

/// Steps of all transcripts of a file after which `reached` holds of the observation.
template <class Reached>
int count_steps(const json& file, Reached reached) {
  int out = 0;
  for (const json& transcript : file.at("transcripts")) {
    out += static_cast<int>(std::ranges::count_if(transcript.at("observations"), reached));
  }
  return out;
}

TEST(Golden, TheMountainCarTranscriptsReachFlagWallAndSpeedLimit) {
  for (const char* name : {"mountain_car_v0.json", "mountain_car_continuous_v0.json"}) {
    SCOPED_TRACE(name);
    const json file = golden(name);
    for (const std::size_t at : {1U, 2U, 3U}) {
      EXPECT_FALSE(file.at("transcripts")[at].at("terminated_at").empty()) << at;
    }
    EXPECT_GT(count_steps(file, [](const json& seen) { return seen[0] == -1.2; }), 0);
    EXPECT_GT(count_steps(file, [](const json& seen) { return seen[1] == 0.07; }), 0);
    EXPECT_GT(count_steps(file, [](const json& seen) { return seen[1] == -0.07; }), 0);
    // slower than asked for at the flag, and so gone on
    const json& fast = file.at("transcripts")[3];
    EXPECT_GT(fast.at("observations")[0][0], 0.45);
    EXPECT_NE(fast.at("terminated_at")[0], 0);
  }
}

TEST(Golden, TheAcrobotTranscriptsReachTheLineAndBothSpeedLimits) {
  const json file = golden("acrobot_v1.json");
  for (const std::size_t at : {1U, 2U, 3U}) {
    EXPECT_FALSE(file.at("transcripts")[at].at("terminated_at").empty()) << at;
  }
  for (const auto& [element, limit] : {std::pair(4U, 12.566371), std::pair(5U, 28.274334)}) {
    for (const double sign : {1.0, -1.0}) {
      EXPECT_GT(count_steps(file,
                            [=](const json& seen) {
                              return std::abs(seen[element].get<double>() - sign * limit) < 1e-5;
                            }),
                0)
          << element << ", " << sign;
    }
  }
}

TEST(CartPole, AnActionBeyondOneIsInvalid) {
  SingleEnv env(make_env("CartPole-v1"));
  env.reset();
  for (const std::int64_t action : {-1, 2}) {
    try {
      env.step(action);
      FAIL() << "took action " << action;
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::env);
      EXPECT_EQ(error.what(), fmt::format("Invalid action {}: must be 0 or 1", action));
    }
  }
}

TEST(CartPole, StartsWithinATwentiethOfZero) {
  SingleEnv single(make_env("CartPole-v1"));
  std::array<float, 4> low{};
  std::array<float, 4> high{};
  for (int i = 0; i < 1'000; ++i) {
    single.reset();
    for (std::size_t k = 0; k < 4; ++k) {
      low[k] = std::min(low[k], single.observation()[k]);
      high[k] = std::max(high[k], single.observation()[k]);
    }
  }
  for (std::size_t k = 0; k < 4; ++k) {
    EXPECT_GE(low[k], -0.05F);
    EXPECT_LT(low[k], -0.049F);
    EXPECT_LE(high[k], 0.05F);
    EXPECT_GT(high[k], 0.049F);
  }
}

TEST(Pendulum, StartsAtAnyAngleWithSpeedUpToOne) {
  SingleEnv single(make_env("Pendulum-v1"));
  std::array<float, 3> low{};
  std::array<float, 3> high{};
  for (int i = 0; i < 1'000; ++i) {
    single.reset();
    for (std::size_t k = 0; k < 3; ++k) {
      low[k] = std::min(low[k], single.observation()[k]);
      high[k] = std::max(high[k], single.observation()[k]);
    }
  }
  for (std::size_t k = 0; k < 3; ++k) {  // cosine, sine, speed
    EXPECT_GE(low[k], -1.0F);
    EXPECT_LT(low[k], -0.99F);
    EXPECT_LE(high[k], 1.0F);
    EXPECT_GT(high[k], 0.99F);
  }
}

TEST(CartPole, RendersCartAndPole) {
  CartPole env({});
  EXPECT_EQ(env.render(), std::string(49, ' ').replace(24, 1, "/") + "\n" +
                              std::string(49, ' ').replace(24, 1, "#") + "\n" +
                              std::string(49, '=') + "\nx +0.00 m, angle +0.0 degrees\n");
  env.set_state({.x = -2.4, .theta = -0.2});
  EXPECT_EQ(env.render(), "\\" + std::string(48, ' ') + "\n#" + std::string(48, ' ') + "\n" +
                              std::string(49, '=') + "\nx -2.40 m, angle -11.5 degrees\n");
}

TEST(Pendulum, RendersItsAngle) {
  Pendulum env({});
  std::string upright = env.render();
  EXPECT_EQ(upright.find('o'), 10U) << "in the middle of the first line";
  env.set_state({.theta = std::numbers::pi});
  std::string hanging = env.render();
  EXPECT_EQ(hanging.find('o'), 10U * 22U + 10U) << "in the middle of the last line";
  EXPECT_NE(hanging.find("0.00 rad/s"), std::string::npos);
}

}  // namespace
}  // namespace knurl
