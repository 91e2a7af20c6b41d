#include <cstdlib>

#include <gtest/gtest.h>

#include "support.h"

namespace knurl::runtime::test {
namespace {

class Serialize : public testing::Test {
 protected:
  ScopedRuntime runtime_ = knurl::init({.num_cpus = 2, .serialize = true});
};

/// Knows how often it has been turned into bytes and back.
class Traveller {
 public:
  Traveller() = default;
  void save(ByteWriter& out) const { write(out, num_journeys_); }
  static Traveller load(ByteReader& in) {
    Traveller traveller;
    traveller.num_journeys_ = read<int>(in) + 1;
    return traveller;
  }
  [[nodiscard]] int num_journeys() const { return num_journeys_; }

 private:
  int num_journeys_ = 0;
};

Traveller pass(const Traveller& traveller) {
  return traveller;
}

TEST_F(Serialize, ArgumentsAndResultsTravelAsBytes) {
  auto there_and_back = runtime_.task(pass, Traveller());
  EXPECT_EQ(runtime_.get(there_and_back, kLong).num_journeys(), 2);
  // by ref only the ref travels
  EXPECT_EQ(runtime_.get(runtime_.task(pass, there_and_back), kLong).num_journeys(), 3);
}

struct Baggage {
  ObjectRef<std::string> note;
  std::vector<ActorHandle<Traveller>> travellers;
  std::optional<ObjectRef<int>> nothing;
};

std::string unpack(const Baggage& baggage) {
  auto runtime = current_runtime();
  const auto& note = runtime.get(baggage.note);
  const auto journeys = baggage.travellers.at(0).call<&Traveller::num_journeys>();
  return fmt::format("{} {}", note, runtime.get(journeys));
}

TEST_F(Serialize, RefsAndHandlesInsideArgumentsSurviveAloneInTheMessage) {
  auto unpacked = runtime_.task(unpack, Baggage{.note = runtime_.put(std::string("note")),
                                                .travellers = {runtime_.actor<Traveller>()},
                                                .nothing = ObjectRef<int>{}});
  EXPECT_EQ(runtime_.get(unpacked, kLong), "note 0");
}

class Stubborn {
 public:
  void save(ByteWriter& /*out*/) const { throw std::runtime_error("will not be saved"); }
  static Stubborn load(ByteReader& /*in*/) { throw std::runtime_error("will not be loaded"); }
};

class Unloadable {
 public:
  void save(ByteWriter& /*out*/) const {}
  static Unloadable load(ByteReader& in) { return read<int>(in), Unloadable(); }
};

TEST_F(Serialize, WhatCannotBeSavedThrowsAtTheCall) {
  EXPECT_THROW(runtime_.task([](const Stubborn&) {}, Stubborn()), std::runtime_error);
}

TEST_F(Serialize, WhatCannotBeLoadedFailsTheCall) {
  auto task = runtime_.task([](const Unloadable&) {}, Unloadable());
  EXPECT_THROW(runtime_.get(task, kLong), Error);
  auto result = runtime_.task([] { return Stubborn(); });
  EXPECT_THROW(runtime_.get(result, kLong), Error);
}

TEST(SerializeOutside, AnEnvironmentVariableAsksForBytesToo) {
  constexpr const char* kVariable = "KNURL_RUNTIME_SERIALIZE";
  const char* const before = std::getenv(kVariable);
  const std::string old = before != nullptr ? before : "";
  for (const auto& [value, num_journeys] : {std::pair{"1", 2}, std::pair{"0", 0}}) {
    setenv(kVariable, value, 1);
    auto runtime = knurl::init();
    EXPECT_EQ(runtime.get(runtime.task(pass, Traveller()), kLong).num_journeys(), num_journeys);
  }
  setenv(kVariable, old.c_str(), 1);
}

TEST(SerializeOutside, RefsOutsideOfARuntimeCannotTravel) {
  ObjectRef<int> ref;
  {
    auto runtime = knurl::init();
    ref = runtime.put(1);
  }
  ByteWriter out;
  EXPECT_THROW(ref.save(out), Error);
}

TEST(SerializeOutside, NumbersThatMeanNothingAreAnError) {
  auto runtime = knurl::init();
  ByteWriter out;
  write(out, std::uint64_t{12'345});
  ByteReader ref(out.bytes());
  EXPECT_THROW(read<ObjectRef<int>>(ref), Error);
  ByteReader handle(out.bytes());
  EXPECT_THROW(read<ActorHandle<Traveller>>(handle), Error);
}

}  // namespace
}  // namespace knurl::runtime::test
