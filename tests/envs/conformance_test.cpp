#include "knurl/envs/conformance.h"

#include <cmath>
#include <limits>

#include <gtest/gtest.h>

#include "knurl/core/config/yaml.h"
#include "knurl/envs/registry.h"
#include "test_envs.h"

/// The check finds each way of breaking the contract, and only that.
namespace knurl {
namespace {

enum class Fault {
  none,
  observation_beyond_bounds,
  observation_nan,
  observation_infinite,
  observation_of_wrong_type,
  observation_row_overrun,
  observation_half_written,
  reward_nan,
  reward_infinite,
  info_nan,
  info_missing,
  info_overrun,
  info_named_twice,
  spec_changes,
  spec_changes_in_reset,
  spec_of_another,
  second_cannot_be_made,
  own_random_numbers,
  own_random_rewards,
  own_random_info,
  own_random_endings,
  breaks_far_away,
  remembers_episodes,
  throws_in_step,
  throws_in_reset,
  resets_only_after_endings,
  random_for_nothing,
  save_changes,
  save_forgets,
  load_forgets,
  load_keeps_the_rng,
  load_leaves_bytes,
  load_throws,
  render_throws,
  render_changes,
};

int made = 0;   // objects of Walker so far
int drawn = 0;  // a random stream that all share

/// Walks to and fro at random for 50 steps. Sound but for one fault.
class Walker final : public Env {
 public:
  explicit Walker(Fault fault) : fault_(fault), number_(made++) {
    if (has(Fault::second_cannot_be_made) && number_ == 1) throw std::runtime_error("port in use");
  }

  [[nodiscard]] EnvSpec spec() const override {
    const bool other = (has(Fault::spec_changes) && calls_++ == 1) ||
                       (has(Fault::spec_changes_in_reset) && resets_ > 0) ||
                       (has(Fault::spec_of_another) && number_ == 1);
    const double limit = std::numeric_limits<double>::infinity();
    return {.observation = Box{.shape = {3},
                               .low = {-100.0, 0.0, -limit},
                               .high = {100.0, other ? 51.0 : 50.0, limit}},
            .action = Discrete{.n = 2},
            .info = {"place", has(Fault::info_named_twice) ? "place" : "count"}};
  }

  void reset(Rng& rng, ObservationOut observation) override {
    rng_ = &rng;
    if (has(Fault::throws_in_reset) && resets_ == 2) throw std::runtime_error("map is missing");
    if (has(Fault::resets_only_after_endings) && count_ > 0 && count_ < 50) {
      throw std::runtime_error("still walking");
    }
    ++resets_;
    if (!has(Fault::remembers_episodes)) place_ = 0.0;
    count_ = 0;
    observe(observation);
  }

  StepResult step(ActionView action, ObservationOut observation) override {
    if (has(Fault::throws_in_step) && count_ == 7) throw std::runtime_error("wheel is off");
    const double noise = rng_->uniform(-0.5, 0.5);
    place_ += action.index() == 1 ? 1.0 : -1.0;
    if (!has(Fault::random_for_nothing)) place_ += noise;
    if (has(Fault::own_random_numbers)) place_ += 0.001 * drawn++;
    place_ = std::clamp(place_, -100.0, 100.0);
    ++count_;
    observe(observation);
    double reward = std::abs(place_);
    if (has(Fault::reward_nan) && count_ == 9) reward = std::nan("");
    if (has(Fault::reward_infinite) && count_ == 9) reward = -HUGE_VAL;
    if (has(Fault::breaks_far_away) && std::abs(place_) > 22.0) reward = std::nan("");
    if (has(Fault::own_random_rewards)) reward += 1e-9 * drawn++;
    const bool lost = has(Fault::own_random_endings) && drawn++ % 201 == 200;
    return {.reward = reward, .terminated = count_ == 50, .truncated = lost};
  }

  void info(std::span<double> numbers) const override {
    numbers[0] = has(Fault::info_nan) && count_ == 3 ? std::nan("") : place_;
    if (!has(Fault::info_missing)) numbers[1] = count_;
    if (has(Fault::own_random_info)) numbers[1] = drawn++;
    if (has(Fault::info_overrun)) *(numbers.data() + 2) = count_;
  }

  [[nodiscard]] std::string render() const override {
    if (has(Fault::render_throws) && count_ == 5) throw std::runtime_error("no font");
    if (has(Fault::render_changes)) place_ += 1.0;
    return "a walker";
  }

  [[nodiscard]] bool can_save() const override { return true; }
  void save(ByteWriter& out) const override {
    write(out, has(Fault::save_forgets) ? 0.0 : place_);
    write(out, count_);
    if (has(Fault::save_changes)) place_ = 0.0;
  }
  void load(ByteReader& in, Rng& rng) override {
    if (has(Fault::load_throws)) throw std::runtime_error("not supported");
    if (!has(Fault::load_keeps_the_rng)) rng_ = &rng;
    place_ = read<double>(in);
    if (has(Fault::load_leaves_bytes)) return;
    const int count = read<int>(in);
    if (!has(Fault::load_forgets)) count_ = count;
  }

 private:
  [[nodiscard]] bool has(Fault fault) const { return fault_ == fault; }
  void observe(ObservationOut observation) const {
    if (has(Fault::observation_of_wrong_type)) observation.set_index(count_);
    observation[0] = static_cast<float>(place_);
    observation[1] = static_cast<float>(count_);
    if (!has(Fault::observation_half_written)) observation[2] = 0.0F;
    if (has(Fault::observation_beyond_bounds) && count_ == 30) observation[1] = 50.5F;
    if (has(Fault::observation_nan) && count_ == 30) observation[2] = std::nanf("");
    if (has(Fault::observation_infinite) && count_ == 30) observation[2] = HUGE_VALF;
    if (has(Fault::observation_row_overrun)) observation[3] = 7.0F;
  }

  const Fault fault_;
  const int number_;
  Rng* rng_ = nullptr;
  mutable int calls_ = 0;
  int resets_ = 0;
  mutable double place_ = 0.0;
  int count_ = 0;
};

struct Case {
  Fault fault;
  EnvRule rule;
  const char* text;  ///< in full, or the part that matters
};

std::string name_of(const ::testing::TestParamInfo<Case>& info) {
  return fmt::format("{}_{}", knurl::name_of(info.param.rule), info.index);
}

class BrokenEnv : public ::testing::TestWithParam<Case> {};

TEST_P(BrokenEnv, IsFoundAndExplained) {
  made = 0;
  drawn = 0;
  const std::vector<Violation> found =
      check_env([] { return std::make_unique<Walker>(GetParam().fault); });
  ASSERT_EQ(found.size(), 1U) << (found.empty() ? "" : found.back().text);
  EXPECT_EQ(knurl::name_of(found[0].rule), knurl::name_of(GetParam().rule));
  EXPECT_NE(found[0].text.find(GetParam().text), std::string::npos) << found[0].text;
}

INSTANTIATE_TEST_SUITE_P(
    Conformance, BrokenEnv,
    ::testing::Values(
        Case{Fault::observation_beyond_bounds, EnvRule::observation,
             "episode 0, step 30: the observation is not in spec().observation: element 1: 50.5 is "
             "not in [0, 50]"},
        Case{Fault::observation_nan, EnvRule::observation,
             "episode 0, step 30: the observation is not in spec().observation: element 2: nan"},
        Case{Fault::observation_infinite, EnvRule::observation,
             "episode 0, step 30: the observation has inf in element 2"},
        Case{Fault::observation_of_wrong_type, EnvRule::exceptions,
             "episode 0, reset: reset() threw: Box([3], "},
        Case{Fault::observation_row_overrun, EnvRule::memory,
             "episode 0, reset: the env writes outside its observation, which has 3 elements"},
        Case{Fault::observation_half_written, EnvRule::memory,
             "the env does not write all of its observation, so that what lay there before is "
             "seen: episode 0, reset: element 2 of the observation is 0 instead of"},
        Case{Fault::reward_nan, EnvRule::reward, "episode 0, step 9: the reward is nan"},
        Case{Fault::reward_infinite, EnvRule::reward, "episode 0, step 9: the reward is -inf"},
        Case{Fault::info_nan, EnvRule::info,
             "episode 0, step 3: info number 0 (place) is nan; it must be a finite number"},
        Case{Fault::info_missing, EnvRule::memory,
             "episode 0, reset: info() does not write number 1 (count)"},
        Case{Fault::info_overrun, EnvRule::memory,
             "episode 0, reset: info() writes number 2, but spec().info names 2"},
        Case{Fault::info_named_twice, EnvRule::spec, "spec().info has the name place twice"},
        Case{Fault::spec_changes, EnvRule::spec, "spec() at its second call differs"},
        Case{Fault::spec_changes_in_reset, EnvRule::spec, "spec() after some episodes differs"},
        Case{Fault::spec_of_another, EnvRule::spec, "spec() of another env differs"},
        Case{Fault::second_cannot_be_made, EnvRule::construction,
             "a second env beside the first cannot be made: port in use"},
        Case{Fault::own_random_numbers, EnvRule::repeatable,
             "the same Rng and actions give another episode in a new env: episode 0, step 1: "
             "element 0 of the observation is "},
        Case{Fault::own_random_rewards, EnvRule::repeatable,
             "in a new env: episode 0, step 1: the reward is "},
        Case{Fault::own_random_info, EnvRule::repeatable,
             "in a new env: episode 0, reset: info number 1 (count) is "},
        Case{Fault::own_random_endings, EnvRule::repeatable,
             ": terminated, truncated are false, true instead of false, false"},
        Case{Fault::breaks_far_away, EnvRule::reward, "the reward is nan"},
        Case{Fault::remembers_episodes, EnvRule::repeatable,
             "the same Rng and actions give another episode in an env that had others before: "
             "episode 0, reset: element 0"},
        Case{Fault::throws_in_step, EnvRule::exceptions,
             "episode 0, step 8: step() threw: wheel is off"},
        Case{Fault::throws_in_reset, EnvRule::exceptions,
             "episode 2, reset: reset() threw: map is missing"},
        Case{Fault::resets_only_after_endings, EnvRule::exceptions,
             "episode 2, reset: reset() threw: still walking"},
        Case{Fault::random_for_nothing, EnvRule::seeds,
             "the env draws random numbers, but 8 other seeds gave the same 400 moments"},
        Case{Fault::save_changes, EnvRule::saving, "an episode goes otherwise after save(): "},
        Case{Fault::save_forgets, EnvRule::saving,
             "an episode goes otherwise after load() in an env that had gone on: "},
        Case{Fault::load_forgets, EnvRule::saving,
             "an episode goes otherwise after load() in an env that had gone on: "},
        Case{Fault::load_keeps_the_rng, EnvRule::saving, "use the Rng that it is given"},
        Case{Fault::load_leaves_bytes, EnvRule::saving,
             "episode 0, reset: load() leaves 4 of the 12 bytes that save() wrote"},
        Case{Fault::load_throws, EnvRule::saving, "episode 0, reset: load() threw: not supported"},
        Case{Fault::render_throws, EnvRule::rendering,
             "episode 0, step 5: render() threw: no font"},
        Case{Fault::render_changes, EnvRule::rendering,
             "an episode goes otherwise where it is rendered: episode 0, step 1: element 0"}),
    name_of);

TEST(Conformance, ASoundEnvBreaksNoRule) {
  for (const Violation& found : check_env([] { return std::make_unique<Walker>(Fault::none); })) {
    ADD_FAILURE() << found.text;
  }
}

TEST(Conformance, AFaultBetweenTheFirstStepsIsFoundInAnyPartOfTheWalk) {
  for (const std::uint64_t seed : {1, 2, 3, 4, 5}) {
    const auto found = check_env([] { return std::make_unique<Walker>(Fault::reward_nan); },
                                 {.steps = 12, .seed = seed});
    ASSERT_EQ(found.size(), 1U);
    EXPECT_EQ(found[0].rule, EnvRule::reward);
  }
}

TEST(Conformance, AFactoryThatThrowsOrGivesNothingIsExplained) {
  const auto throwing = check_env([]() -> std::unique_ptr<Env> { throw 3; });
  EXPECT_EQ(throwing,
            (std::vector<Violation>{
                {EnvRule::construction, "the env cannot be made: an exception of type int"}}));
  const auto nothing = check_env([] { return nullptr; });
  EXPECT_EQ(nothing, (std::vector<Violation>{{EnvRule::construction,
                                              "the env cannot be made: the factory gave none"}}));
}

/// An env whose space has no value.
class Spaceless final : public Env {
 public:
  [[nodiscard]] EnvSpec spec() const override { return {.observation = Discrete{.n = 0}}; }
  void reset(Rng&, ObservationOut) override {}
  StepResult step(ActionView, ObservationOut) override { return {}; }
};

TEST(Conformance, ASpaceWithoutValuesIsExplained) {
  EXPECT_EQ(check_env([] { return std::make_unique<Spaceless>(); }),
            (std::vector<Violation>{{EnvRule::spec, "Discrete: n = 0: must be at least 1"}}));
}

TEST(Conformance, AnUnknownNameIsAnErrorAndNoViolation) {
  EXPECT_THROW(check_env("Maze-v9"), Error);
}

TEST(Conformance, OptionsThatAreNotLookedAtAreFound) {
  register_env({.name = "Careless-v0",
                .sentence = "takes any options",
                .make = [](const ConfigValue&) { return std::make_unique<Walker>(Fault::none); }});
  const auto found = check_env("Careless-v0");
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].rule, EnvRule::options);
  EXPECT_EQ(found[0].text,
            "env_config.max_episode_stepsx was taken without a word; refuse unknown options and "
            "name the nearest one, here max_episode_steps (read_fields does both)");
}

TEST(Conformance, AnOptionErrorThatNamesNothingIsFound) {
  register_env({.name = "Terse-v0", .sentence = "", .make = [](const ConfigValue& config) {
                  if (!config.map()->empty()) fail(ErrorKind::config, "no");
                  return std::make_unique<Walker>(Fault::none);
                }});
  const auto found = check_env("Terse-v0");
  ASSERT_EQ(found.size(), 1U);
  EXPECT_NE(found[0].text.find("gave an error of kind config that does not name it: no"),
            std::string::npos)
      << found[0].text;
}

TEST(Conformance, WrongOptionsOfTheCheckedEnvAreExplained) {
  const auto found = check_env("Maze-v0", parse_yaml("rows: 0", "a.yaml"));
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0], (Violation{EnvRule::construction,
                                 "the env cannot be made: a.yaml:1: env_config.rows = 0: must be "
                                 "in [2, 1000]"}));
}

}  // namespace
}  // namespace knurl
