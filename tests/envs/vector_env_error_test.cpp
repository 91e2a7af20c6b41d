#include <mutex>

#include <gtest/gtest.h>
#include <oneapi/tbb/parallel_for.h>

#include "batch_driver.h"
#include "knurl/envs/registry.h"
#include "test_envs.h"

/// What a batch does when its envs throw, and when they use TBB themselves.
namespace knurl {
namespace {

using testing::BatchDriver;
using testing::BatchStep;
using testing::BusyCounter;
using testing::Counter;

enum class Call { none, constructor, reset, step };
enum class Thrown { std_exception, error, text, number };

[[noreturn]] void throw_one(Thrown thrown) {
  switch (thrown) {
    case Thrown::std_exception:
      throw std::runtime_error("sensor 4 is broken");
    case Thrown::error:
      fail(ErrorKind::io, "sensor {} is broken", 4);
    case Thrown::text:
      throw "sensor 4 is broken";  // NOLINT(*-throw-*): some users do
    case Thrown::number:
      break;
  }
  throw 4;  // NOLINT(*-throw-*)
}

std::string text_of(Thrown thrown) {
  return thrown == Thrown::number ? "an exception of type int" : "sensor 4 is broken";
}

/// A Counter to 5 that throws once in one call: in its constructor, in its second reset, or in the
/// step after it counted to 2.
class Faulty final : public Env {
 public:
  Faulty(Call call, Thrown thrown) : call_(call), thrown_(thrown) {
    if (call_ == Call::constructor) throw_one(thrown_);
  }
  [[nodiscard]] EnvSpec spec() const override { return counter_.spec(); }
  void reset(Rng& rng, ObservationOut observation) override {
    if (++resets_ == 2 && std::exchange(call_, Call::none) == Call::reset) throw_one(thrown_);
    counter_.reset(rng, observation);
    steps_ = 0;
  }
  StepResult step(ActionView action, ObservationOut observation) override {
    if (steps_ == 2 && call_ == Call::step) {
      call_ = Call::none;
      throw_one(thrown_);
    }
    ++steps_;
    return counter_.step(action, observation);
  }

 private:
  Call call_;
  Thrown thrown_;
  Counter counter_{5};
  int resets_ = 0;
  int steps_ = 0;
};

/// Eight counters in worker 3, of which number 5 throws.
BatchDriver with_fault(Call call, Thrown thrown, Stepping stepping) {
  int made = 0;
  const EnvFactory factory = [&] {
    return std::make_unique<Faulty>(made++ == 5 ? call : Call::none, thrown);
  };
  return BatchDriver(make_vector_env("Faulty", factory, Rng(1),
                                     {.num_envs = 8,
                                      .first_env = 24,
                                      .total_envs = 32,
                                      .worker = 3,
                                      .stepping = stepping,
                                      .num_threads = 4}));
}

/// What `body` threw: "env: text", or nothing.
template <class Body>
std::string thrown_by(Body body) {
  try {
    body();
  } catch (const Error& error) {
    return fmt::format("{}: {}", name_of(error.kind()), error.what());
  }
  return "";
}

class EveryFault : public ::testing::TestWithParam<std::tuple<Thrown, Stepping>> {
 protected:
  [[nodiscard]] Thrown thrown() const { return std::get<0>(GetParam()); }
  [[nodiscard]] Stepping stepping() const { return std::get<1>(GetParam()); }
  [[nodiscard]] std::string message(const char* call) const {
    return fmt::format("env: Faulty (worker 3, env 5): {}: {}", call, text_of(thrown()));
  }
};

TEST_P(EveryFault, InAConstructorNamesEnvWorkerIndexAndText) {
  EXPECT_EQ(thrown_by([&] { with_fault(Call::constructor, thrown(), stepping()); }),
            message("constructor"));
}

TEST_P(EveryFault, InAStepLeavesTheOthersTheirStep) {
  BatchDriver faulty = with_fault(Call::step, thrown(), stepping());
  BatchDriver healthy = with_fault(Call::none, thrown(), stepping());
  faulty.reset();
  healthy.reset();
  for (int i = 0; i < 2; ++i) EXPECT_EQ(faulty.step(), healthy.step());
  EXPECT_EQ(thrown_by([&] { faulty.step(); }), message("episode 29, step 3"));
  const BatchStep expected = healthy.step();
  BatchStep actual = faulty.result();
  EXPECT_EQ(actual.episode_length[5], 2) << "the step that threw does not count";
  actual.observation[5] = expected.observation[5];
  actual.episode_length[5] = expected.episode_length[5];
  EXPECT_EQ(actual, expected);

  // the next steps work; the env that threw is one step behind
  healthy.step();
  faulty.step();
  EXPECT_EQ(faulty.env().episode_length(5), 3);
  EXPECT_EQ(faulty.step().ended.size(), 7U);
  const std::vector<EpisodeSummary> late = faulty.step().ended;
  ASSERT_EQ(late.size(), 1U);
  EXPECT_EQ(late[0].env, 29);
  EXPECT_EQ(late[0].length, 5);
}

TEST_P(EveryFault, InAResetOfTheBatchLeavesTheOthersReset) {
  BatchDriver faulty = with_fault(Call::reset, thrown(), stepping());
  faulty.reset();
  faulty.step();
  EXPECT_EQ(thrown_by([&] { faulty.reset(); }), message("reset"));
  for (const int i : {0, 4, 6, 7}) {
    EXPECT_EQ(faulty.columns().column<float>("observation")[i], 0.0F);
  }
  faulty.reset();
  EXPECT_EQ(faulty.columns().column<float>("observation")[5], 0.0F);
  EXPECT_NO_THROW(faulty.step());
}

TEST_P(EveryFault, InTheResetAfterAnEndingKeepsTheEndedEpisodes) {
  BatchDriver faulty = with_fault(Call::reset, thrown(), stepping());
  faulty.reset();
  for (int i = 0; i < 4; ++i) faulty.step();
  EXPECT_EQ(thrown_by([&] { faulty.step(); }), message("reset"));
  EXPECT_EQ(faulty.env().ended().size(), 8U);
  EXPECT_EQ(faulty.columns().column<float>("final_observation")[5], 5.0F);

  // it has no episode, which its next step says; all others go on
  EXPECT_EQ(thrown_by([&] { faulty.step(); }),
            "env: Faulty (worker 3, env 5): step: no episode is running; reset first");
  EXPECT_EQ(faulty.columns().column<float>("observation")[4], 1.0F);
  EXPECT_TRUE(faulty.env().ended().empty());
  faulty.reset();
  EXPECT_NO_THROW(faulty.step());
}

std::string name_of(const ::testing::TestParamInfo<std::tuple<Thrown, Stepping>>& info) {
  const auto [thrown, stepping] = info.param;
  const std::array<std::string, 4> names{"StdException", "KnurlError", "Text", "Number"};
  return names[static_cast<std::size_t>(thrown)] +
         (stepping == Stepping::serial ? "Serial" : "Parallel");
}

INSTANTIATE_TEST_SUITE_P(VectorEnv, EveryFault,
                         ::testing::Combine(::testing::Values(Thrown::std_exception, Thrown::error,
                                                              Thrown::text, Thrown::number),
                                            ::testing::Values(Stepping::serial,
                                                              Stepping::parallel)),
                         name_of);

TEST(VectorEnvErrors, OfSeveralTheLowestIndexIsThrown) {
  for (const Stepping stepping : {Stepping::serial, Stepping::parallel}) {
    int made = 0;
    const EnvFactory factory = [&] {
      return std::make_unique<BusyCounter>(9, [index = made++](int) {
        if (index == 2 || index == 6) fail(ErrorKind::env, "fault of {}", index);
      });
    };
    BatchDriver driver(
        make_vector_env("Faulty", factory, Rng(1),
                        {.num_envs = 8, .total_envs = 8, .stepping = stepping, .num_threads = 4}));
    driver.reset();
    for (int i = 0; i < 20; ++i) {
      EXPECT_EQ(thrown_by([&] { driver.step(); }),
                "env: Faulty (worker 0, env 2): episode 2, step 1: fault of 2");
    }
  }
}

TEST(VectorEnvErrors, AnErrorOfKindConfigInAStepIsTheEnvsToo) {
  const EnvFactory factory = [] {
    return std::make_unique<BusyCounter>(9, [](int) { fail(ErrorKind::config, "no such level"); });
  };
  BatchDriver driver(make_vector_env("Levels", factory, Rng(1), {}));
  driver.reset();
  EXPECT_EQ(thrown_by([&] { driver.step(); }),
            "env: Levels (worker 0, env 0): episode 0, step 1: no such level");
}

TEST(VectorEnvErrors, AnInvalidActionIsNamed) {
  BatchDriver driver(make_vector_env("Maze-v0", ConfigValue::empty_map(), Rng(1),
                                     {.num_envs = 2, .total_envs = 2}));
  driver.reset();
  driver.columns().column<std::int64_t>("action")[1] = 4;
  EXPECT_EQ(
      thrown_by([&] { driver.step_as_given(); }),
      "env: Maze-v0 (worker 0, env 1): episode 1, step 1: Invalid action 4: must be in [0, 3]");
}

TEST(VectorEnvErrors, AStepBeforeAnyResetIsRefused) {
  BatchDriver driver(make_vector_env("Maze-v0", ConfigValue::empty_map(), Rng(1), {}));
  EXPECT_EQ(thrown_by([&] { driver.step(); }),
            "env: Maze-v0 (worker 0, env 0): step: no episode is running; reset first");
}

TEST(VectorEnvErrors, EnvsOfABatchAreAlike) {
  int made = 0;
  const EnvFactory growing = [&] { return std::make_unique<Counter>(4 + made++); };
  EXPECT_EQ(thrown_by([&] {
              make_vector_env("Growing", growing, Rng(1), {.num_envs = 2, .total_envs = 2});
            }),
            "env: Growing (worker 0, env 1): constructor: its spec() differs from env 0's");
}

TEST(VectorEnvErrors, AFactoryThatGivesNothingIsNamed) {
  EXPECT_EQ(thrown_by([] { make_vector_env("Nothing", [] { return nullptr; }, Rng(1), {}); }),
            "env: Nothing (worker 0, env 0): constructor: the factory gave no env");
}

std::atomic<int> inner_work = 0;

/// A parallel loop of its own, so that a step waits inside TBB. It captures nothing: the thread
/// sanitizer cannot see how TBB hands over what is captured.
void inner_loop() {
  oneapi::tbb::parallel_for(0, 64, [](int i) {
    volatile double work = 0.0;
    for (int k = 0; k < 200; ++k) work = work + k;
    inner_work += i;
  });
}

/// Two thousand steps of 8 envs by several threads.
void step_often(const EnvFactory& factory) {
  for (const int num_threads : {1, 2, 4}) {
    BatchDriver driver(make_vector_env("Nested", factory, Rng(1),
                                       {.num_envs = 8,
                                        .total_envs = 8,
                                        .stepping = Stepping::parallel,
                                        .num_threads = num_threads}));
    driver.reset();
    for (int i = 0; i < 2'000; ++i) driver.step();
  }
}

// A step that waits in TBB must not be given another env's step to do meanwhile: what the step
// keeps for its time (a lock, a thread's own memory) would be met half-way.

TEST(NestedParallelism, AStepMayUseParallelLoops) {
  step_often([] { return std::make_unique<BusyCounter>(50, [](int) { inner_loop(); }); });
}

TEST(NestedParallelism, AStepIsNotInterruptedByAnothersOnItsThread) {
  static thread_local bool inside = false;
  std::atomic<int> interrupted = 0;
  step_often([&] {
    return std::make_unique<BusyCounter>(50, [&](int) {
      if (std::exchange(inside, true)) ++interrupted;
      inner_loop();
      inside = false;
    });
  });
  EXPECT_EQ(interrupted, 0);
}

TEST(NestedParallelism, AStepMayHoldALockOverAParallelLoop) {
  std::mutex mutex;
  step_often([&] {
    return std::make_unique<BusyCounter>(50, [&](int) {
      const std::lock_guard lock(mutex);
      inner_loop();
    });
  });
}

TEST(NestedParallelism, AnErrorFromAnInnerLoopIsCarriedOut) {
  const EnvFactory factory = [] {
    return std::make_unique<BusyCounter>(50, [](int count) {
      if (count < 3) return;
      oneapi::tbb::parallel_for(0, 8, [](int i) {
        if (i == 5) throw std::runtime_error("inner fault");
      });
    });
  };
  BatchDriver driver(make_vector_env(
      "Nested", factory, Rng(1),
      {.num_envs = 3, .total_envs = 3, .stepping = Stepping::parallel, .num_threads = 4}));
  driver.reset();
  for (int i = 0; i < 3; ++i) driver.step();
  EXPECT_EQ(thrown_by([&] { driver.step(); }),
            "env: Nested (worker 0, env 0): episode 0, step 4: inner fault");
}

}  // namespace
}  // namespace knurl
