#include "knurl/core/config/fields.h"

#include <gtest/gtest.h>

#include "knurl/core/config/yaml.h"

namespace knurl {
namespace {

enum class Color { red, green };
constexpr auto names(Color) {
  return std::array{std::pair{Color::red, "red"}, std::pair{Color::green, "green"}};
}

struct Inner {
  Opt<std::vector<int>> sizes = Default{std::vector{256, 256}};
  Opt<bool> shared = Default{false};

  static void fields(auto& self, auto&& field) {
    field("sizes", self.sizes, "units of each layer", at_least(1));
    field("shared", self.shared, "share the layers");
  }
};

struct Options {
  Opt<double> lr = Default{5e-5};
  Opt<int> num_workers = Default{2};
  Opt<std::optional<double>> clip = Default{std::nullopt};
  Opt<std::string> name = Default{"x"};
  Opt<Color> color = Default{Color::red};
  Opt<std::vector<std::array<double, 2>>> schedule = {};
  Opt<ConfigValue> env_config = Default{ConfigValue::empty_map()};
  Inner inner = {};
  int plain = 5;

  static void fields(auto& self, auto&& field) {
    field("lr", self.lr, "step size", above(0));
    field("num_workers", self.num_workers, "how many", Range{0, 100}, Aliases{{"workers"}});
    field("clip", self.clip, "clip here", above(0));
    field("name", self.name, "a name");
    field("color", self.color, "a colour");
    field("schedule", self.schedule, "pairs of step and value");
    field("env_config", self.env_config, "for the env");
    field("inner", self.inner, "layers");
    field("plain", self.plain, "a plain member", Range{1, 9});
  }
};

Options read(const std::string& yaml) {
  Options options;
  read_fields(parse_yaml(yaml, "a.yaml"), schema_of<Options>(), &options, "config");
  return options;
}

std::string refusal(const std::string& yaml) {
  try {
    read(yaml);
  } catch (const Error& error) {
    return error.what();
  }
  return "accepted";
}

TEST(Fields, EachMemberIsAField) {
  static_assert(member_count<Options>() == 9);
  EXPECT_EQ(schema_of<Options>().fields().size(), member_count<Options>());
  EXPECT_EQ(schema_of<Inner>().fields().size(), member_count<Inner>());
}

TEST(Fields, FilesSetWhatTheyNameAndNothingElse) {
  const Options options = read(
      "{lr: 1e-3, workers: 4, clip: 0.5, color: green, schedule: [[0, 1.0], [10000, 0.05]],"
      " env_config: {size: 7}, inner: {sizes: [64]}, plain: 3}");
  EXPECT_EQ(options.lr, 1e-3);
  EXPECT_TRUE(options.lr.given());
  EXPECT_EQ(options.num_workers, 4);
  EXPECT_EQ(options.clip.value(), 0.5);
  EXPECT_EQ(options.color, Color::green);
  EXPECT_EQ(options.schedule->at(1).at(1), 0.05);
  EXPECT_EQ(options.env_config->find("size")->as_int(), 7);
  EXPECT_EQ(*options.inner.sizes, std::vector{64});
  EXPECT_FALSE(options.inner.shared.given());
  EXPECT_FALSE(options.name.given());
  EXPECT_EQ(options.plain, 3);
}

TEST(Fields, NullIsAValueOfOptionalFieldsOnly) {
  EXPECT_EQ(read("{clip: null}").clip.value(), std::nullopt);
  EXPECT_TRUE(read("{clip: null}").clip.given());
  EXPECT_EQ(refusal("{lr: null}"), "a.yaml:1: config.lr = null: must be a number above 0");
}

TEST(Fields, RefusalsNamePlacePathValueAndRule) {
  EXPECT_EQ(refusal("\nlr: -1"), "a.yaml:2: config.lr = -1: must be above 0");
  EXPECT_EQ(refusal("lr: fast"), "a.yaml:1: config.lr = fast: must be a number above 0");
  EXPECT_EQ(refusal("lr: '0.001'"), "a.yaml:1: config.lr = \"0.001\": must be a number above 0");
  EXPECT_EQ(refusal("lr: .nan"), "a.yaml:1: config.lr = nan: must be above 0");
  EXPECT_EQ(refusal("num_workers: 1.5"),
            "a.yaml:1: config.num_workers = 1.5: must be a whole number in [0, 100]");
  EXPECT_EQ(refusal("num_workers: 5000000000"),
            "a.yaml:1: config.num_workers = 5000000000: must be a whole number in [0, 100]");
  EXPECT_EQ(refusal("inner: {sizes: [64, 0]}"),
            "a.yaml:1: config.inner.sizes[1] = 0: must be at least 1");
  EXPECT_EQ(refusal("inner: 3"), "a.yaml:1: config.inner = 3: must be a map of options");
  EXPECT_EQ(refusal("color: gren"),
            "a.yaml:1: config.color = gren: must be red or green; did you mean green?");
  EXPECT_EQ(refusal("schedule: [[0, 1, 2]]"),
            "a.yaml:1: config.schedule[0] = a list of 3: must be a list of exactly 2");
  EXPECT_EQ(refusal("schedule: 1"),
            "a.yaml:1: config.schedule = 1: must be a list of lists of numbers");
}

TEST(Fields, UnknownKeysNameTheNearestKnown) {
  EXPECT_EQ(refusal("a: 1"), "a.yaml:1: config.a: unknown option");
  EXPECT_EQ(refusal("num_worker: 1"),
            "a.yaml:1: config.num_worker: unknown option; did you mean num_workers?");
  EXPECT_EQ(refusal("LR: 1"), "a.yaml:1: config.LR: unknown option; did you mean lr?");
  EXPECT_EQ(refusal("sizes: [1]"),
            "a.yaml:1: config.sizes: unknown option; did you mean inner.sizes?");
  EXPECT_EQ(refusal("inner: {size: [1]}"),
            "a.yaml:1: config.inner.size: unknown option; did you mean sizes?");
}

TEST(Fields, TwoNamesOfOneOptionInOneMapAreRefused) {
  EXPECT_EQ(refusal("num_workers: 1\nworkers: 2\n"),
            "a.yaml:2: config.workers: the same option as num_workers on line 1; give one of them");
}

TEST(Fields, MergingTakesGivenValuesOnly) {
  Options options{.lr = 1e-2};
  schema_of<Inner>().merge(&options.inner, [] {
    static Inner given{.shared = true};
    return &given;
  }());
  const Inner later{.sizes = {32}};
  schema_of<Inner>().merge(&options.inner, &later);
  EXPECT_EQ(*options.inner.sizes, std::vector{32});
  EXPECT_TRUE(options.inner.shared);
}

TEST(Fields, InfinityIsNoNumberUnlessTheRangeHasIt) {
  EXPECT_TRUE(above_or_infinite(0).holds(std::numeric_limits<double>::infinity()));
  EXPECT_FALSE(above_or_infinite(0).holds(0.0));
  EXPECT_EQ(above(0).text(), "above 0");
  for (const Range range : {above(0), at_least(0)}) {
    EXPECT_TRUE(range.holds(std::numeric_limits<double>::max()));
    EXPECT_FALSE(range.holds(std::numeric_limits<double>::infinity()));
    EXPECT_EQ(range.rule_against(std::numeric_limits<double>::infinity()), "finite");
  }
  EXPECT_EQ(at_least(0).rule_against(-std::numeric_limits<double>::infinity()), "at least 0");
  EXPECT_EQ(at_least(0).rule_against(std::numeric_limits<double>::quiet_NaN()), "at least 0");
  EXPECT_EQ(Range{}.rule_against(std::numeric_limits<double>::quiet_NaN()), "a number");
}

TEST(Fields, CheckFindsWhatCodeSetOutOfRange) {
  Options options{.lr = -1.0};
  EXPECT_THROW(schema_of<Options>().check(&options, "training"), Error);
  options = Options{.lr = 1e-3};
  EXPECT_NO_THROW(schema_of<Options>().check(&options, "training"));
  options.inner.sizes = std::vector{0};
  EXPECT_THROW(schema_of<Options>().check(&options, "training"), Error);
}

TEST(Fields, WrittenOptionsReadBackTheSame) {
  const Options options = read("{lr: 1e-3, clip: null, inner: {sizes: [64]}, color: green}");
  const ConfigValue written = schema_of<Options>().write(&options);
  Options back;
  read_fields(written, schema_of<Options>(), &back, "");
  EXPECT_EQ(schema_of<Options>().write(&back), written);
  EXPECT_EQ(back.lr, 1e-3);
}

TEST(NearestNames, RanksByEdits) {
  const std::vector<std::string> known{"gamma", "lambda", "lr", "grad_clip", "num_env_runners"};
  EXPECT_EQ(nearest_names("gama", known), std::vector<std::string>{"gamma"});
  EXPECT_EQ(nearest_names("learing_rate", known), std::vector<std::string>{});
  EXPECT_EQ(nearest_names("num-env-runner", known), std::vector<std::string>{"num_env_runners"});
}

}  // namespace
}  // namespace knurl
