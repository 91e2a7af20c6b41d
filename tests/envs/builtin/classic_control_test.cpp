#include <array>
#include <numbers>

#include <gtest/gtest.h>

#include "../single_env.h"
#include "knurl/core/config/yaml.h"
#include "knurl/envs/builtin/acrobot.h"
#include "knurl/envs/builtin/mountain_car_continuous.h"
#include "knurl/envs/registry.h"

/// What the transcripts of golden_test.cpp do not show: starts, refusals, pictures.
namespace knurl {
namespace {

using testing::SingleEnv;

std::string refusal(const std::string& env, std::int64_t action) {
  SingleEnv single(make_env(env));
  single.reset();
  try {
    single.step(action);
  } catch (const Error& error) {
    return fmt::format("{}: {}", name_of(error.kind()), error.what());
  }
  return "";
}

TEST(ClassicControl, AnActionBeyondTwoIsInvalid) {
  for (const char* env : {"MountainCar-v0", "Acrobot-v1"}) {
    EXPECT_EQ(refusal(env, 3), "env: Invalid action 3: must be in [0, 2]") << env;
    EXPECT_EQ(refusal(env, -1), "env: Invalid action -1: must be in [0, 2]") << env;
    EXPECT_EQ(refusal(env, 2), "") << env;
  }
}

TEST(ClassicControl, OptionsOutOfRangeAreRefused) {
  const auto refused = [](const std::string& env, const std::string& yaml) -> std::string {
    try {
      (void)make_env(env, parse_yaml(yaml, "a.yaml"));
    } catch (const Error& error) {
      return error.what();
    }
    return "";
  };
  EXPECT_EQ(refused("MountainCar-v0", "goal_velocity: 0.1"),
            "a.yaml:1: env_config.goal_velocity = 0.1: must be in [0, 0.07]");
  EXPECT_EQ(refused("MountainCarContinuous-v0", "goal_velocity: -1"),
            "a.yaml:1: env_config.goal_velocity = -1: must be in [0, 0.07]");
  EXPECT_EQ(refused("Acrobot-v1", "book_or_nips: nip"),
            "a.yaml:1: env_config.book_or_nips = nip: must be book or nips; did you mean nips?");
}

/// The least and greatest of each number over many starts.
template <std::size_t N>
std::pair<std::array<float, N>, std::array<float, N>> starts(const std::string& env) {
  SingleEnv single(make_env(env));
  std::array<float, N> low;
  std::array<float, N> high;
  low.fill(1e9F);
  high.fill(-1e9F);
  for (int i = 0; i < 1'000; ++i) {
    single.reset();
    for (std::size_t k = 0; k < N; ++k) {
      low[k] = std::min(low[k], single.observation()[k]);
      high[k] = std::max(high[k], single.observation()[k]);
    }
  }
  return {low, high};
}

TEST(ClassicControl, MountainCarsStandAtTheBottomOfTheValley) {
  for (const char* env : {"MountainCar-v0", "MountainCarContinuous-v0"}) {
    const auto [low, high] = starts<2>(env);
    EXPECT_GE(low[0], -0.6F);
    EXPECT_LT(low[0], -0.599F);
    EXPECT_LE(high[0], -0.4F);
    EXPECT_GT(high[0], -0.401F);
    EXPECT_EQ(low[1], 0.0F);
    EXPECT_EQ(high[1], 0.0F);
  }
}

TEST(ClassicControl, AcrobotHangsNearlyStill) {
  const auto [low, high] = starts<6>("Acrobot-v1");
  for (const std::size_t sine_or_speed : {1U, 3U, 4U, 5U}) {
    EXPECT_GE(low[sine_or_speed], -0.1F);
    EXPECT_LT(low[sine_or_speed], -0.099F);
    EXPECT_LE(high[sine_or_speed], 0.1F);
    EXPECT_GT(high[sine_or_speed], 0.099F);
  }
  for (const std::size_t cosine : {0U, 2U}) EXPECT_GE(low[cosine], 0.995F);
}

TEST(ClassicControl, AMountainCarIsDrawnInItsValley) {
  MountainCar car({});
  car.set_state({.position = -std::numbers::pi / 6.0, .velocity = 0.0});  // the deepest point
  EXPECT_EQ(car.render(),
            "                                               ....P...\n"
            "                                            ...        \n"
            "                                         ...           \n"
            "...                                    ..              \n"
            "   ..                                ..                \n"
            "     ..                           ...                  \n"
            "       ...                      ..                     \n"
            "          ..                 ...                       \n"
            "            ....          ...                          \n"
            "                ....#.....                             \n"
            "position -0.524, velocity +0.0000\n");
}

TEST(ClassicControl, AnAcrobotIsDrawnByPivotJointTipAndLine) {
  Acrobot env({});
  env.set_state({});
  const std::string hanging = env.render();
  const auto at = [](const std::string& picture, int row, int column) {
    return picture.at(static_cast<std::size_t>(34 * row + column));
  };
  EXPECT_EQ(at(hanging, 8, 16), '+');
  EXPECT_EQ(at(hanging, 12, 16), 'o');
  EXPECT_EQ(at(hanging, 16, 16), '*');
  EXPECT_EQ(at(hanging, 4, 0), '-');
  EXPECT_EQ(hanging.substr(34U * 17U), "tip -2.00 m, +0.00 and +0.00 rad/s\n");
  env.set_state({.theta1 = std::numbers::pi / 2.0, .theta2 = std::numbers::pi / 2.0});
  const std::string bent = env.render();  // to the right, then up to the line
  EXPECT_EQ(at(bent, 8, 24), 'o');
  EXPECT_EQ(at(bent, 4, 24), '*');
}

}  // namespace
}  // namespace knurl
