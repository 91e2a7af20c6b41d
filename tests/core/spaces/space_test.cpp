#include "knurl/core/spaces/space.h"

#include <cmath>

#include <gtest/gtest.h>

#include "knurl/core/base/error.h"
#include "knurl/core/spaces/layout.h"

namespace knurl {
namespace {

const float kInf = std::numeric_limits<float>::infinity();

std::vector<Space> all_kinds() {
  return {
      Discrete{.n = 4},
      Discrete{.n = 3, .start = -1},
      MultiDiscrete{.nvec = {2, 5, 3}},
      MultiDiscrete{.nvec = {2, 5}, .start = {10, -2}},
      MultiBinary{.shape = {2, 3}},
      Box{.shape = {3}, .low = {-1.0, 0.0, 5.0}, .high = {1.0, 2.0, 6.0}},
      Box{.shape = {2, 2}, .low = 0.0, .high = 255.0, .dtype = DType::uint8},
      Box{.shape = {2}, .low = -5.0, .high = 5.0, .dtype = DType::int32},
      Box{.shape = {2}},
      Box{.shape = {1}, .low = 0.0},
      Box{.shape = {1}, .high = 0.0},
      Tuple{{Discrete{.n = 2}, Box{.shape = {2}, .low = 0.0, .high = 1.0}}},
      Dict{
          {{"b", Box{.shape = {2}, .low = 0.0, .high = 1.0}},
           {"a", Discrete{.n = 3}},
           {"nested", Dict{{{"x", MultiBinary{.shape = {2}}}, {"t", Tuple{{Discrete{.n = 2}}}}}}}}},
  };
}

TEST(Space, SamplesAreContained) {
  Rng rng(1);
  for (const Space& space : all_kinds()) {
    const SpaceLayout layout(space);
    SpaceValue value(layout);
    for (int i = 0; i < 200; ++i) {
      sample(value.row(), rng);
      ASSERT_EQ(violation(std::as_const(value).row()), "") << space.text();
    }
  }
}

TEST(Space, FlatteningAndBackChangesNothing) {
  Rng rng(2);
  for (const Space& space : all_kinds()) {
    const SpaceLayout layout(space);
    SpaceValue value(layout);
    SpaceValue back(layout);
    std::vector<float> flat(static_cast<std::size_t>(flat_size(layout)));
    std::vector<float> again(flat.size());
    for (int i = 0; i < 20; ++i) {
      sample(value.row(), rng);
      flatten(std::as_const(value).row(), flat);
      unflatten(flat, back.row());
      flatten(std::as_const(back).row(), again);
      ASSERT_EQ(flat, again) << space.text();
      for (std::size_t k = 0; k < layout.leaves().size(); ++k) {
        ASSERT_EQ(
            0, std::memcmp(value.row().bytes(k), back.row().bytes(k), layout.leaves()[k].bytes()));
      }
    }
  }
}

TEST(Space, DictLeavesAreInOrderOfNamesHoweverWritten) {
  const Space one = Dict{{{"b", Box{.shape = {2}}}, {"a", Discrete{.n = 3}}}};
  const Space other = Dict{{{"a", Discrete{.n = 3}}, {"b", Box{.shape = {2}}}}};
  EXPECT_EQ(one, other);
  const SpaceLayout layout(one);
  ASSERT_EQ(layout.leaves().size(), 2U);
  EXPECT_EQ(layout.leaves()[0].path, "a");
  EXPECT_EQ(layout.leaves()[1].path, "b");

  SpaceValue value(layout);
  value.row().leaf<std::int64_t>("a")[0] = 2;
  value.row().leaf<float>("b")[0] = 0.5F;
  value.row().leaf<float>("b")[1] = 0.25F;
  std::vector<float> flat(static_cast<std::size_t>(flat_size(layout)));
  flatten(std::as_const(value).row(), flat);
  EXPECT_EQ(flat, (std::vector<float>{0, 0, 1, 0.5F, 0.25F}));
}

TEST(Space, LeavesKeepTheirTypes) {
  const SpaceLayout layout(Space(
      Dict{{{"camera", Box{.shape = {8, 8, 3}, .low = 0.0, .high = 255.0, .dtype = DType::uint8}},
            {"speed", Box{.shape = {1}}}}}));
  const auto columns = layout.columns("obs");
  EXPECT_EQ(columns[0], (ColumnSpec{"obs/camera", DType::uint8, {8, 8, 3}}));
  EXPECT_EQ(columns[1], (ColumnSpec{"obs/speed", DType::float32, {1}}));
}

TEST(Space, DiscreteValuesCountFromStart) {
  const SpaceLayout layout(Space(Discrete{.n = 3, .start = -1}));
  SpaceValue value(layout);
  value.row().set_index(0);
  EXPECT_EQ(value.row().as<std::int64_t>()[0], -1);
  EXPECT_TRUE(contains(std::as_const(value).row()));
  value.row().as<std::int64_t>()[0] = 2;
  EXPECT_EQ(violation(std::as_const(value).row()), "element 0: 2 is not in [-1, 1]");
}

TEST(Space, BoundsBelongToTheirElement) {
  const SpaceLayout layout(Space(Box{.shape = {2}, .low = {-2.0, 0.0}, .high = {0.0, 5.0}}));
  SpaceValue value(layout);
  value.row()[0] = -2.0F;
  value.row()[1] = 5.0F;
  EXPECT_TRUE(contains(std::as_const(value).row()));
  value.row()[0] = 0.5F;
  EXPECT_EQ(violation(std::as_const(value).row()), "element 0: 0.5 is not in [-2, 0]");
  value.row()[0] = std::nanf("");
  EXPECT_FALSE(contains(std::as_const(value).row()));
}

TEST(Space, ABoundThatFloatCannotHoldIsStillInside) {
  const SpaceLayout layout(Space(Box{.shape = {1}, .low = -0.1, .high = 0.1}));
  SpaceValue value(layout);
  value.row()[0] = 0.1F;
  EXPECT_TRUE(contains(std::as_const(value).row()));
}

TEST(Space, UnboundedBoxesContainInfinity) {
  const SpaceLayout layout(Space(Box{.shape = {1}}));
  SpaceValue value(layout);
  value.row()[0] = kInf;
  EXPECT_TRUE(contains(std::as_const(value).row()));
}

TEST(Space, SpacesWithoutValuesAreRefused) {
  EXPECT_THROW(Space(Discrete{.n = 0}), Error);
  EXPECT_THROW(Space(MultiDiscrete{.nvec = {2, 0}}), Error);
  EXPECT_THROW(Space(MultiDiscrete{.nvec = {2, 2}, .start = {1}}), Error);
  EXPECT_THROW(Space(Box{.shape = {2}, .low = 1.0, .high = 0.0}), Error);
  EXPECT_THROW(Space(Box{.shape = {2}, .low = {0.0, 0.0, 0.0}}), Error);
  EXPECT_THROW(Space(Box{.shape = {1}, .dtype = DType::uint8}), Error);
  EXPECT_THROW(Space(Tuple{}), Error);
  EXPECT_THROW(Space(Dict{{{"a", Discrete{}}, {"a", Discrete{}}}}), Error);
}

TEST(Space, TextNamesTheSpace) {
  EXPECT_EQ(Space(Discrete{.n = 3, .start = -1}).text(), "Discrete(3, start=-1)");
  EXPECT_EQ(Space(Box{.shape = {3}, .low = -1.0, .high = 1.0}).text(), "Box([3], -1, 1, float32)");
  EXPECT_EQ(Space(Tuple{{Discrete{.n = 2}, MultiBinary{.shape = {2}}}}).text(),
            "Tuple(Discrete(2), MultiBinary([2]))");
}

TEST(Space, BoundsAndSizesThatCannotBeAreRefused) {
  const auto refusal = [](auto space) -> std::string {
    try {
      (void)Space(space);
    } catch (const Error& error) {
      return error.what();
    }
    return "accepted";
  };
  EXPECT_EQ(refusal(Box{.shape = {2}, .low = 0.0, .high = 2.5, .dtype = DType::int64}),
            "Box of int64: element 0: bounds 0 and 2.5 are to be whole numbers");
  EXPECT_EQ(refusal(Box{.shape = {1}, .low = 0.0, .high = 300.0, .dtype = DType::uint8}),
            "Box of uint8: element 0: no such number can be 300");
  EXPECT_EQ(refusal(Box{.shape = {1}, .low = 0.0, .high = 1e39}),
            "Box of float32: element 0: no such number can be 1e+39");
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  EXPECT_EQ(refusal(Box{.shape = {1}, .low = kInfinity, .high = kInfinity}),
            "Box: element 0: low and high are both inf");
  constexpr std::int64_t kLargest = std::numeric_limits<std::int64_t>::max();
  EXPECT_EQ(refusal(Discrete{.n = 5, .start = kLargest - 2}),
            "Discrete: 5 values from 9223372036854775805 on go beyond 64 bits");
  EXPECT_EQ(refusal(Box{.shape = {1 << 30, 1 << 30, 1 << 30}}),
            "Box: shape [1073741824, 1073741824, 1073741824]: more than 1099511627776 elements");
}

TEST(Space, TheFlatSizeOfTheLargestSpacesDoesNotWrap) {
  constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();
  const Space space(Tuple{{Discrete{.n = kMost}, Discrete{.n = kMost}}});
  EXPECT_EQ(flat_size(SpaceLayout(space)), kMost);
}

TEST(Row, AWrongTypeIsRefusedByName) {
  const SpaceLayout layout(Space(Discrete{.n = 4}));
  SpaceValue value(layout);
  EXPECT_THROW(value.row()[0] = 1.0F, Error);
  EXPECT_THROW((void)value.row().leaf<float>("x"), Error);
}

}  // namespace
}  // namespace knurl
