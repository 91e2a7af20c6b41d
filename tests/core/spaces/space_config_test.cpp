#include "knurl/core/spaces/space_config.h"

#include <gtest/gtest.h>

#include "knurl/core/config/fields.h"
#include "knurl/core/config/yaml.h"

namespace knurl {
namespace {

struct Options {
  Space space = Discrete{.n = 2};
  static void fields(auto& self, auto&& field) { field("space", self.space, "a space"); }
};

Space space_of(const std::string& yaml) {
  Options options;
  read_fields(parse_yaml("space: " + yaml, "a.yaml"), schema_of<Options>(), &options, "env");
  return options.space;
}

std::string refusal(const std::string& yaml) {
  try {
    (void)space_of(yaml);
  } catch (const Error& error) {
    return fmt::format("{}: {}", name_of(error.kind()), error.what());
  }
  return "";
}

TEST(SpaceConfig, EachTypeIsReadAsGymnasiumWritesIt) {
  const double inf = std::numeric_limits<double>::infinity();
  EXPECT_EQ(space_of("{type: Discrete, n: 4}"), Space(Discrete{.n = 4}));
  EXPECT_EQ(space_of("{type: Discrete, n: 4, start: -1}"), Space(Discrete{.n = 4, .start = -1}));
  EXPECT_EQ(space_of("{type: MultiDiscrete, nvec: [2, 5], start: [0, 3]}"),
            Space(MultiDiscrete{.nvec = {2, 5}, .start = {0, 3}}));
  EXPECT_EQ(space_of("{type: MultiBinary, shape: [2, 3]}"), Space(MultiBinary{.shape = {2, 3}}));
  EXPECT_EQ(space_of("{type: Box, low: -1, high: 1, shape: [4, 2], dtype: float64}"),
            Space(Box{.shape = {4, 2}, .low = -1.0, .high = 1.0, .dtype = DType::float64}));
  EXPECT_EQ(space_of("{type: Box, low: 0, high: [1, 2]}"),
            Space(Box{.shape = {2}, .low = 0.0, .high = {1.0, 2.0}}));
  EXPECT_EQ(space_of("{type: Box, low: 0}"), Space(Box{.shape = {1}, .low = 0.0, .high = inf}));
  EXPECT_EQ(space_of("{type: Box, low: 0, high: 1, shape: []}"),
            Space(Box{.shape = {}, .low = 0.0, .high = 1.0}));
  EXPECT_EQ(space_of("{type: Tuple, spaces: [{type: Discrete, n: 2}, {type: Discrete, n: 3}]}"),
            Space(Tuple{{Discrete{.n = 2}, Discrete{.n = 3}}}));
  EXPECT_EQ(
      space_of("{type: Dict, spaces: {b: {type: Discrete, n: 2}, a: {type: Box, shape: [3]}}}"),
      Space(Dict{{{"b", Discrete{.n = 2}}, {"a", Box{.shape = {3}}}}}));
}

TEST(SpaceConfig, WhatIsWrittenReadsBackAsTheSame) {
  const std::vector<Space> all = {
      Discrete{.n = 3, .start = -1},
      MultiDiscrete{.nvec = {2, 5}, .start = {10, -2}},
      MultiBinary{.shape = {2, 3}},
      Box{.shape = {2}, .low = {-1.0, 0.1}, .high = 5.0},
      Box{.shape = {}, .low = 0.0},
      Box{.shape = {2, 2}, .low = 0.0, .high = 255.0, .dtype = DType::uint8},
      Tuple{{Discrete{.n = 2}, Dict{{{"x", MultiBinary{.shape = {2}}}}}}}};
  for (const Space& space : all) {
    Options options{.space = space};
    const ConfigValue written = schema_of<Options>().write(&options);
    Options back;
    read_fields(parse_yaml(to_yaml(written), "a.yaml"), schema_of<Options>(), &back, "env");
    EXPECT_EQ(back.space, space) << space.text();
  }
}

TEST(SpaceConfig, WhatCannotBeASpaceNamesItsPlaceAndRule) {
  EXPECT_EQ(refusal("4"),
            "config: a.yaml:1: env.space = 4: must be a space: a map with a type, as {type: "
            "Discrete, n: 2}");
  EXPECT_EQ(refusal("{type: Discret, n: 4}"),
            "config: a.yaml:1: env.space.type = Discret: must be Discrete, MultiDiscrete, "
            "MultiBinary, Box, Tuple or Dict; did you mean Discrete?");
  EXPECT_EQ(refusal("{type: Discrete}"),
            "config: a.yaml:1: env.space: Discrete: n = 0: must be at least 1");
  EXPECT_EQ(refusal("{type: Box, lo: 0}"),
            "config: a.yaml:1: env.space.lo: unknown option; did you mean low?");
  EXPECT_EQ(refusal("{type: Box, low: 2, high: 1}"),
            "config: a.yaml:1: env.space: Box: element 0: low 2 is not below high 1");
  EXPECT_EQ(refusal("{type: Tuple, spaces: [{type: Discrete, n: 0}]}"),
            "config: a.yaml:1: env.space.spaces[0]: Discrete: n = 0: must be at least 1");
  EXPECT_EQ(refusal("{type: Dict, spaces: {a: {type: Box, dtype: float}}}"),
            "config: a.yaml:1: env.space.spaces.a.dtype = float: must be bool or uint8 or int32 or "
            "int64 or float32 or float64; did you mean float32 or float64?");
}

}  // namespace
}  // namespace knurl
