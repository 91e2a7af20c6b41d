#include <map>

#include "../single_env.h"
#include "golden.h"
#include "knurl/core/config/yaml.h"
#include "knurl/envs/builtin/tabular_env.h"
#include "knurl/envs/registry.h"
#include "knurl/envs/wrappers/wrapper.h"

/// Envs whose states are numbered: their tables are the reference's, and their steps are drawn from
/// their tables.
namespace knurl {
namespace {

using nlohmann::json;
using testing::expect_space;
using testing::golden;
using testing::SingleEnv;

std::unique_ptr<Env> made(const std::string& name, const std::string& config) {
  return make_env(name, parse_yaml(config, "a.yaml"));
}

/// The env below a time limit, where there is one.
TabularEnv& tabular(Env& env) {
  auto* const limited = dynamic_cast<EnvWrapper*>(&env);
  return dynamic_cast<TabularEnv&>(limited ? limited->inner() : env);
}

void expect_table(const TransitionTable& table, const json& expected) {
  ASSERT_EQ(table.initial(), expected.at("initial").get<std::vector<double>>());
  for (int state = 0; state < table.num_states(); ++state) {
    for (int action = 0; action < table.num_actions(); ++action) {
      std::vector<Transition> all;
      for (const json& next : expected.at("transitions").at(state).at(action)) {
        all.push_back({.probability = next[0],
                       .next_state = next[1],
                       .reward = next[2],
                       .terminated = next[3] == 1});
      }
      const auto actual = table.transitions(state, action);
      ASSERT_EQ(std::vector(actual.begin(), actual.end()), all) << state << ", " << action;
    }
  }
}

TEST(TabularEnvs, HaveTheTablesOfTheReference) {
  std::map<std::string, int> seen;
  const json file = golden("tabular_envs.json");
  for (const json& expected : file.at("tables")) {
    const auto name = expected.at("env").get<std::string>();
    SCOPED_TRACE(name + " " + expected.at("env_config").dump());
    const std::unique_ptr<Env> env = made(name, expected.at("env_config").dump());
    expect_space(env->spec().observation, expected.at("observation_space"));
    expect_space(env->spec().action, expected.at("action_space"));
    const json& limit = expected.at("max_episode_steps");
    EXPECT_EQ(env->spec().max_episode_steps,
              limit.is_null() ? std::nullopt : std::optional(limit.get<int>()));
    expect_table(tabular(*env).table(), expected);
    ++seen[name];
  }
  EXPECT_EQ(seen, (std::map<std::string, int>{{"CliffWalking-v1", 1},
                                              {"CliffWalkingSlippery-v1", 1},
                                              {"FrozenLake-v1", 3},
                                              {"FrozenLake8x8-v1", 1},
                                              {"Taxi-v4", 2}}));
}

TEST(TabularEnvs, HaveTheValuesThatTheReferenceTablesGive) {
  const json file = golden("tabular_envs.json");
  for (const json& expected : file.at("tables")) {
    SCOPED_TRACE(expected.at("env").get<std::string>());
    const std::unique_ptr<Env> env = made(expected.at("env"), expected.at("env_config").dump());
    const TransitionTable& table = tabular(*env).table();
    const double gamma = expected.at("gamma");
    const int steps = expected.at("steps");
    const std::vector<double> random(
        static_cast<std::size_t>(table.num_states() * table.num_actions()),
        1.0 / table.num_actions());
    const auto near = [](double value) { return 1e-12 * std::max(1.0, std::abs(value)); };
    const double random_value = expected.at("random_value");
    const double best_value = expected.at("best_value");
    EXPECT_NEAR(exact_value(table, random, gamma, steps), random_value, near(random_value));
    EXPECT_NEAR(optimal_plan(table, gamma, steps).value, best_value, near(best_value));
  }
}

TEST(TabularEnvs, TheBestOnFrozenLakeWithinItsTimeLimitIs0744) {
  const std::unique_ptr<Env> env = made("FrozenLake-v1", "{}");
  EXPECT_NEAR(optimal_plan(tabular(*env).table(), 1.0, 100).value, 0.744, 0.0005);
}

/// Plays every state and action of an env many times and compares how often each thing follows with
/// its probability: within five standard deviations.
void expect_drawn_from_table(const std::string& name, const std::string& config, int tries) {
  SCOPED_TRACE(name + config);
  SingleEnv single(made(name, config));
  TabularEnv& env = tabular(single.env());
  single.reset();
  for (int state = 0; state < env.table().num_states(); state += 7) {
    for (int action = 0; action < env.table().num_actions(); ++action) {
      std::map<std::tuple<int, double, bool>, int> followed;
      for (int i = 0; i < tries; ++i) {
        env.set_state(state);
        const StepResult result = single.step(action);
        EXPECT_EQ(single.observed(), env.state());
        ++followed[{env.state(), result.reward, result.terminated}];
      }
      std::map<std::tuple<int, double, bool>, double> probability;
      for (const Transition& next : env.transitions(state, action)) {
        probability[{next.next_state, next.reward, next.terminated}] += next.probability;
      }
      for (const auto& [what, times] : followed) {
        ASSERT_TRUE(probability.contains(what)) << state << ", " << action;
      }
      for (const auto& [what, p] : probability) {
        const double deviation = std::sqrt(p * (1.0 - p) * tries);
        ASSERT_NEAR(followed[what], p * tries, 5.0 * deviation + 1e-9) << state << ", " << action;
      }
    }
  }
}

TEST(TabularEnvs, StepsAreDrawnFromTheTable) {
  expect_drawn_from_table("FrozenLake-v1", "{}", 2'000);
  expect_drawn_from_table("FrozenLake-v1", "{success_rate: 0.0}", 500);
  expect_drawn_from_table("FrozenLake-v1", "{success_rate: 1.0}", 10);
  expect_drawn_from_table("CliffWalkingSlippery-v1", "{}", 2'000);
  expect_drawn_from_table("Taxi-v4", "{is_rainy: true}", 500);
  expect_drawn_from_table("Taxi-v4", "{}", 2);
}

TEST(TabularEnvs, StartsAreDrawnFromTheInitialStates) {
  SingleEnv lake(made("FrozenLake-v1", "desc: [SFS, FFG]"));
  SingleEnv taxi(made("Taxi-v4", "{}"));
  std::map<std::int64_t, int> starts;
  std::set<std::int64_t> taxi_starts;
  for (int i = 0; i < 10'000; ++i) {
    lake.reset();
    ++starts[lake.observed()];
    taxi.reset();
    taxi_starts.insert(taxi.observed());
  }
  EXPECT_EQ(starts.size(), 2U);
  EXPECT_NEAR(starts[0], 5'000, 250);
  EXPECT_NEAR(starts[2], 5'000, 250);
  EXPECT_EQ(taxi_starts.size(), 300U) << "all that are possible";
}

TEST(TabularEnvs, AnActionBeyondTheLastIsInvalid) {
  for (const auto& [name, last] : {std::pair("FrozenLake-v1", 3), std::pair("Taxi-v4", 5)}) {
    SingleEnv env(made(name, "{}"));
    env.reset();
    const std::int64_t before = env.observed();
    for (const int action : {-1, last + 1}) {
      try {
        env.step(action);
        FAIL() << "took action " << action;
      } catch (const Error& error) {
        EXPECT_EQ(error.kind(), ErrorKind::env);
        EXPECT_EQ(error.what(), fmt::format("Invalid action {}: must be in [0, {}]", action, last));
      }
    }
    EXPECT_EQ(env.observed(), before);
  }
}

TEST(FrozenLake, AMapThatCannotBeIsRefused) {
  const auto refusal = [](const std::string& config) -> std::string {
    try {
      (void)made("FrozenLake-v1", config);
    } catch (const Error& error) {
      return fmt::format("{}: {}", name_of(error.kind()), error.what());
    }
    return "";
  };
  EXPECT_EQ(refusal("desc: [SFF, FH, FFG]"),
            "config: env_config.desc[1] = FH: has 2 cells, but the first row 3");
  EXPECT_EQ(refusal("desc: [SFF, FHF]"),
            "config: env_config.desc: has no goal; mark one or more by G");
  EXPECT_EQ(refusal("desc: [FFF, FHG]"),
            "config: env_config.desc: has no start; mark one or more by S");
  EXPECT_EQ(refusal("desc: [SFF, FXG]"),
            "config: env_config.desc[1] = FXG: has the letter X: must be S, F, H or G");
  EXPECT_EQ(refusal("desc: []"),
            "config: env_config.desc: 0 rows, the first of 0 cells: must be 1 to 100 each");
  EXPECT_EQ(refusal("map_name: 4x5"),
            "config: a.yaml:1: env_config.map_name = 4x5: must be 4x4 or 8x8; did you mean 4x4?");
  EXPECT_EQ(refusal("success_rate: 1.5"),
            "config: a.yaml:1: env_config.success_rate = 1.5: must be in [0, 1]");
  EXPECT_EQ(refusal("reward_schedule: [1, 0]"),
            "config: a.yaml:1: env_config.reward_schedule = a list of 2: must be a list of exactly "
            "3");
  EXPECT_EQ(refusal("desc: [SG]"), "");
}

TEST(FrozenLake, ItsTimeLimitIsThatOfItsName) {
  EXPECT_EQ(made("FrozenLake-v1", "map_name: 8x8")->spec().max_episode_steps, 100);
  EXPECT_EQ(made("FrozenLake8x8-v1", "{}")->spec().max_episode_steps, 200);
  EXPECT_EQ(made("FrozenLake8x8-v1", "max_episode_steps: 20")->spec().max_episode_steps, 20);
}

TEST(FrozenLake, RendersTheSkatersCellInBrackets) {
  SingleEnv env(made("FrozenLake-v1", "is_slippery: false"));
  env.reset();
  EXPECT_EQ(env.env().render(),
            "[S] F  F  F \n"
            " F  H  F  H \n"
            " F  F  F  H \n"
            " H  F  F  G \n");
  env.step(1);
  env.step(1);
  env.step(2);
  EXPECT_EQ(env.env().render(),
            " S  F  F  F \n"
            " F  H  F  H \n"
            " F [F] F  H \n"
            " H  F  F  G \n");
}

TEST(CliffWalking, RendersCliffAndWalker) {
  SingleEnv env(made("CliffWalking-v0", "{}"));
  env.reset();
  EXPECT_EQ(env.env().render(),
            " .  .  .  .  .  .  .  .  .  .  .  . \n"
            " .  .  .  .  .  .  .  .  .  .  .  . \n"
            " .  .  .  .  .  .  .  .  .  .  .  . \n"
            "[S] x  x  x  x  x  x  x  x  x  x  G \n");
}

/// ((row * 5 + column) * 5 + passenger) * 4 + destination
int taxi_state(int row, int column, int passenger, int destination) {
  return ((row * 5 + column) * 5 + passenger) * 4 + destination;
}

TEST(Taxi, RendersTownTaxiAndPassenger) {
  SingleEnv env(made("Taxi-v3", "{}"));
  env.reset();
  tabular(env.env()).set_state(taxi_state(0, 4, 1, 3));
  EXPECT_EQ(env.env().render(),
            "+---------+\n"
            "|R: | : :t|\n"
            "| : | : : |\n"
            "| : : : : |\n"
            "| | : | : |\n"
            "|Y| : |B: |\n"
            "+---------+\n"
            "passenger at green, to blue\n");
  env.step(4);
  env.step(0);
  EXPECT_EQ(env.env().render(),
            "+---------+\n"
            "|R: | : :G|\n"
            "| : | : :T|\n"
            "| : : : : |\n"
            "| | : | : |\n"
            "|Y| : |B: |\n"
            "+---------+\n"
            "passenger in the taxi, to blue\n");
}

TEST(Taxi, AFicklePassengerGoesElsewhereAfterTheFirstMoveOnce) {
  std::map<std::int64_t, int> destinations;
  SingleEnv env(made("Taxi-v4", "{fickle_passenger: true, fickle_probability: 1.0}"));
  for (int episode = 0; episode < 3'000; ++episode) {
    env.reset();
    tabular(env.env()).set_state(taxi_state(0, 0, 0, 2));
    env.step(4);
    EXPECT_EQ(env.observed(), taxi_state(0, 0, 4, 2));
    env.step(1);  // into the wall: no move
    EXPECT_EQ(env.observed(), taxi_state(0, 0, 4, 2));
    env.step(0);
    const std::int64_t destination = env.observed() % 4;
    EXPECT_EQ(env.observed() - destination, taxi_state(1, 0, 4, 0));
    ++destinations[destination];
    env.step(0);
    EXPECT_EQ(env.observed() % 4, destination) << "only once";
  }
  EXPECT_EQ(destinations.size(), 3U);
  for (const std::int64_t other : {0, 1, 3}) EXPECT_NEAR(destinations[other], 1'000, 130);
}

TEST(Taxi, AsManyPassengersAreFickleAsTheOptionSays) {
  int changed = 0;
  SingleEnv env(made("Taxi-v4", "{fickle_passenger: true}"));
  for (int episode = 0; episode < 2'000; ++episode) {
    env.reset();
    tabular(env.env()).set_state(taxi_state(0, 0, 4, 2));
    env.step(0);
    changed += env.observed() == taxi_state(1, 0, 4, 2) ? 0 : 1;
  }
  EXPECT_NEAR(changed, 600, 105);
}

}  // namespace
}  // namespace knurl
