#include <cstdlib>
#include <future>
#include <thread>

#include <gtest/gtest.h>

#include "support.h"

namespace knurl::runtime::test {
namespace {

Gate gate;
Gate started;

void block_until_stopped() {
  started.open();
  gate.pass(stop_token());
}

class Blocked {
 public:
  void block() { block_until_stopped(); }
  void wait() {
    auto runtime = current_runtime();
    runtime.get(runtime.task(block_until_stopped));
  }
  int add(int by) { return total_ += by; }

 private:
  int total_ = 0;
};

class Shutdown : public testing::Test {
 protected:
  Shutdown() {
    gate.close();
    started.close();
  }
  ~Shutdown() override {
    EXPECT_LT(std::chrono::steady_clock::now() - start_, 5s);
    EXPECT_FALSE(active());
  }

  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

TEST_F(Shutdown, EndsWithTheScopeAndInitWorksAgain) {
  for (int i = 0; i < 20; ++i) {
    EXPECT_THROW(current_runtime(), Error);
    auto runtime = knurl::init({.num_cpus = 2});
    EXPECT_TRUE(active());
    auto counter = runtime.actor<Blocked>();
    EXPECT_EQ(runtime.get(counter.call<&Blocked::add>(runtime.task(add, i, 1)), kLong), i + 1);
  }
}

TEST_F(Shutdown, ASecondRuntimeIsRefusedWhileOneIsActive) {
  auto runtime = knurl::init();
  EXPECT_NE(text_thrown<Error>([] { const auto second = knurl::init(); }).find("one at a time"),
            std::string::npos);
  EXPECT_EQ(runtime.get(runtime.task(add, 1, 2), kLong), 3);
}

TEST_F(Shutdown, OptionsThatCannotBeLeaveNoRuntimeBehind) {
  EXPECT_EQ(text_thrown<Error>([] { const auto none = knurl::init({.num_cpus = 0}); }),
            "init: num_cpus = 0: must be at least 1");
  EXPECT_THROW(const auto none = knurl::init({.shutdown_timeout = -1s}), Error);
  EXPECT_FALSE(active());
}

TEST_F(Shutdown, WithoutARuntimeEverythingSaysSo) {
  EXPECT_EQ(text_thrown<Error>([] { current_runtime(); }),
            "there is no runtime: call knurl::init first");
  std::optional<Runtime> late;
  {
    auto runtime = knurl::init();
    late = runtime;
  }
  EXPECT_EQ(text_thrown<Error>([&] { late->put(1); }), "the runtime has ended: call knurl::init");
  EXPECT_THROW(late->task(add, 1, 2), Error);
  EXPECT_THROW(late->actor<Blocked>(), Error);
}

TEST_F(Shutdown, DropsTenThousandQueuedCalls) {
  std::vector<ObjectRef<int>> calls;
  std::optional<Runtime> late;
  {
    auto runtime = knurl::init();
    late = runtime;
    auto blocked = runtime.actor<Blocked>({.name = "blocked"});
    blocked.call<&Blocked::block>();
    for (int i = 0; i < 10'000; ++i) calls.push_back(blocked.call<&Blocked::add>(1));
    EXPECT_TRUE(started.pass());
  }
  for (const auto& call : calls) {
    EXPECT_EQ(text_thrown<CancelledError>([&] { late->get(call); }),
              "actor blocked ended with its runtime");
  }
}

TEST_F(Shutdown, DropsTenThousandQueuedTasks) {
  std::vector<ObjectRef<int>> tasks;
  std::optional<Runtime> late;
  {
    auto runtime = knurl::init({.num_cpus = 1});
    late = runtime;
    runtime.task(block_until_stopped);
    EXPECT_TRUE(started.pass());
    for (int i = 0; i < 10'000; ++i) {
      tasks.push_back(runtime.task(TaskOptions{.name = "late"}, add, 1, 2));
    }
  }
  for (const auto& task : tasks) {
    EXPECT_EQ(text_thrown<CancelledError>([&] { late->get(task); }),
              "task late was dropped: the runtime ended before it ran");
  }
}

TEST_F(Shutdown, EndsAnActorThatIsBlockedInAGet) {
  auto runtime = knurl::init({.num_cpus = 2});
  auto blocked = runtime.actor<Blocked>();
  blocked.call<&Blocked::wait>();
  EXPECT_TRUE(started.pass());
}

TEST_F(Shutdown, FailsTheWaitsOfOtherThreads) {
  std::future<std::string> text;
  {
    auto runtime = knurl::init({.num_cpus = 1});
    auto never = runtime.task(block_until_stopped);
    EXPECT_TRUE(started.pass());
    auto behind = runtime.task(add, 1, 2);
    started.close();
    text = std::async(std::launch::async, [runtime = Runtime(runtime), behind] {
      started.open();
      return text_thrown<CancelledError>([&] { runtime.get(behind); });
    });
    EXPECT_TRUE(started.pass());
  }
  EXPECT_FALSE(text.get().empty());
}

std::atomic<bool> saw_no_runtime = false;

TEST_F(Shutdown, LeavesAThreadThatDoesNotStopBehindAndSaysSo) {
  ObjectRef<void> result;
  testing::internal::CaptureStderr();
  {
    auto runtime = knurl::init({.num_cpus = 1, .shutdown_timeout = 50ms});
    result = runtime.task(TaskOptions{.name = "deaf"}, [] {
      started.open();
      gate.pass();  // looks at no stop token
      // the runtime that it worked for is no more, but safe to ask
      saw_no_runtime = !text_thrown<Error>([] { current_runtime().put(1); }).empty();
    });
    EXPECT_TRUE(started.pass());
  }
  EXPECT_EQ(testing::internal::GetCapturedStderr(),
            "knurl: warning: the runtime ended, but a task's thread did not stop within 0.05 s and "
            "was left behind\n");
  auto runtime = knurl::init();
  EXPECT_EQ(text_thrown<CancelledError>([&] { runtime.get(result); }),
            "task deaf was stopped: the runtime ended before it did");
  gate.open();
  EXPECT_TRUE(eventually([] { return saw_no_runtime.load(); }));
  EXPECT_EQ(runtime.get(runtime.task(add, 1, 2), kLong), 3);
}

TEST_F(Shutdown, AsksRunningTasksAndCallsToStop) {
  static Gate both;
  static std::atomic<int> num_stopped;
  both.close();
  num_stopped = 0;
  static constexpr auto run = [] {
    started.open();
    if (!both.pass(stop_token())) ++num_stopped;
  };
  struct Runner {
    void go() { run(); }
  };
  {
    auto runtime = knurl::init({.num_cpus = 1});
    runtime.task(run);
    EXPECT_TRUE(started.pass());
    started.close();
    auto runner = runtime.actor<Runner>();
    runner.call<&Runner::go>();
    EXPECT_TRUE(started.pass());
  }
  EXPECT_EQ(num_stopped, 2);
}

TEST_F(Shutdown, ARuntimeMovesWithItsScope) {
  static_assert(!std::is_constructible_v<Runtime, ScopedRuntime>);
  std::optional<ScopedRuntime> own;
  {
    auto runtime = knurl::init();
    own.emplace(std::move(runtime));
    EXPECT_EQ(runtime.get(runtime.put(1)), 1);  // still access to it
  }
  EXPECT_EQ(own->get(own->task(add, 1, 2), kLong), 3);
  own.reset();
}

TEST_F(Shutdown, HandlesAndRefsMayOutliveTheRuntime) {
  ActorHandle<Blocked> handle;
  ObjectRef<int> ref;
  {
    auto runtime = knurl::init();
    handle = runtime.actor<Blocked>();
    ref = handle.call<&Blocked::add>(1);
    runtime.get(ref, kLong);
  }
  const auto late = handle.call<&Blocked::add>(1);
  auto runtime = knurl::init();
  EXPECT_EQ(runtime.get(ref), 1);
  EXPECT_THROW(runtime.get(late), CancelledError);
}

TEST_F(Shutdown, ActorsThatNeverStartedEndToo) {
  auto runtime = knurl::init({.num_cpus = 1});
  auto first = runtime.actor<Blocked>({.num_cpus = 1});
  auto second = runtime.actor<Blocked>({.num_cpus = 1});
  auto third = runtime.actor<Blocked>();
  second.call<&Blocked::add>(runtime.task(add, 1, 2));
  third.call<&Blocked::add>(second.call<&Blocked::add>(1));
}

void main_that_throws() {
  auto runtime = knurl::init({.num_cpus = 1});
  auto blocked = runtime.actor<Blocked>();
  blocked.call<&Blocked::wait>();
  for (int i = 0; i < 100; ++i) runtime.task(block_until_stopped);
  throw std::runtime_error("unexpected");
}

TEST_F(Shutdown, AnExceptionInMainUnwindsCleanly) {
  EXPECT_THROW(main_that_throws(), std::runtime_error);
}

TEST(ShutdownDeathTest, AProcessEndsBesideAThreadThatDoesNotStop) {
  testing::GTEST_FLAG(death_test_style) = "threadsafe";
  EXPECT_EXIT(
      {
        {
          auto runtime = knurl::init({.num_cpus = 1, .shutdown_timeout = 10ms});
          runtime.task([] {
            started.open();
            std::this_thread::sleep_for(100s);
          });
          started.pass();
        }
        std::exit(7);
      },
      testing::ExitedWithCode(7), "left behind");
}

}  // namespace
}  // namespace knurl::runtime::test
