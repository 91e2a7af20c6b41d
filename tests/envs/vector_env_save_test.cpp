#include <cctype>

#include <gtest/gtest.h>

#include "batch_driver.h"
#include "knurl/envs/builtin/maze.h"
#include "knurl/envs/registry.h"
#include "knurl/envs/wrappers/time_limit.h"
#include "test_envs.h"

/// Saving a batch in the middle of its episodes.
namespace knurl {
namespace {

using testing::BatchDriver;
using testing::BatchStep;
using testing::Corridor;
using testing::Counter;
using testing::Dice;
using testing::SavingDice;

struct Case {
  std::string name;
  EnvFactory factory;
};

std::string name_of(const ::testing::TestParamInfo<Case>& info) {
  std::string out = info.param.name;
  std::erase_if(out, [](unsigned char c) { return std::isalnum(c) == 0; });
  return out;
}

/// An env of every class that there is, the random ones among them in several sizes, and envs that
/// cannot save: bare, and under a time limit that could.
std::vector<Case> cases() {
  std::vector<Case> out;
  for (const EnvEntry& entry : testing::one_env_a_class()) {
    out.push_back({entry.name, [name = entry.name] { return make_env(name); }});
  }
  out.push_back({"random Maze", [] {
                   return std::make_unique<TimeLimit>(
                       std::make_unique<Maze>(Maze::Config{.rows = 3, .random_goal = true}), 30);
                 }});
  out.push_back({"Dice", [] { return std::make_unique<Dice>(); }});
  out.push_back({"SavingDice", [] { return std::make_unique<SavingDice>(); }});
  out.push_back({"Dice of 15 turns",
                 [] { return std::make_unique<TimeLimit>(std::make_unique<Dice>(), 15); }});
  out.push_back({"Corridor", [] {
                   return std::make_unique<TimeLimit>(
                       std::make_unique<Corridor>(Corridor::Config{}), 9);
                 }});
  return out;
}

BatchDriver drive(const Case& env, Stepping stepping = Stepping::serial, int num_envs = 3) {
  return BatchDriver(make_vector_env(env.name, env.factory, Rng(5),
                                     {.num_envs = num_envs,
                                      .first_env = 1,
                                      .total_envs = num_envs + 2,
                                      .stepping = stepping,
                                      .num_threads = 2}));
}

class SavedBatch : public ::testing::TestWithParam<Case> {};

TEST_P(SavedBatch, GoesOnAsIfNothingHadHappened) {
  for (const int steps_before : {0, 1, 14, 57}) {
    BatchDriver original = drive(GetParam());
    original.reset();
    for (int i = 0; i < steps_before; ++i) original.step();
    const std::vector<std::byte> saved = original.save();
    std::vector<BatchStep> expected;
    for (int i = 0; i < 300; ++i) expected.push_back(original.step());

    BatchDriver into_new = drive(GetParam());
    into_new.load(saved);
    BatchDriver into_parallel = drive(GetParam(), Stepping::parallel);
    into_parallel.reset();
    into_parallel.step();
    into_parallel.load(saved);
    original.load(saved);  // and back to where it was itself
    for (BatchDriver* loaded : {&into_new, &into_parallel, &original}) {
      EXPECT_TRUE(loaded->env().ended().empty());
      for (std::size_t i = 0; i < expected.size(); ++i) {
        ASSERT_TRUE(loaded->step() == expected[i]) << "step " << i << " after " << steps_before;
      }
    }
  }
}

TEST_P(SavedBatch, SavingChangesNothing) {
  BatchDriver saved = drive(GetParam());
  BatchDriver left_alone = drive(GetParam());
  saved.reset();
  left_alone.reset();
  for (int i = 0; i < 100; ++i) {
    (void)saved.save();
    ASSERT_TRUE(saved.step() == left_alone.step()) << "step " << i;
  }
}

TEST_P(SavedBatch, IsTheSameBytesAfterLoading) {
  BatchDriver original = drive(GetParam());
  original.reset();
  for (int i = 0; i < 20; ++i) original.step();
  const std::vector<std::byte> saved = original.save();
  BatchDriver loaded = drive(GetParam());
  loaded.load(saved);
  EXPECT_EQ(loaded.save(), saved);
}

TEST_P(SavedBatch, BeforeAnyResetHasNoEpisode) {
  const std::vector<std::byte> saved = drive(GetParam()).save();
  BatchDriver loaded = drive(GetParam());
  loaded.reset();
  loaded.load(saved);
  EXPECT_THROW(loaded.step(), Error);
  BatchDriver fresh = drive(GetParam());
  fresh.reset();
  loaded.reset();
  for (int i = 0; i < 50; ++i) ASSERT_TRUE(loaded.step() == fresh.step());
}

TEST_P(SavedBatch, DoesNotFitAnotherNumberOfEnvs) {
  BatchDriver three = drive(GetParam());
  three.reset();
  BatchDriver two = drive(GetParam(), Stepping::serial, 2);
  try {
    two.load(three.save());
    FAIL() << "loaded";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::checkpoint);
    EXPECT_EQ(error.what(), GetParam().name + ": the state of 3 envs does not fit 2 envs");
  }
}

INSTANTIATE_TEST_SUITE_P(VectorEnv, SavedBatch, ::testing::ValuesIn(cases()), name_of);

TEST(SavedBatch, OfEnvsThatCanSaveDoesNotGrow) {
  BatchDriver batch = drive({"Pendulum-v1", [] { return make_env("Pendulum-v1"); }});
  batch.reset();
  batch.step();
  const std::size_t early = batch.save().size();
  for (int i = 0; i < 150; ++i) batch.step();
  EXPECT_EQ(batch.save().size(), early);
}

TEST(SavedBatch, OfAnEnvThatCouldNotSaveDoesNotFitOneThatCan) {
  BatchDriver dice = drive({"Dice", [] { return std::make_unique<Dice>(); }});
  dice.reset();
  BatchDriver maze = drive({"Maze-v0", [] { return make_env("Maze-v0"); }});
  try {
    maze.load(dice.save());
    FAIL() << "loaded";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::checkpoint);
  }
}

/// Counts, but throws in steps once its switch is on.
class Breaking final : public Counter {
 public:
  explicit Breaking(const bool& broken) : Counter(100), broken_(broken) {}
  StepResult step(ActionView action, ObservationOut observation) override {
    if (broken_) throw std::runtime_error("no simulator");
    return Counter::step(action, observation);
  }

 private:
  const bool& broken_;
};

TEST(SavedBatch, ThatCannotRepeatItsActionsNamesTheEnv) {
  bool broken = false;
  const Case breaking{"Breaking", [&] { return std::make_unique<Breaking>(broken); }};
  BatchDriver original = drive(breaking);
  original.reset();
  original.step();
  const std::vector<std::byte> saved = original.save();
  broken = true;
  try {
    original.load(saved);
    FAIL() << "loaded";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::env);
    EXPECT_STREQ(error.what(), "Breaking (worker 0, env 0): load: no simulator");
  }
  broken = false;
  original.load(saved);
  EXPECT_EQ(original.step().episode_length[0], 2);
}

TEST(SavedBatch, LoadsOverAStepThatFailed) {
  bool broken = false;
  int made = 0;
  BatchDriver batch = drive({"Counter", [&]() -> std::unique_ptr<Env> {
                               if (made++ == 2) return std::make_unique<Breaking>(broken);
                               return std::make_unique<Counter>(100);
                             }});
  batch.reset();
  batch.step();
  const std::vector<std::byte> saved = batch.save();
  broken = true;
  EXPECT_THROW(batch.step(), Error);
  broken = false;
  batch.load(saved);
  EXPECT_EQ(batch.step().episode_length, (std::vector<std::int64_t>{2, 2, 2}));
}

TEST(SavedBatch, CutShortIsRefused) {
  for (const Case& env : cases()) {
    BatchDriver original = drive(env);
    original.reset();
    original.step();
    std::vector<std::byte> saved = original.save();
    saved.resize(saved.size() / 2);
    EXPECT_THROW(original.load(saved), Error) << env.name;
  }
}

}  // namespace
}  // namespace knurl
