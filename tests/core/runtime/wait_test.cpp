#include <gtest/gtest.h>

#include "support.h"

namespace knurl::runtime::test {
namespace {

Gate gate;

int gated(int x) {
  return gate.pass() ? x : -1;
}

int failing() {
  throw std::runtime_error("no luck");
}

class Wait : public testing::Test {
 protected:
  Wait() { gate.close(); }
  ~Wait() override { gate.open(); }

  ScopedRuntime runtime_ = knurl::init({.num_cpus = 4});
};

TEST_F(Wait, KeepsTheOrderOfReadyAndPending) {
  const auto a = runtime_.put(1);
  const auto b = runtime_.task(gated, 2);
  const auto c = runtime_.put(3);
  const auto d = runtime_.task(gated, 4);
  const auto result = runtime_.wait(std::vector{b, c, d, a}, {.num_returns = 2, .timeout = kLong});
  EXPECT_EQ(result.ready, (std::vector{c, a}));
  EXPECT_EQ(result.pending, (std::vector{b, d}));
}

TEST_F(Wait, ReturnsNoMoreThanItWasAskedFor) {
  const std::vector refs{runtime_.put(1), runtime_.put(2), runtime_.put(3)};
  const auto result = runtime_.wait(refs);
  EXPECT_EQ(result.ready, (std::vector{refs[0]}));
  EXPECT_EQ(result.pending, (std::vector{refs[1], refs[2]}));
}

TEST_F(Wait, BlocksUntilEnoughAreThere) {
  const std::vector refs{runtime_.task(gated, 1), runtime_.task(gated, 2)};
  runtime_.task([] { gate.open(); });
  EXPECT_EQ(runtime_.wait(refs, {.num_returns = 2}).ready, refs);
}

TEST_F(Wait, EndsAtItsTimeoutWithWhatIsThere) {
  const std::vector refs{runtime_.task(gated, 1), runtime_.put(2)};
  const auto result = runtime_.wait(refs, {.num_returns = 2, .timeout = 20ms});
  EXPECT_EQ(result.ready, (std::vector{refs[1]}));
  EXPECT_EQ(result.pending, (std::vector{refs[0]}));
}

TEST_F(Wait, CountsFailedObjectsAsReady) {
  const auto failed = runtime_.task(failing);
  const std::vector refs{runtime_.task(gated, 1), failed};
  EXPECT_EQ(runtime_.wait(refs, {.timeout = kLong}).ready, (std::vector{failed}));
}

TEST_F(Wait, WorksOnVoidResults) {
  const std::vector refs{runtime_.task([] {})};
  EXPECT_EQ(runtime_.wait(refs, {.timeout = kLong}).ready, refs);
}

TEST_F(Wait, RefusesWhatCannotBe) {
  const auto a = runtime_.put(1);
  const auto b = runtime_.put(2);
  const auto text_of = [&](const std::vector<ObjectRef<int>>& refs, WaitOptions options) {
    return text_thrown<Error>([&] { runtime_.wait(refs, options); });
  };
  EXPECT_EQ(text_of({a, b}, {.num_returns = 0}),
            "wait: num_returns = 0: must be in [1, 2], the number of refs");
  EXPECT_EQ(text_of({a, b}, {.num_returns = 3}),
            "wait: num_returns = 3: must be in [1, 2], the number of refs");
  EXPECT_EQ(text_of({}, {}), "wait: num_returns = 1: must be in [1, 0], the number of refs");
  EXPECT_EQ(text_of({a, b, a}, {}), "wait: the same ref is there twice: refs must be distinct");
  EXPECT_EQ(text_of({a, b}, {.timeout = -1s}), "timeout = -1 s: must not be negative");
}

TEST_F(Wait, AGetEndsAtItsTimeoutAndTheWorkGoesOn) {
  const auto ref = runtime_.task(TaskOptions{.name = "slow"}, gated, 1);
  EXPECT_EQ(text_thrown<TimeoutError>([&] { runtime_.get(ref, 20ms); }),
            "get of task slow: timed out after 0.02 s");
  EXPECT_THROW(runtime_.get(ref, 0s), TimeoutError);
  EXPECT_THROW(runtime_.get(std::vector{runtime_.put(1), ref}, 1ms), TimeoutError);
  EXPECT_THROW(runtime_.get(ref, -1ms), Error);
  gate.open();
  EXPECT_EQ(runtime_.get(ref, std::chrono::hours(24 * 365 * 200)), 1);
}

TEST_F(Wait, ManyShortWaitsLeaveNothingBehind) {
  const auto ref = runtime_.task(gated, 1);
  for (int i = 0; i < 1000; ++i) {
    EXPECT_TRUE(runtime_.wait(std::vector{ref}, {.timeout = 1us}).ready.empty());
  }
  gate.open();
  EXPECT_EQ(runtime_.get(ref, kLong), 1);
}

}  // namespace
}  // namespace knurl::runtime::test
