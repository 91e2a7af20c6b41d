#include "knurl/envs/registry.h"

#include <atomic>
#include <thread>

#include <gtest/gtest.h>

#include "knurl/core/config/yaml.h"
#include "knurl/envs/vector_env.h"
#include "single_env.h"
#include "test_envs.h"

namespace knurl {
namespace {

using testing::Corridor;
using testing::Counter;
using testing::SingleEnv;

template <class Body>
std::string thrown_by(Body body) {
  try {
    body();
  } catch (const Error& error) {
    return fmt::format("{}: {}", name_of(error.kind()), error.what());
  }
  return "";
}

std::string refusal(const std::string& env, const std::string& yaml) {
  return thrown_by([&] { (void)make_env(env, parse_yaml(yaml, "configs/a.yaml")); });
}

/// An env of seven steps without options.
class Seven final : public Counter {
 public:
  Seven() : Counter(7) {}
};

TEST(Registry, KnowsTheBuiltInEnvsInOrder) {
  std::vector<std::string> names;
  for (const EnvEntry& entry : registered_envs()) names.push_back(entry.name);
  EXPECT_TRUE(std::ranges::is_sorted(names));
  for (const char* name : {"CartPole-v1", "Maze-v0", "Pendulum-v1"}) {
    EXPECT_EQ(std::ranges::count(names, name), 1);
    EXPECT_EQ(find_env(name).name, name);
    EXPECT_FALSE(find_env(name).sentence.empty());
  }
}

TEST(Registry, AnUnknownNameNamesTheNearest) {
  EXPECT_EQ(thrown_by([] { (void)find_env("CartPoel-v1"); }),
            "config: env CartPoel-v1: unknown; did you mean CartPole-v1?");
  EXPECT_EQ(refusal("maze-v0", "{}"), "config: env maze-v0: unknown; did you mean Maze-v0?");
  EXPECT_EQ(refusal("Zzzzzzzz", "{}"),
            "config: env Zzzzzzzz: unknown; `knurl list envs` shows what there is");
}

TEST(Registry, ATakenNameIsRefused) {
  EXPECT_EQ(thrown_by([] { register_env<Corridor>("CartPole-v1", "not a cart"); }),
            "env: the env name CartPole-v1 is taken");
  EXPECT_EQ(find_env("CartPole-v1").sentence, "balance a pole on a cart (Barto et al. 1983)")
      << "the first one stays";
}

TEST(Registry, AnAliasStandsForItsEnvWhichIsListedOnce) {
  register_env({.name = "Aliased-v1",
                .sentence = "seven steps",
                .make = [](const ConfigValue&) { return std::make_unique<Seven>(); },
                .aliases = {"Aliased-v0", "my.module.Aliased"}});
  EXPECT_EQ(find_env("my.module.Aliased").name, "Aliased-v1");
  EXPECT_EQ(make_env("Aliased-v0")->spec(), make_env("Aliased-v1")->spec());
  const std::vector<EnvEntry> all = registered_envs();
  EXPECT_EQ(
      std::ranges::count_if(all, [](const EnvEntry& entry) { return entry.goes_by("Aliased-v0"); }),
      1);
  EXPECT_EQ(std::ranges::count(all, std::string("Aliased-v0"), &EnvEntry::name), 0);
  EXPECT_EQ(thrown_by([] { (void)find_env("my.modul.Aliased"); }),
            "config: env my.modul.Aliased: unknown; did you mean my.module.Aliased?");
  EXPECT_EQ(thrown_by([] { (void)find_env("Aliased-v"); }),
            "config: env Aliased-v: unknown; did you mean Aliased-v1?")
      << "one env, once";
}

TEST(Registry, ATakenAliasIsRefusedAndLeavesNothingBehind) {
  const auto with_names = [](const std::string& name, const std::string& alias) {
    return thrown_by([&] {
      EnvEntry entry = env_entry<Seven>(name, "seven steps");
      entry.aliases = {alias};
      register_env(std::move(entry));
    });
  };
  EXPECT_EQ(with_names("Walk-v1", "Walk-v0"), "");
  EXPECT_EQ(with_names("Walk-v0", "Walk-v9"),
            "env: the env name Walk-v0 is taken: it stands for Walk-v1");
  EXPECT_EQ(with_names("Walk-v2", "Walk-v1"), "env: the env name Walk-v1 is taken");
  EXPECT_EQ(with_names("Walk-v2", "Walk-v0"),
            "env: the env name Walk-v0 is taken: it stands for Walk-v1");
  EXPECT_EQ(thrown_by([] { register_env_once<Seven>("Walk-v0"); }),
            "env: the env name Walk-v0 is another env's");
  EXPECT_EQ(with_names("Walk-v2", "Walk-v9"), "") << "none of the refused names was taken";
}

TEST(Registry, AnEntryMayHaveOtherDefaultsAndAnotherTimeLimitThanItsClass) {
  EnvEntry entry = env_entry<Corridor>("ShortCorridor-v0", "walk right", {.length = 2});
  entry.max_episode_steps = 6;
  register_env(std::move(entry));
  const auto spec = [](const std::string& yaml) {
    return make_env("ShortCorridor-v0", parse_yaml(yaml, "a.yaml"))->spec();
  };
  EXPECT_EQ(spec("{}").observation.text(), "Box([1], 0, 2, float32)");
  EXPECT_EQ(spec("length: 3").observation.text(), "Box([1], 0, 3, float32)");
  EXPECT_EQ(spec("{}").max_episode_steps, 6);
  EXPECT_EQ(spec("max_episode_steps: 9").max_episode_steps, 9);
}

TEST(Registry, OptionsBelowConfigAreOptions) {
  const EnvSpec spec =
      make_env("Maze-v0", parse_yaml("config: {rows: 3, max_episode_steps: 9}", "a"))->spec();
  EXPECT_EQ(spec.observation, Space(Discrete{.n = 15}));
  EXPECT_EQ(spec.max_episode_steps, 9);
  EXPECT_EQ(make_env("Maze-v0", parse_yaml("config: null", "a"))->spec().observation,
            Space(Discrete{.n = 25}));
  EXPECT_EQ(refusal("Maze-v0", "rows: 3\nconfig:\n  rows: 4"),
            "config: configs/a.yaml:3: env_config.config.rows: stands in env_config, too; give it "
            "once");
  EXPECT_EQ(refusal("Maze-v0", "config:\n  rwos: 4"),
            "config: configs/a.yaml:2: env_config.rwos: unknown option; did you mean rows?");
  EXPECT_EQ(refusal("Maze-v0", "config: 4"),
            "config: configs/a.yaml:1: env_config.config = 4: must be a map of options");
}

TEST(Registry, AUsersEnvIsMadeWithItsOptions) {
  register_env<Corridor>("Corridor-v0", "walk right to the exit");
  SingleEnv env(make_env("Corridor-v0", parse_yaml("length: 2", "a.yaml")));
  env.reset();
  EXPECT_FALSE(env.step(1).terminated);
  EXPECT_TRUE(env.step(1).terminated);
  EXPECT_EQ(make_env("Corridor-v0")->spec().max_episode_steps, 100);
}

TEST(Registry, EveryEnvTakesATimeLimit) {
  register_env<Seven>("Seven-v0", "seven steps");
  for (const char* name : {"CartPole-v1", "Maze-v0", "Pendulum-v1", "Seven-v0"}) {
    const std::unique_ptr<Env> env = make_env(name, parse_yaml("max_episode_steps: 3", "a.yaml"));
    EXPECT_EQ(env->spec().max_episode_steps, 3) << name;
  }
  SingleEnv env(make_env("Seven-v0", parse_yaml("max_episode_steps: 3", "a.yaml")));
  env.reset();
  env.step(0);
  env.step(0);
  EXPECT_TRUE(env.step(0).truncated);
  EXPECT_EQ(make_env("Seven-v0")->spec().max_episode_steps, std::nullopt);
}

TEST(Registry, ATimeLimitBelowOneIsRefused) {
  EXPECT_EQ(refusal("Maze-v0", "max_episode_steps: 0"),
            "config: configs/a.yaml:1: env_config.max_episode_steps = 0: must be at least 1");
  EXPECT_EQ(refusal("Maze-v0", "max_episode_steps: soon"),
            "config: configs/a.yaml:1: env_config.max_episode_steps = soon: must be a whole number "
            "at least 1");
}

TEST(Registry, NoTimeLimitMayBeGivenAsNull) {
  EXPECT_EQ(make_env("Maze-v0", parse_yaml("max_episode_steps: null", "a.yaml"))
                ->spec()
                .max_episode_steps,
            100)
      << "null is as if not given";
}

/// Limits its episodes itself, by an option of the common name.
class OwnLimit final : public Env {
 public:
  struct Config {
    int max_episode_steps = 4;
    static void fields(auto& self, auto&& field) {
      field("max_episode_steps", self.max_episode_steps, "steps to go", at_least(1));
    }
  };
  explicit OwnLimit(Config config) : counter_(config.max_episode_steps) {}
  [[nodiscard]] EnvSpec spec() const override { return counter_.spec(); }
  void reset(Rng& rng, ObservationOut observation) override { counter_.reset(rng, observation); }
  StepResult step(ActionView action, ObservationOut observation) override {
    return counter_.step(action, observation);
  }

 private:
  Counter counter_;
};

TEST(Registry, AnEnvsOwnOptionOfTheCommonNameIsItsOwn) {
  register_env<OwnLimit>("OwnLimit-v0", "counts to its limit");
  SingleEnv env(make_env("OwnLimit-v0", parse_yaml("max_episode_steps: 2", "a.yaml")));
  env.reset();
  env.step(0);
  const StepResult last = env.step(0);
  EXPECT_TRUE(last.terminated);
  EXPECT_FALSE(last.truncated);
}

TEST(Registry, ATypoInEnvConfigNamesItsPlaceAndTheNearest) {
  EXPECT_EQ(refusal("Maze-v0", "rows: 3\ncolums: 4"),
            "config: configs/a.yaml:2: env_config.colums: unknown option; did you mean columns?");
  EXPECT_EQ(refusal("CartPole-v1", "max_episode_step: 4"),
            "config: configs/a.yaml:1: env_config.max_episode_step: unknown option; did you mean "
            "max_episode_steps?");
  EXPECT_EQ(refusal("Pendulum-v1", "zzzzzz: 4"),
            "config: configs/a.yaml:1: env_config.zzzzzz: unknown option");
}

TEST(Registry, AnEnvWithoutOptionsStillKnowsTheCommonOnes) {
  register_env<Seven>("Seven-v1", "seven steps");
  EXPECT_EQ(refusal("Seven-v1", "max_epsiode_steps: 4"),
            "config: configs/a.yaml:1: env_config.max_epsiode_steps: unknown option; did you mean "
            "max_episode_steps?");
}

TEST(Registry, AValueOutsideItsRangeNamesItsPlaceAndRule) {
  EXPECT_EQ(refusal("Maze-v0", "columns: 3\nrows: 1"),
            "config: configs/a.yaml:2: env_config.rows = 1: must be in [2, 1000]");
  EXPECT_EQ(refusal("Maze-v0", "[3, 4]"),
            "config: configs/a.yaml:1: env_config = a list of 2: must be a map of options");
}

TEST(Registry, OptionsGivenToAMadeEnvAreLeftAlone) {
  const ConfigValue config = parse_yaml("max_episode_steps: 3\nrows: 4", "a.yaml");
  (void)make_env("Maze-v0", config);
  EXPECT_EQ(config, parse_yaml("max_episode_steps: 3\nrows: 4", "a.yaml"));
}

/// Throws what it is not able to open.
class NoDisplay final : public Env {
 public:
  NoDisplay() { throw std::runtime_error("no display"); }
  [[nodiscard]] EnvSpec spec() const override { return {}; }
  void reset(Rng&, ObservationOut) override {}
  StepResult step(ActionView, ObservationOut) override { return {}; }
};

TEST(Registry, AConstructorThatThrowsIsNamedOnce) {
  register_env<NoDisplay>("NoDisplay-v0", "cannot be made");
  EXPECT_EQ(refusal("NoDisplay-v0", "{}"), "env: NoDisplay-v0: constructor: no display");
  EXPECT_EQ(thrown_by([] {
              (void)make_vector_env("NoDisplay-v0", ConfigValue(), Rng(1), {.worker = 2});
            }),
            "env: NoDisplay-v0 (worker 2, env 0): constructor: no display");
}

TEST(Registry, AMakerThatGivesNothingIsNamed) {
  register_env({.name = "Nothing-v0", .sentence = "gives nothing", .make = [](const ConfigValue&) {
                  return std::unique_ptr<Env>();
                }});
  EXPECT_EQ(refusal("Nothing-v0", "{}"),
            "env: Nothing-v0: constructor: its registered maker gave no env");
}

TEST(Registry, ABatchTellsThePlaceOfAWrongOption) {
  EXPECT_EQ(thrown_by([] {
              (void)make_vector_env("Maze-v0", parse_yaml("row: 3", "a.yaml"), Rng(1), {});
            }),
            "config: a.yaml:1: env_config.row: unknown option; did you mean rows?");
}

TEST(Registry, ABatchIsMadeOfARegisteredEnvAndItsOptions) {
  const auto batch = make_vector_env("Maze-v0", parse_yaml("{rows: 3, max_episode_steps: 9}", "a"),
                                     Rng(1), {.num_envs = 2, .total_envs = 2});
  EXPECT_EQ(batch->num_envs(), 2);
  EXPECT_EQ(batch->spec().observation, Space(Discrete{.n = 15}));
  EXPECT_EQ(batch->spec().max_episode_steps, 9);
}

TEST(Registry, MayBeUsedByManyThreads) {
  std::atomic<int> found = 0;
  std::vector<std::jthread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&found, t] {
      for (int i = 0; i < 50; ++i) {
        register_env<Seven>(fmt::format("Thread-{}-{}", t, i), "seven steps");
        (void)make_env("Maze-v0");
        found += find_env(fmt::format("Thread-{}-{}", t, i)).make != nullptr ? 1 : 0;
      }
    });
  }
  threads.clear();
  EXPECT_EQ(found, 200);
}

}  // namespace
}  // namespace knurl
