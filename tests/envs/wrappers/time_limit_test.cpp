#include "knurl/envs/wrappers/time_limit.h"

#include <gtest/gtest.h>

#include "../single_env.h"
#include "../test_envs.h"

namespace knurl {
namespace {

using testing::Counter;
using testing::SingleEnv;

/// A Counter to `length` under a limit of `limit` steps.
SingleEnv limited(int length, int limit) {
  return SingleEnv(std::make_unique<TimeLimit>(std::make_unique<Counter>(length), limit));
}

TEST(TimeLimit, TruncatesAtItsLastStepAndNotBefore) {
  SingleEnv env = limited(10, 3);
  for (int episode = 0; episode < 2; ++episode) {
    env.reset();
    for (int step = 1; step <= 3; ++step) {
      const StepResult result = env.step(0);
      EXPECT_FALSE(result.terminated);
      EXPECT_EQ(result.truncated, step == 3);
    }
    EXPECT_EQ(env.observation()[0], 3.0F) << "the truncating step's observation is the env's";
  }
}

TEST(TimeLimit, AResetInTheMiddleStartsTheCountAgain) {
  SingleEnv env = limited(10, 3);
  env.reset();
  env.step(0);
  env.step(0);
  env.reset();
  EXPECT_FALSE(env.step(0).truncated);
  EXPECT_FALSE(env.step(0).truncated);
  EXPECT_TRUE(env.step(0).truncated);
}

TEST(TimeLimit, BothEndingsMayComeAtOnce) {
  SingleEnv env = limited(3, 3);
  env.reset();
  env.step(0);
  env.step(0);
  const StepResult last = env.step(0);
  EXPECT_TRUE(last.terminated);
  EXPECT_TRUE(last.truncated);
}

TEST(TimeLimit, AnEndingBeforeTheLimitIsOnlyATermination) {
  SingleEnv env = limited(2, 3);
  env.reset();
  env.step(0);
  const StepResult last = env.step(0);
  EXPECT_TRUE(last.terminated);
  EXPECT_FALSE(last.truncated);
}

/// Truncates itself after two steps.
class Shy final : public Counter {
 public:
  Shy() : Counter(9) {}
  StepResult step(ActionView action, ObservationOut observation) override {
    StepResult result = Counter::step(action, observation);
    result.truncated = count() == 2;
    return result;
  }
};

TEST(TimeLimit, AnEnvMayTruncateBefore) {
  SingleEnv env(std::make_unique<TimeLimit>(std::make_unique<Shy>(), 5));
  env.reset();
  EXPECT_FALSE(env.step(0).truncated);
  EXPECT_TRUE(env.step(0).truncated);
}

TEST(TimeLimit, IsInTheSpec) {
  SingleEnv env = limited(10, 3);
  EXPECT_EQ(env.env().spec().max_episode_steps, 3);
  EXPECT_EQ(env.env().spec().observation, Counter(10).spec().observation);
}

}  // namespace
}  // namespace knurl
