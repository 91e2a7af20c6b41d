#pragma once

#include <fstream>
#include <limits>
#include <string>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "knurl/core/base/check.h"
#include "knurl/core/spaces/space.h"

/// What the reference implementation did: tests/golden/*.json.
namespace knurl::testing {

using nlohmann::json;

inline json golden(const std::string& file) {
  std::ifstream in(std::string(KNURL_GOLDEN_DIR) + "/" + file);
  check(in.good(), "there is a golden file " + file);
  return json::parse(in);
}

/// A golden number; infinities are text, which JSON lacks a number for.
inline double number(const json& value) {
  const double inf = std::numeric_limits<double>::infinity();
  if (value == "inf") return inf;
  return value == "-inf" ? -inf : value.get<double>();
}

inline void expect_space(const Space& actual, const json& expected) {
  if (const auto* discrete = actual.as<Discrete>()) {
    EXPECT_EQ(discrete->n, expected.at("n").get<std::int64_t>());
    EXPECT_EQ(discrete->start, expected.at("start").get<std::int64_t>());
    return;
  }
  const Box* box = actual.as<Box>();
  ASSERT_NE(box, nullptr);
  EXPECT_EQ(box->shape, expected.at("shape").get<Shape>());
  EXPECT_EQ(name_of(box->dtype), expected.at("dtype").get<std::string>());
  for (std::int64_t i = 0; i < num_elements(box->shape); ++i) {
    const auto at = static_cast<std::size_t>(i);
    // bounds as float32, which is what the reference keeps
    EXPECT_EQ(static_cast<float>(box->low.at(i)), static_cast<float>(number(expected["low"][at])));
    EXPECT_EQ(static_cast<float>(box->high.at(i)),
              static_cast<float>(number(expected["high"][at])));
  }
}

}  // namespace knurl::testing
