#include "knurl/core/config/yaml.h"

#include <clocale>
#include <filesystem>
#include <fstream>

#include <gtest/gtest.h>

#include "knurl/core/base/error.h"

namespace knurl {
namespace {

std::string refusal(const std::string& text) {
  try {
    parse_yaml(text, "a.yaml");
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::config);
    return error.what();
  }
  return "accepted";
}

TEST(Yaml, ValuesRememberTheirLine) {
  const ConfigValue root = parse_yaml("a: 1\nb:\n  c: [x, 2.5]\n", "a.yaml");
  EXPECT_EQ(root.find("a")->place().text(), "a.yaml:1");
  EXPECT_EQ(root.find("b")->find("c")->place().text(), "a.yaml:3");
  EXPECT_EQ(root.find("b")->find("c")->list()->at(1).as_double(), 2.5);
}

TEST(Yaml, ScalarsKeepTheirTextUntilSomebodyAsks) {
  const ConfigValue root =
      parse_yaml("{a: 1e-4, b: '1', c: yes, d: ~, e: 1e5, f: .inf, g: 1.5, h: 0x10}", "a.yaml");
  EXPECT_EQ(root.find("a")->as_double(), 1e-4);
  EXPECT_EQ(root.find("b")->as_int(), std::nullopt);  // quoted: text
  EXPECT_EQ(root.find("c")->as_bool(), true);
  EXPECT_TRUE(root.find("d")->is_null());
  EXPECT_EQ(root.find("e")->as_int(), 100'000);
  EXPECT_GT(root.find("f")->as_double().value(), 1e300);
  EXPECT_EQ(root.find("g")->as_int(), std::nullopt);
  EXPECT_EQ(root.find("h")->as_int(), std::nullopt);
}

TEST(Yaml, JsonIsYaml) {
  const ConfigValue root = parse_yaml(R"({"timesteps_total": 10000, "name": "x"})", "--stop");
  EXPECT_EQ(root.find("timesteps_total")->as_int(), 10'000);
  EXPECT_EQ(root.find("name")->scalar()->text, "x");
}

TEST(Yaml, AnchorsAndMergesAreResolved) {
  const ConfigValue root =
      parse_yaml("base: &b {lr: 1, gamma: 2}\nrun:\n  <<: *b\n  lr: 3\ncopy: *b\n", "a.yaml");
  EXPECT_EQ(root.find("run")->find("lr")->as_int(), 3);
  EXPECT_EQ(root.find("run")->find("gamma")->as_int(), 2);
  EXPECT_EQ(root.find("copy")->find("lr")->as_int(), 1);
}

TEST(Yaml, WhatIsNoDocumentIsRefusedWithItsLine) {
  EXPECT_EQ(refusal(""), "a.yaml: is empty");
  EXPECT_EQ(refusal(std::string("a\0b", 3)), "a.yaml: not a text file");
  EXPECT_EQ(refusal("a: 1\nb: 2\na: 3\n"), "a.yaml:3: a: the key stands twice in the same map");
  EXPECT_EQ(refusal("a: 1\n---\nb: 2\n"), "a.yaml: holds more than one document");
  EXPECT_NE(refusal("a: [1, 2\n").find("a.yaml:2: not YAML"), std::string::npos);
  EXPECT_EQ(refusal("a: &x [*x]\n"), "a.yaml:1: an alias stands inside the value it names");
  EXPECT_NE(refusal("? [1, 2]\n: 3\n").find("a key must be a plain name"), std::string::npos);
}

TEST(Yaml, DepthAndSizeHaveLimits) {
  EXPECT_NE(refusal(std::string(200'000, '[')).find("a.yaml:1:"), std::string::npos);
  EXPECT_EQ(refusal(std::string(100, '[') + std::string(100, ']')),
            "a.yaml:1: nests deeper than 64 levels");
  std::string laughs = "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n";
  for (int i = 1; i < 9; ++i) {
    laughs += fmt::format("a{0}: &a{0} [*a{1}, *a{1}, *a{1}, *a{1}, *a{1}, *a{1}, *a{1}, *a{1}]\n",
                          i, i - 1);
  }
  EXPECT_NE(refusal(laughs).find("more than 200000 values"), std::string::npos);
}

TEST(Yaml, FilesThatCannotBeConfigsAreRefused) {
  const auto dir = std::filesystem::temp_directory_path();
  EXPECT_THROW(read_yaml_file(dir), Error);
  EXPECT_THROW(read_yaml_file(dir / "no such file.yaml"), Error);
}

TEST(Yaml, WhatIsWrittenReadsBackTheSame) {
  const std::string text = R"(
name: "12"
list: [1, 2, [3, "4"]]
maps:
  - {a: 1, b: {c: null}}
  - [x]
odd: "line\nbreak: 'quoted' #"
empty: {}
nothing: []
lr: 0.00005
inf: .inf
"yes": "no"
)";
  const ConfigValue value = parse_yaml(text, "a.yaml");
  EXPECT_EQ(parse_yaml(to_yaml(value), "b.yaml"), value) << to_yaml(value);
}

TEST(Yaml, JsonOutputKeepsTypes) {
  const ConfigValue value = parse_yaml("{a: 1, b: 0.5, c: true, d: ~, e: [x, '1'], f: .inf}", "a");
  EXPECT_EQ(to_json(value), R"({"a":1,"b":0.5,"c":true,"d":null,"e":["x","1"],"f":".inf"})");
}

TEST(Yaml, ALocaleWithDecimalCommasChangesNothing) {
  struct Comma : std::numpunct<char> {
    char do_decimal_point() const override { return ','; }
    char do_thousands_sep() const override { return '.'; }
    std::string do_grouping() const override { return "\3"; }
  };
  const std::locale before = std::locale::global(std::locale(std::locale(), new Comma));
  const ConfigValue root = parse_yaml("{lr: 0.5, steps: 10000}", "a.yaml");
  EXPECT_EQ(root.find("lr")->as_double(), 0.5);
  EXPECT_EQ(to_yaml(ConfigValue::of(10000)), "10000\n");
  EXPECT_EQ(to_yaml(ConfigValue::of(0.25)), "0.25\n");
  EXPECT_EQ(to_json(root), R"({"lr":0.5,"steps":10000})");
  std::locale::global(before);
}

TEST(ConfigValue, PathsMakeMapsOnTheWay) {
  ConfigValue root;
  set_path(root, "model.fcnet_hiddens", parse_yaml("[64, 64]", "--set"));
  set_path(root, "model.vf_share_layers", ConfigValue::of(true));
  EXPECT_EQ(to_json(root), R"({"model":{"fcnet_hiddens":[64,64],"vf_share_layers":true}})");
  EXPECT_THROW(set_path(root, "model.fcnet_hiddens.0", ConfigValue::of(1)), Error);
  EXPECT_THROW(set_path(root, "model..x", ConfigValue::of(1)), Error);
}

}  // namespace
}  // namespace knurl
