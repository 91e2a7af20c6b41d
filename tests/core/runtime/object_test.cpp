#include <memory>

#include <gtest/gtest.h>

#include "support.h"

namespace knurl::runtime::test {
namespace {

TEST(Objects, AGetByRefIsTheStoredValueItself) {
  auto runtime = knurl::init();
  auto ref = runtime.put(std::vector<int>{1, 2, 3});
  const auto copy = ref;
  const std::vector<int>& value = runtime.get(ref);
  EXPECT_EQ(value, (std::vector{1, 2, 3}));
  EXPECT_EQ(&runtime.get(copy), &value);
  ref = {};
  EXPECT_EQ(value.size(), 3U);  // the copy still holds it
}

TEST(Objects, TheLastRefMovesTheValueOutAndOthersCopyIt) {
  auto runtime = knurl::init();
  auto ref = runtime.put(Counted(7));
  auto other = ref;
  Counted::num_copies = 0;
  EXPECT_EQ(runtime.get(std::move(other)).number(), 7);
  EXPECT_EQ(Counted::num_copies, 1);
  EXPECT_EQ(runtime.get(std::move(ref)).number(), 7);
  EXPECT_EQ(Counted::num_copies, 1);
}

Counted make_counted(int number) {
  return Counted(number);
}

TEST(Objects, ResultsAreMovedOutOfTheStore) {
  auto runtime = knurl::init();
  std::vector<ObjectRef<Counted>> refs;
  for (int i = 0; i < 10; ++i) refs.push_back(runtime.task(make_counted, i));
  Counted::num_copies = 0;
  const auto values = runtime.get(std::move(refs), kLong);
  EXPECT_EQ(values[9].number(), 9);
  EXPECT_EQ(Counted::num_copies, 0);
}

class MoveOnly {
 public:
  explicit MoveOnly(int number) : number_(std::make_unique<int>(number)) {}
  [[nodiscard]] int number() const { return *number_; }
  void save(ByteWriter& out) const { write(out, *number_); }
  static MoveOnly load(ByteReader& in) { return MoveOnly(read<int>(in)); }

 private:
  std::unique_ptr<int> number_;
};

MoveOnly next(MoveOnly previous) {
  return MoveOnly(previous.number() + 1);
}

TEST(Objects, ValuesThatCannotBeCopiedTravelToo) {
  auto runtime = knurl::init();
  auto ref = runtime.task(next, MoveOnly(1));
  auto after = runtime.task(next, ref);
  EXPECT_EQ(runtime.get(ref, kLong).number(), 2);
  EXPECT_EQ(runtime.get(std::move(after), kLong).number(), 3);
}

struct Shipment {
  std::string name;
  std::vector<ObjectRef<int>> parts;
};

int total_of(const Shipment& shipment) {
  int total = 0;
  for (const int part : current_runtime().get(shipment.parts)) total += part;
  return total;
}

Shipment ship(int num) {
  Shipment shipment{.name = "numbers", .parts = {}};
  for (int i = 1; i <= num; ++i) shipment.parts.push_back(current_runtime().put(i));
  return shipment;
}

TEST(Objects, RefsInsideValuesKeepTheirObjects) {
  auto runtime = knurl::init();
  auto shipment = runtime.task(ship, 4);  // puts objects whose only refs are in its result
  EXPECT_EQ(runtime.get(runtime.task(total_of, shipment), kLong), 10);
  EXPECT_EQ(runtime.get(runtime.task(total_of, runtime.get(shipment)), kLong), 10);
}

TEST(Objects, EmptyRefsAreRefused) {
  auto runtime = knurl::init();
  const ObjectRef<int> empty;
  EXPECT_FALSE(empty);
  EXPECT_THROW(runtime.get(empty), Error);
  EXPECT_THROW(runtime.wait(std::vector{empty}), Error);
  EXPECT_THROW(runtime.cancel(empty), Error);
  EXPECT_THROW(runtime.task(add, empty, 1), Error);
}

TEST(Objects, RefsAreEqualWhenTheyReferToTheSameObject) {
  auto runtime = knurl::init();
  const auto one = runtime.put(1);
  const auto same = one;
  EXPECT_EQ(one, same);
  EXPECT_NE(one, runtime.put(1));
}

TEST(Objects, GetFromManyRefsKeepsTheirOrder) {
  auto runtime = knurl::init();
  std::vector<ObjectRef<int>> refs;
  for (int i = 0; i < 100; ++i) refs.push_back(runtime.task(add, i, i));
  const auto sums = runtime.get(refs, kLong);
  for (int i = 0; i < 100; ++i) EXPECT_EQ(sums[static_cast<std::size_t>(i)], 2 * i);
  EXPECT_TRUE(runtime.get(std::vector<ObjectRef<int>>{}).empty());
}

}  // namespace
}  // namespace knurl::runtime::test
