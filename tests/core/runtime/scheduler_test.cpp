#include "knurl/core/runtime/detail/scheduler.h"

#include <gtest/gtest.h>

namespace knurl::runtime::detail {
namespace {

class SchedulerTest : public testing::Test {
 protected:
  std::shared_ptr<Object> submit(Cpus cpus, int number) {
    auto subject = std::make_shared<Object>(Work{});
    scheduler_.submit({.cpus = cpus, .subject = subject, .start = [this, number] {
                         started_.push_back(number);
                       }});
    return subject;
  }

  Scheduler scheduler_{4};
  std::vector<int> started_;
};

TEST_F(SchedulerTest, StartsTheOldestThatFits) {
  submit(3, 0);
  submit(4, 1);
  submit(2, 2);
  submit(1, 3);
  submit(1, 4);
  EXPECT_EQ(started_, (std::vector{0, 3}));
  scheduler_.release(3);
  EXPECT_EQ(started_, (std::vector{0, 3, 2, 4}));
  scheduler_.release(1);
  scheduler_.release(1);
  EXPECT_EQ(started_, (std::vector{0, 3, 2, 4}));
  scheduler_.release(2);
  EXPECT_EQ(started_, (std::vector{0, 3, 2, 4, 1}));
}

TEST_F(SchedulerTest, WorkThatTakesNoCpusNeverWaits) {
  submit(4, 0);
  scheduler_.reacquire(1);
  submit(0, 1);
  submit(1, 2);
  EXPECT_EQ(started_, (std::vector{0, 1}));
}

TEST_F(SchedulerTest, SettledWorkIsNotStartedAndTakesNothing) {
  submit(4, 0);
  submit(4, 1)->fail({.text = "cancelled"});
  submit(4, 2);
  scheduler_.release(4);
  EXPECT_EQ(started_, (std::vector{0, 2}));
}

TEST_F(SchedulerTest, AStartThatThrowsFailsItsWorkAndFreesTheCpus) {
  static constexpr Operation heavy{"heavy", nullptr, nullptr, nullptr};
  auto subject = std::make_shared<Object>(Work{.operation = &heavy});
  scheduler_.submit({.cpus = 4, .subject = subject, .start = [] { throw "no thread"; }});
  ASSERT_NE(subject->failure(), nullptr);
  EXPECT_EQ(subject->failure()->text, "heavy: no thread");
  submit(4, 0);
  EXPECT_EQ(started_, (std::vector{0}));
}

TEST_F(SchedulerTest, ClosedReturnsWhatWaitsAndTakesNoMore) {
  submit(4, 0);
  const auto waiting = submit(1, 1);
  EXPECT_EQ(scheduler_.close(), (std::vector{waiting}));
  EXPECT_FALSE(scheduler_.submit({.cpus = 0, .subject = waiting, .start = [] {}}));
  scheduler_.release(4);
  EXPECT_EQ(started_, (std::vector{0}));
}

TEST(Cpus, AreCountedInTenThousandths) {
  EXPECT_EQ(cpus_of(0.1, "test") * 10, cpus_of(1.0, "test"));
  EXPECT_THROW(cpus_of(-0.1, "test"), Error);
  EXPECT_THROW(cpus_of(std::numeric_limits<double>::quiet_NaN(), "test"), Error);
  EXPECT_THROW(cpus_of(std::numeric_limits<double>::infinity(), "test"), Error);
}

}  // namespace
}  // namespace knurl::runtime::detail
