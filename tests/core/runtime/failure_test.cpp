#include <future>

#include <gtest/gtest.h>

#include "support.h"

namespace knurl::runtime::test {
namespace {

Gate gate;
Gate started;
struct Odd {};

enum class How { not_at_all, standard, error, text, odd };

void throw_as(How how) {
  switch (how) {
    case How::not_at_all:
      return;
    case How::standard:
      throw std::runtime_error("no luck");
    case How::error:
      fail(ErrorKind::config, "training.gamma = 1.5: must be in [0, 1]");
    case How::text:
      throw "text";
    case How::odd:
      throw Odd();
  }
}

class Fragile {
 public:
  explicit Fragile(How how) { throw_as(how); }
  int add(int by) { return total_ += by; }
  void break_as(How how) {
    ++total_;
    throw_as(how);
  }
  void block() {
    started.open();
    gate.pass(stop_token());
  }

 private:
  int total_ = 0;
};

template <class T>
std::string text_at_get(const Runtime& runtime, const ObjectRef<T>& ref) {
  return text_thrown<Error>([&] { runtime.get(ref, kLong); });
}

TEST(Failures, AConstructorThatThrowsFailsTheFirstAndEveryLaterCall) {
  auto runtime = knurl::init();
  auto fragile = runtime.actor<Fragile>({.name = "glass", .max_restarts = 3}, How::standard);
  for (int i = 0; i < 3; ++i) {
    const auto call = fragile.call<&Fragile::add>(1);
    EXPECT_EQ(text_thrown<ActorDiedError>([&] { runtime.get(call, kLong); }),
              "actor glass: constructor: no luck");
  }
}

TEST(Failures, AConstructorMayThrowAnything) {
  auto runtime = knurl::init();
  const auto text_of = [&](How how) {
    auto fragile = runtime.actor<Fragile>(how);
    return text_at_get(runtime, fragile.call<&Fragile::add>(1));
  };
  EXPECT_EQ(text_of(How::text), "actor Fragile: constructor: text");
  EXPECT_NE(text_of(How::odd).find("Odd"), std::string::npos);
}

TEST(Failures, AnErrorOfAConstructorKeepsItsKind) {
  auto runtime = knurl::init();
  auto fragile = runtime.actor<Fragile>({.name = "glass"}, How::error);
  try {
    runtime.get(fragile.call<&Fragile::add>(1), kLong);
    FAIL();
  } catch (const ActorDiedError& error) {
    EXPECT_EQ(error.kind(), ErrorKind::config);
    EXPECT_STREQ(error.what(), "actor glass: training.gamma = 1.5: must be in [0, 1]");
  }
}

TEST(Failures, AFailedArgumentOfAConstructorFailsTheCalls) {
  auto runtime = knurl::init();
  auto how = runtime.task(TaskOptions{.name = "choose"}, []() -> How { throw "nothing fits"; });
  auto fragile = runtime.actor<Fragile>({.name = "glass"}, how);
  EXPECT_EQ(text_at_get(runtime, fragile.call<&Fragile::add>(1)),
            "actor glass: task choose: nothing fits");
}

TEST(Failures, AMethodThatThrowsHarmsNeitherTheActorNorItsOrder) {
  auto runtime = knurl::init();
  auto fragile = runtime.actor<Fragile>({.name = "glass"}, How::not_at_all);
  auto one = fragile.call<&Fragile::add>(1);
  auto standard = fragile.call<&Fragile::break_as>(How::standard);
  auto odd = fragile.call<&Fragile::break_as>(How::odd);
  auto error = fragile.call<&Fragile::break_as>(How::error);
  auto five = fragile.call<&Fragile::add>(1);
  EXPECT_EQ(runtime.get(five, kLong), 5);
  EXPECT_EQ(runtime.get(one), 1);
  EXPECT_EQ(text_at_get(runtime, standard), "actor glass: Fragile::break_as: no luck");
  EXPECT_NE(text_at_get(runtime, odd).find("Odd"), std::string::npos);
  EXPECT_EQ(text_at_get(runtime, error), "training.gamma = 1.5: must be in [0, 1]");
}

TEST(Failures, AFailedArgumentFailsTheCallOnly) {
  auto runtime = knurl::init();
  auto fragile = runtime.actor<Fragile>(How::not_at_all);
  auto bad = runtime.task(TaskOptions{.name = "bad"}, []() -> int { throw "bad luck"; });
  auto failed = fragile.call<&Fragile::add>(bad);
  auto fine = fragile.call<&Fragile::add>(2);
  EXPECT_EQ(text_at_get(runtime, failed), "task bad: bad luck");
  EXPECT_EQ(runtime.get(fine, kLong), 2);
}

class Killed : public testing::Test {
 protected:
  Killed() {
    gate.close();
    started.close();
  }
  ~Killed() override { gate.open(); }

  ScopedRuntime runtime_ = knurl::init();
  ActorHandle<Fragile> fragile_ = runtime_.actor<Fragile>({.name = "glass"}, How::not_at_all);
};

TEST_F(Killed, ActorsFailQueuedRunningAndLaterCallsAtOnce) {
  std::vector<ObjectRef<int>> calls;
  const auto running = fragile_.call<&Fragile::block>();
  for (int i = 0; i < 100; ++i) calls.push_back(fragile_.call<&Fragile::add>(1));
  EXPECT_TRUE(started.pass());
  runtime_.kill(fragile_);
  calls.push_back(fragile_.call<&Fragile::add>(1));
  for (const auto& call : calls) {
    EXPECT_EQ(text_thrown<ActorDiedError>([&] { runtime_.get(call, kLong); }),
              "actor glass was killed");
  }
  EXPECT_THROW(runtime_.get(running, kLong), ActorDiedError);
  EXPECT_EQ(runtime_.wait(calls, {.num_returns = 101, .timeout = 0s}).ready, calls);
  runtime_.kill(fragile_);  // again does nothing
}

TEST_F(Killed, ActorsWakeThoseWhoWaitForThem) {
  const auto running = fragile_.call<&Fragile::block>();
  auto waiter = std::async(std::launch::async, [&] {
    return text_thrown<ActorDiedError>([&] { runtime_.get(running, kLong); });
  });
  EXPECT_TRUE(started.pass());
  runtime_.kill(fragile_);
  EXPECT_EQ(waiter.get(), "actor glass was killed");
}

TEST_F(Killed, ActorsFailTheTasksThatDependOnThem) {
  const auto running = fragile_.call<&Fragile::block>();
  const auto late = fragile_.call<&Fragile::add>(1);
  const auto dependent = runtime_.task(add, late, 1);
  runtime_.kill(fragile_);
  EXPECT_THROW(runtime_.get(dependent, kLong), ActorDiedError);
}

TEST_F(Killed, ActorsFailTheirHeldCalls) {
  const auto argument = runtime_.task([] { return gate.pass(stop_token()) ? 1 : 2; });
  const auto held = fragile_.call<&Fragile::add>(argument);
  const auto behind = fragile_.call<&Fragile::add>(1);
  runtime_.kill(fragile_);
  EXPECT_THROW(runtime_.get(held, kLong), ActorDiedError);
  EXPECT_THROW(runtime_.get(behind, kLong), ActorDiedError);
}

TEST_F(Killed, ActorsThatHaveNotStartedNeverDo) {
  const auto argument =
      runtime_.task([] { return gate.pass(stop_token()) ? How::odd : How::text; });
  const auto unborn = runtime_.actor<Fragile>({.name = "unborn"}, argument);
  const auto call = unborn.call<&Fragile::add>(1);
  runtime_.kill(unborn);
  EXPECT_EQ(text_at_get(runtime_, call), "actor unborn was killed");
}

}  // namespace
}  // namespace knurl::runtime::test
