#include <thread>

#include <gtest/gtest.h>

#include "support.h"

namespace knurl::runtime::test {
namespace {

class StepCounter {
 public:
  StepCounter() = default;
  explicit StepCounter(std::int64_t start) : total_(start) {}

  std::int64_t add(std::int64_t steps) { return total_ += steps; }
  [[nodiscard]] std::int64_t total() const noexcept { return total_; }
  void reset() { total_ = 0; }

  [[nodiscard]] int overloaded(int x) const { return x; }
  [[nodiscard]] std::string overloaded(const std::string& x) const { return x; }

 private:
  std::int64_t total_ = 0;
};

TEST(Actors, KeepStateBetweenCalls) {
  auto runtime = knurl::init();
  auto counter = runtime.actor<StepCounter>(100);
  EXPECT_EQ(runtime.get(counter.call<&StepCounter::add>(128), 1s), 228);
  EXPECT_EQ(runtime.get(counter.call<&StepCounter::total>()), 228);
  runtime.get(counter.call<&StepCounter::reset>());
  EXPECT_EQ(runtime.get(counter.call<&StepCounter::total>()), 0);
}

TEST(Actors, HaveOverloadedAndInheritedMethods) {
  class Special final : public StepCounter {};
  auto runtime = knurl::init();
  auto counter = runtime.actor<Special>();
  constexpr auto number = static_cast<int (StepCounter::*)(int) const>(&StepCounter::overloaded);
  constexpr auto text =
      static_cast<std::string (StepCounter::*)(const std::string&) const>(&StepCounter::overloaded);
  EXPECT_EQ(runtime.get(counter.call<number>(3)), 3);
  EXPECT_EQ(runtime.get(counter.call<text>("three")), "three");
  EXPECT_EQ(runtime.get(counter.call<&Special::add>(3)), 3);
}

/// Keeps what it was told, in order.
class Log {
 public:
  explicit Log(std::string first = {}) {
    if (!first.empty()) add(std::move(first));
  }
  void add(std::string entry) { entries_.push_back(std::move(entry)); }
  void add_number(int caller, int number) { numbers_.emplace_back(caller, number); }
  [[nodiscard]] const std::vector<std::string>& entries() const { return entries_; }
  [[nodiscard]] std::vector<std::pair<int, int>> numbers() const { return numbers_; }

 private:
  std::vector<std::string> entries_;
  std::vector<std::pair<int, int>> numbers_;
};

TEST(Actors, RunTheCallsOfEachOfEightThreadsInItsOrder) {
  constexpr int kCallers = 8;
  constexpr int kCalls = 500;
  auto runtime = knurl::init();
  auto log = runtime.actor<Log>();
  std::vector<std::thread> callers;
  for (int caller = 0; caller < kCallers; ++caller) {
    callers.emplace_back([log, caller] {
      for (int i = 0; i < kCalls; ++i) log.call<&Log::add_number>(caller, i);
    });
  }
  for (auto& caller : callers) caller.join();
  std::vector<int> next(kCallers, 0);
  for (const auto& [caller, number] : runtime.get(log.call<&Log::numbers>(), kLong)) {
    EXPECT_EQ(number, next[static_cast<std::size_t>(caller)]++);
  }
  EXPECT_EQ(next, std::vector<int>(kCallers, kCalls));
}

Gate gate;

std::string gated(const std::string& text) {
  return gate.pass() ? text : "never";
}

std::vector<std::string> write_and_read(ActorHandle<Log> log) {
  log.call<&Log::add>("a task");
  return current_runtime().get(log.call<&Log::entries>());
}

TEST(Actors, HoldACallUntilItsArgumentsAreThereAndTheCallersLaterCallsBehindIt) {
  gate.close();
  auto runtime = knurl::init();
  auto log = runtime.actor<Log>();
  log.call<&Log::add>("first");
  log.call<&Log::add>(runtime.task(gated, "second"));
  auto all = log.call<&Log::entries>();
  // another caller is not held up
  EXPECT_EQ(runtime.get(runtime.task(write_and_read, log), kLong),
            (std::vector<std::string>{"first", "a task"}));
  gate.open();
  EXPECT_EQ(runtime.get(all, kLong), (std::vector<std::string>{"first", "a task", "second"}));
}

TEST(Actors, TakeResultsOfTheirOwnCallsAsArguments) {
  auto runtime = knurl::init();
  auto counter = runtime.actor<StepCounter>();
  auto total = counter.call<&StepCounter::add>(1);
  for (int i = 0; i < 10; ++i) total = counter.call<&StepCounter::add>(total);
  EXPECT_EQ(runtime.get(total, kLong), 1024);
}

TEST(Actors, AreConstructedFromRefsOrFromTheirValues) {
  class Keeper {
   public:
    explicit Keeper(ObjectRef<std::int64_t> ref) : ref_(std::move(ref)) {}
    std::int64_t number() { return current_runtime().get(ref_); }

   private:
    ObjectRef<std::int64_t> ref_;
  };
  gate.close();
  auto runtime = knurl::init();
  auto late = runtime.task([]() -> std::int64_t { return gate.pass() ? 7 : 0; });
  auto counter = runtime.actor<StepCounter>(late);
  auto keeper = runtime.actor<Keeper>(late);
  auto total = counter.call<&StepCounter::add>(1);
  gate.open();
  EXPECT_EQ(runtime.get(total, kLong), 8);
  EXPECT_EQ(runtime.get(keeper.call<&Keeper::number>(), kLong), 7);
}

/// Passes work on to an actor that it made itself.
class Manager {
 public:
  Manager() : counter_(current_runtime().actor<StepCounter>()) {}
  std::int64_t add(std::int64_t steps) {
    return current_runtime().get(counter_.call<&StepCounter::add>(steps));
  }
  [[nodiscard]] ActorHandle<StepCounter> counter() const { return counter_; }

 private:
  ActorHandle<StepCounter> counter_;
};

TEST(Actors, MakeOtherActorsAndHandTheirHandlesOut) {
  auto runtime = knurl::init({.num_cpus = 1});
  auto manager = runtime.actor<Manager>();
  EXPECT_EQ(runtime.get(manager.call<&Manager::add>(5), kLong), 5);
  auto counter = runtime.get(manager.call<&Manager::counter>());
  manager = {};
  EXPECT_EQ(runtime.get(counter.call<&StepCounter::add>(5), kLong), 10);
}

struct Mourner {
  explicit Mourner(ActorHandle<Log> l) : log(std::move(l)) {}
  Mourner(const Mourner&) = delete;
  Mourner& operator=(const Mourner&) = delete;
  ~Mourner() { log.call<&Log::add>("dead"); }
  void say(const std::string& text) { log.call<&Log::add>(text); }

  ActorHandle<Log> log;
};

TEST(Actors, EndAfterTheirQueuedCallsWhenTheLastHandleGoes) {
  gate.close();
  auto runtime = knurl::init();
  auto log = runtime.actor<Log>();
  {
    auto mourner = runtime.actor<Mourner>(log);
    mourner.call<&Mourner::say>(runtime.task(gated, "held"));
    mourner.call<&Mourner::say>("last");
    const auto copy = mourner;
  }
  EXPECT_TRUE(runtime.get(log.call<&Log::entries>(), kLong).empty());
  gate.open();
  EXPECT_TRUE(eventually([&] {
    return runtime.get(log.call<&Log::entries>()) ==
           (std::vector<std::string>{"held", "last", "dead"});
  }));
}

TEST(Actors, EmptyHandlesAreRefused) {
  const ActorHandle<StepCounter> empty;
  EXPECT_FALSE(empty);
  EXPECT_THROW(empty.call<&StepCounter::total>(), Error);
}

TEST(Actors, RefuseCallsBeyondTheirLimit) {
  gate.close();
  auto runtime = knurl::init();
  auto log =
      runtime.actor<Log>({.name = "log", .max_pending_calls = 2}, runtime.task(gated, "first"));
  log.call<&Log::add>("second");
  auto entries = log.call<&Log::entries>();
  EXPECT_EQ(text_thrown<PendingCallsError>([&] { log.call<&Log::add>("third"); }),
            "actor log: Log::add: max_pending_calls = 2 are unfinished");
  gate.open();
  EXPECT_EQ(runtime.get(entries, kLong), (std::vector<std::string>{"first", "second"}));
  log.call<&Log::add>("fourth");
}

TEST(Actors, RefuseOptionsThatCannotBe) {
  auto runtime = knurl::init({.num_cpus = 2});
  const auto text_of = [&](const ActorOptions& options) {
    return text_thrown<Error>([&] { runtime.actor<StepCounter>(options); });
  };
  EXPECT_EQ(text_of({.placement = Placement::process}),
            "actor StepCounter: placement = process: not available yet, use Placement::thread");
  EXPECT_EQ(text_of({.placement = Placement::node}),
            "actor StepCounter: placement = node: not available yet, use Placement::thread");
  EXPECT_EQ(text_of({.num_cpus = 3}), "actor StepCounter: num_cpus = 3: the runtime has 2");
  EXPECT_EQ(text_of({.max_restarts = -1}),
            "actor StepCounter: max_restarts = -1: must not be negative");
  EXPECT_EQ(text_of({.max_pending_calls = 0}),
            "actor StepCounter: max_pending_calls = 0: must be at least 1");
}

TEST(Actors, HoldTheirCpusAsLongAsTheyLive) {
  auto runtime = knurl::init({.num_cpus = 1});
  auto first = runtime.actor<StepCounter>({.num_cpus = 1});
  EXPECT_EQ(runtime.get(first.call<&StepCounter::add>(1), kLong), 1);
  auto second = runtime.actor<StepCounter>({.num_cpus = 1});
  auto total = second.call<&StepCounter::add>(2);
  auto task = runtime.task(add, 1, 2);
  EXPECT_THROW(runtime.get(total, 10ms), TimeoutError);
  first = {};
  EXPECT_EQ(runtime.get(total, kLong), 2);
  second = {};
  EXPECT_EQ(runtime.get(task, kLong), 3);
}

TEST(Actors, MayBeCalledWhileChildProcessesComeAndGo) {
  auto runtime = knurl::init();
  auto counter = runtime.actor<StepCounter>();
  for (int i = 0; i < 3; ++i) {
    counter.call<&StepCounter::add>(1);
    EXPECT_EQ(std::system("true"), 0);
  }
  EXPECT_EQ(runtime.get(counter.call<&StepCounter::total>(), kLong), 3);
}

}  // namespace
}  // namespace knurl::runtime::test
