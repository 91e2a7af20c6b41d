#include <gtest/gtest.h>

#include "support.h"

namespace knurl::runtime::test {
namespace {

Gate started;
Gate gate;
std::atomic<int> num_ran = 0;
std::atomic<bool> was_asked_to_stop = false;

void block() {
  started.open();
  was_asked_to_stop = !gate.pass(stop_token());
}

int count(int by) {
  return num_ran += by;
}

int number_of(const Counted& counted) {
  return counted.number() + count(1);
}

class Cancel : public testing::Test {
 protected:
  Cancel() {
    started.close();
    gate.close();
    num_ran = 0;
    was_asked_to_stop = false;
  }
  ~Cancel() override { gate.open(); }

  /// Keeps the only CPU busy until the gate opens.
  ObjectRef<void> occupy() {
    auto blocker = runtime_.task(block);
    EXPECT_TRUE(started.pass());
    return blocker;
  }

  ScopedRuntime runtime_ = knurl::init({.num_cpus = 1});
};

TEST_F(Cancel, QueuedTasksNeverRun) {
  const auto blocker = occupy();
  const auto queued = runtime_.task(count, 1);
  runtime_.cancel(queued);
  EXPECT_THROW(runtime_.get(queued), CancelledError);
  gate.open();
  runtime_.get(blocker, kLong);
  runtime_.get(runtime_.task(count, 0), kLong);
  EXPECT_EQ(num_ran, 0);
}

TEST_F(Cancel, QueuedTasksLetGoOfTheirArguments) {
  const auto blocker = occupy();
  const int before = Counted::num_alive;
  auto queued = runtime_.task(number_of, runtime_.put(Counted(1)));
  EXPECT_EQ(Counted::num_alive, before + 1);
  runtime_.cancel(queued);
  EXPECT_EQ(Counted::num_alive, before);
}

TEST_F(Cancel, TasksThatWaitForArgumentsNeverRun) {
  const auto argument = runtime_.task([] { return block(), 1; });
  const auto waiting = runtime_.task(count, argument);
  const auto behind = runtime_.task(count, waiting);
  runtime_.cancel(waiting);
  EXPECT_THROW(runtime_.get(behind), CancelledError);
  gate.open();
  runtime_.get(argument, kLong);
  runtime_.get(runtime_.task(count, 0), kLong);
  EXPECT_EQ(num_ran, 0);
}

TEST_F(Cancel, RunningTasksAreAskedToStopAndTheirRefsFailAtOnce) {
  const auto running = occupy();
  runtime_.cancel(running);
  EXPECT_EQ(text_thrown<CancelledError>([&] { runtime_.get(running); }),
            "task void() was cancelled");
  EXPECT_EQ(runtime_.get(runtime_.task(count, 1), kLong), 1);  // the CPU is free again
  EXPECT_TRUE(was_asked_to_stop);
}

TEST_F(Cancel, EndsAWaitOfTheTask) {
  auto outer = runtime_.task([] {
    auto runtime = current_runtime();
    const auto never = runtime.task(TaskOptions{.num_cpus = 0}, block);
    try {
      runtime.get(never);
    } catch (const CancelledError& error) {
      num_ran = 100;
    }
    runtime.cancel(never);
  });
  EXPECT_TRUE(started.pass());
  runtime_.cancel(outer);
  EXPECT_THROW(runtime_.get(outer), CancelledError);
  EXPECT_TRUE(eventually([] { return num_ran == 100; }));
}

TEST_F(Cancel, LeavesWhatIsThere) {
  const auto ref = runtime_.task(count, 1);
  EXPECT_EQ(runtime_.get(ref, kLong), 1);
  runtime_.cancel(ref);
  EXPECT_EQ(runtime_.get(ref), 1);
}

class Worker {
 public:
  void block() { test::block(); }
  int count(int by) { return count_ += by; }

 private:
  int count_ = 0;
};

TEST_F(Cancel, DropsQueuedCallsOfAnActorAndKeepsTheOthers) {
  auto worker = runtime_.actor<Worker>();
  const auto blocked = worker.call<&Worker::block>();
  const auto one = worker.call<&Worker::count>(1);
  const auto ten = worker.call<&Worker::count>(10);
  const auto hundred = worker.call<&Worker::count>(100);
  runtime_.cancel(ten);
  EXPECT_THROW(runtime_.get(ten), CancelledError);
  gate.open();
  EXPECT_EQ(runtime_.get(hundred, kLong), 101);
  EXPECT_EQ(runtime_.get(one), 1);
}

TEST_F(Cancel, AsksARunningCallToStopAndTheActorGoesOn) {
  auto worker = runtime_.actor<Worker>();
  const auto blocked = worker.call<&Worker::block>();
  EXPECT_TRUE(started.pass());
  runtime_.cancel(blocked);
  EXPECT_THROW(runtime_.get(blocked), CancelledError);
  EXPECT_EQ(runtime_.get(worker.call<&Worker::count>(1), kLong), 1);
  EXPECT_TRUE(was_asked_to_stop);
}

TEST_F(Cancel, OfAHeldCallLetsTheCallsBehindItGo) {
  auto worker = runtime_.actor<Worker>();
  const auto argument = runtime_.task([] { return block(), 1; });
  const auto held = worker.call<&Worker::count>(argument);
  const auto behind = worker.call<&Worker::count>(10);
  runtime_.cancel(held);
  EXPECT_EQ(runtime_.get(behind, kLong), 10);
}

}  // namespace
}  // namespace knurl::runtime::test
