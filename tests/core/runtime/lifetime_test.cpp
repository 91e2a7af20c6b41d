#include <fstream>

#include <gtest/gtest.h>
#include <unistd.h>

#include "support.h"

namespace knurl::runtime::test {
namespace {

int number_of(const Counted& counted) {
  return counted.number();
}

int fail_with(const Counted& counted) {
  throw std::runtime_error(std::to_string(counted.number()));
}

class Lifetime : public testing::Test {
 protected:
  /// Those that the test has made.
  [[nodiscard]] int num_alive() const { return Counted::num_alive - before_; }
  /// Also of those whose last user is a thread that is about to let go.
  [[nodiscard]] bool all_gone() const {
    return eventually([&] { return num_alive() == 0; });
  }

  const int before_ = Counted::num_alive;
  ScopedRuntime runtime_ = knurl::init({.num_cpus = 2});
};

TEST_F(Lifetime, ValuesGoWithTheirLastRef) {
  auto ref = runtime_.put(Counted(1));
  const auto copy = ref;
  EXPECT_EQ(num_alive(), 1);
  ref = {};
  EXPECT_EQ(num_alive(), 1);
  ref = copy;
  EXPECT_EQ(runtime_.get(std::move(ref)).number(), 1);
  EXPECT_EQ(num_alive(), 1);
}

TEST_F(Lifetime, ResultsThatNobodyAwaitsGoAtOnce) {
  runtime_.task([] { return Counted(1); });
  runtime_.get(runtime_.task(add, 1, 2));
  EXPECT_TRUE(all_gone());
}

TEST_F(Lifetime, APendingTaskKeepsItsArguments) {
  static Gate gate;
  gate.close();
  auto late = runtime_.task([] { return gate.pass() ? 1 : 0; });
  auto number = runtime_.task([](const Counted& counted, int by) { return counted.number() + by; },
                              runtime_.put(Counted(7)), late);
  EXPECT_EQ(num_alive(), 1);
  gate.open();
  EXPECT_EQ(runtime_.get(number, kLong), 8);
  EXPECT_TRUE(all_gone());
}

TEST_F(Lifetime, FinishedAndFailedTasksHaveLetGoOfTheirArguments) {
  for (int i = 0; i < 100; ++i) {
    EXPECT_EQ(runtime_.get(runtime_.task(number_of, Counted(i)), kLong), i);
    EXPECT_EQ(num_alive(), 0);
    EXPECT_THROW(runtime_.get(runtime_.task(fail_with, runtime_.put(Counted(i))), kLong), Error);
    EXPECT_EQ(num_alive(), 0);
  }
}

class Holder {
 public:
  explicit Holder(Counted counted) : counted_(std::move(counted)) {}
  [[nodiscard]] int add(const Counted& other) const { return counted_.number() + other.number(); }

 private:
  Counted counted_;
};

TEST_F(Lifetime, ActorsAndTheirCallsLetGoOfEverything) {
  auto holder = runtime_.actor<Holder>(Counted(1));
  EXPECT_EQ(runtime_.get(holder.call<&Holder::add>(Counted(2)), kLong), 3);
  EXPECT_EQ(num_alive(), 1);
  holder = {};
  EXPECT_TRUE(all_gone());
}

TEST_F(Lifetime, KilledActorsLetGoOfTheArgumentsInTheirQueue) {
  auto holder = runtime_.actor<Holder>(Counted(1));
  for (int i = 0; i < 1000; ++i) holder.call<&Holder::add>(Counted(2));
  runtime_.kill(holder);
  EXPECT_TRUE(all_gone());
}

std::size_t resident_bytes() {
  std::ifstream statm("/proc/self/statm");
  std::size_t total = 0;
  std::size_t resident = 0;
  statm >> total >> resident;
  return resident * static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
}

std::size_t size_of(const std::vector<std::byte>& bytes) {
  return bytes.size();
}

// sanitizers make each loop slow, and the address sanitizer keeps what was freed for a while
#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
constexpr int kLoops = 100;
constexpr std::size_t kMoreMemory = 400'000'000;
#else
constexpr int kLoops = 2000;
constexpr std::size_t kMoreMemory = 30'000'000;
#endif

TEST_F(Lifetime, ALoopOfPutTaskAndGetNeedsNoMoreMemory) {
  constexpr std::size_t kSize = 10'000'000;
  constexpr int kWarmUp = 20;
  std::size_t at_start = 0;
  ObjectRef<std::vector<std::byte>> ref;
  for (int i = 0; i < kLoops; ++i) {
    ref = runtime_.put(std::vector<std::byte>(kSize));
    ASSERT_EQ(runtime_.get(runtime_.task(size_of, ref), kLong), kSize);
    if (i == kWarmUp) at_start = resident_bytes();
  }
  EXPECT_LT(resident_bytes(), at_start + kMoreMemory);
}

}  // namespace
}  // namespace knurl::runtime::test
