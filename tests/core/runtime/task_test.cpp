#include <atomic>
#include <thread>

#include <gtest/gtest.h>

#include "knurl/core/runtime/detail/scheduler.h"
#include "support.h"

namespace knurl::runtime::test {
namespace {

TEST(Tasks, TakeValuesAndRefsAlike) {
  auto runtime = knurl::init();
  auto three = runtime.task(add, 1, 2);
  auto seven = runtime.task(add, three, runtime.put(4));
  EXPECT_EQ(runtime.get(runtime.task(add, seven, 'A' - 'A'), kLong), 7);
}

std::string describe(const std::string& name, double value, std::vector<int> list) {
  list.push_back(0);
  return fmt::format("{} {} {}", name, value, list.size());
}

TEST(Tasks, ConvertArgumentsToTheParametersTypes) {
  auto runtime = knurl::init();
  EXPECT_EQ(runtime.get(runtime.task(describe, "pi", 3, std::vector{1, 2})), "pi 3 3");
}

std::atomic<int> num_visits = 0;

TEST(Tasks, MayBeLambdasWithoutCapturesAndReturnNothing) {
  auto runtime = knurl::init();
  num_visits = 0;
  std::vector<ObjectRef<void>> visits;
  for (int i = 0; i < 10; ++i) {
    visits.push_back(runtime.task([](int by) noexcept { num_visits += by; }, 2));
  }
  runtime.get(visits, kLong);
  runtime.get(visits[0]);
  EXPECT_EQ(num_visits, 20);
}

Gate late_gate;

int late(int x) {
  return late_gate.pass() ? x : -1;
}

TEST(Tasks, StartWhenTheirArgumentsAreThere) {
  auto runtime = knurl::init({.num_cpus = 1});
  late_gate.close();
  auto argument = runtime.task(TaskOptions{.num_cpus = 0}, late, 5);
  auto dependent = runtime.task(add, argument, 1);
  EXPECT_EQ(runtime.get(runtime.task(add, 1, 1), kLong), 2);  // the CPU is free meanwhile
  EXPECT_EQ(runtime.wait(std::vector{dependent}, {.timeout = 0s}).pending.size(), 1U);
  late_gate.open();
  EXPECT_EQ(runtime.get(dependent, kLong), 6);
}

int broken(int /*x*/) {
  throw std::runtime_error("no luck");
}

TEST(Tasks, AFailedArgumentFailsTheTaskWithItsText) {
  auto runtime = knurl::init();
  auto sum = runtime.task(add, 1, runtime.task(TaskOptions{.name = "dice"}, broken, 1));
  EXPECT_EQ(text_thrown<Error>([&] { runtime.get(sum, kLong); }), "task dice: no luck");
}

TEST(Tasks, ALongChainOfFailuresNeedsNoDeepStack) {
  auto runtime = knurl::init();
  late_gate.close();
  auto last = runtime.task(late, 0);
  auto failing = runtime.task(broken, last);
  for (int i = 0; i < 20'000; ++i) {
    last = runtime.task(add, last, 1);
    failing = runtime.task(add, failing, 1);
  }
  late_gate.open();
  EXPECT_EQ(runtime.get(last, kLong), 20'000);
  EXPECT_THROW(runtime.get(failing, kLong), Error);
}

TEST(Tasks, ThatAskForMoreThanThereIsAreRefusedAtOnce) {
  auto runtime = knurl::init({.num_cpus = 2});
  EXPECT_EQ(text_thrown<Error>(
                [&] { runtime.task(TaskOptions{.num_cpus = 2.5, .name = "greedy"}, add, 1, 2); }),
            "task greedy: num_cpus = 2.5: the runtime has 2");
  EXPECT_THROW(runtime.task(TaskOptions{.num_cpus = -1}, add, 1, 2), Error);
  EXPECT_EQ(runtime.get(runtime.task(TaskOptions{.num_cpus = 2}, add, 1, 2), kLong), 3);
}

std::atomic<int> num_running = 0;
std::atomic<int> most_running = 0;

void run_for_a_moment() {
  const int now = ++num_running;
  for (int most = most_running; most < now && !most_running.compare_exchange_weak(most, now);) {
  }
  for (int i = 0; i < 20; ++i) std::this_thread::yield();
  --num_running;
}

TEST(Tasks, NeverTakeMoreCpusThanThereAre) {
  auto runtime = knurl::init({.num_cpus = 2});
  most_running = 0;
  std::vector<ObjectRef<void>> all;
  for (int i = 0; i < 500; ++i) all.push_back(runtime.task(run_for_a_moment));
  runtime.get(all, kLong);
  EXPECT_LE(most_running, 2);
}

Meeting halves(2);

bool meet() {
  return halves.join();
}

TEST(Tasks, MayShareACpu) {
  auto runtime = knurl::init({.num_cpus = 1});
  const TaskOptions half{.num_cpus = 0.5};
  auto one = runtime.task(half, meet);
  auto two = runtime.task(half, meet);
  EXPECT_TRUE(runtime.get(one, kLong));
  EXPECT_TRUE(runtime.get(two, kLong));
}

std::int64_t fibonacci(int n) {
  if (n < 2) return n;
  auto runtime = current_runtime();
  auto one = runtime.task(fibonacci, n - 1);
  auto two = runtime.task(fibonacci, n - 2);
  return runtime.get(one) + runtime.get(two);
}

TEST(Tasks, NestDeeplyOnOneCpu) {
  auto runtime = knurl::init({.num_cpus = 1});
  EXPECT_EQ(runtime.get(runtime.task(fibonacci, 12), kLong), 144);
}

TEST(Tasks, ThatWaitForSeveralGiveTheirCpuBack) {
  auto runtime = knurl::init({.num_cpus = 1});
  auto outer = runtime.task([] {
    auto inner = current_runtime();
    const std::vector parts{inner.task(add, 1, 2), inner.task(add, 3, 4)};
    return inner.wait(parts, {.num_returns = 2}).ready.size();
  });
  EXPECT_EQ(runtime.get(outer, kLong), 2U);
}

TEST(Tasks, ErrorsKeepTheirKindAndText) {
  auto runtime = knurl::init();
  auto ref = runtime.task([]() -> int { fail(ErrorKind::env, "Maze-v0: step: no such action"); });
  try {
    runtime.get(ref, kLong);
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::env);
    EXPECT_STREQ(error.what(), "Maze-v0: step: no such action");
  }
}

struct Odd {};

TEST(Tasks, OtherExceptionsGetThePlaceBeforeTheirText) {
  auto runtime = knurl::init();
  const auto text_of = [&](ObjectRef<int> ref) {
    return text_thrown<Error>([&] { runtime.get(ref, kLong); });
  };
  EXPECT_EQ(text_of(runtime.task(broken, 1)), "task int(int): no luck");
  EXPECT_EQ(text_of(runtime.task(TaskOptions{.name = "odd"}, []() -> int { throw "text"; })),
            "task odd: text");
  EXPECT_NE(text_of(runtime.task([]() -> int { throw Odd(); })).find("Odd"), std::string::npos);
}

TEST(Tasks, GetFailsAsSoonAsOneOfManyHas) {
  auto runtime = knurl::init({.num_cpus = 2});
  late_gate.close();
  const std::vector refs{runtime.task(late, 1), runtime.task(broken, 1)};
  EXPECT_THROW(runtime.get(refs, kLong), Error);
  late_gate.open();
}

TEST(Tasks, AreCalledByTheNameOfAnExportedFunction) {
  auto runtime = knurl::init({.num_cpus = 1});
  late_gate.close();
  auto number =
      runtime.task(TaskOptions{.num_cpus = 0}, [] { return late_gate.pass() ? 1.0 : 0.0; });
  auto waiting = runtime.task(detail::cpus_of, number, "test");
  runtime.cancel(waiting);
  EXPECT_EQ(text_thrown<CancelledError>([&] { runtime.get(waiting); }),
            "task knurl::runtime::detail::cpus_of was cancelled");
  late_gate.open();
}

}  // namespace
}  // namespace knurl::runtime::test
