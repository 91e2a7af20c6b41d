#include "knurl/core/base/reflect.h"

#include <map>
#include <optional>
#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace knurl {
namespace {

struct Inner {
  int a = 1;
  int b = 2;
};

struct Outer {
  int number = 0;
  Inner inner;
  std::string text;
  std::vector<Inner> list;
  std::optional<double> maybe;
  std::map<std::string, int> map;
};

struct Empty {};

TEST(Reflect, CountsMembersNotTheirMembers) {
  static_assert(member_count<Empty>() == 0);
  static_assert(member_count<Inner>() == 2);
  static_assert(member_count<Outer>() == 6);
}

TEST(Reflect, TiesMembersInOrder) {
  Outer outer;
  std::get<0>(tie_members(outer)) = 5;
  std::get<1>(tie_members(outer)).b = 6;
  EXPECT_EQ(outer.number, 5);
  EXPECT_EQ(outer.inner.b, 6);
}

}  // namespace
}  // namespace knurl
