#pragma once

#include <cstdint>
#include <initializer_list>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "knurl/core/data/dtype.h"
#include "knurl/core/data/record_batch.h"

namespace knurl {

class Space;

/// The whole numbers start, start + 1, …, start + n - 1.
struct Discrete {
  std::int64_t n = 1;
  std::int64_t start = 0;

  bool operator==(const Discrete&) const = default;
};

/// A vector of whole numbers: element i is start[i] … start[i] + nvec[i] - 1.
struct MultiDiscrete {
  std::vector<std::int64_t> nvec = {};
  std::vector<std::int64_t> start = {};  ///< empty: zeros

  bool operator==(const MultiDiscrete&) const = default;
};

/// An array of zeros and ones.
struct MultiBinary {
  Shape shape = {};

  bool operator==(const MultiBinary&) const = default;
};

/// One bound for every element of a Box, or one for each in row-major order.
class Bounds {
 public:
  Bounds(double all) : values_{all} {}  // NOLINT(*-explicit-*): reads as a number
  Bounds(std::vector<double> each) : values_(std::move(each)) {}  // NOLINT(*-explicit-*)
  Bounds(std::initializer_list<double> each) : values_(each) {}

  [[nodiscard]] double at(std::int64_t index) const {
    return values_.size() == 1 ? values_[0] : values_[static_cast<std::size_t>(index)];
  }
  [[nodiscard]] bool one_for_all() const { return values_.size() == 1; }
  [[nodiscard]] const std::vector<double>& values() const { return values_; }

  bool operator==(const Bounds&) const = default;

 private:
  std::vector<double> values_;
};

/// An array of numbers, each between its bounds (both included).
struct Box {
  Shape shape = {};
  Bounds low = -std::numeric_limits<double>::infinity();
  Bounds high = std::numeric_limits<double>::infinity();
  DType dtype = DType::float32;

  bool operator==(const Box&) const = default;
};

/// A fixed row of spaces. Its leaves are named "0", "1", …
struct Tuple {
  std::vector<Space> spaces = {};

  bool operator==(const Tuple&) const = default;
};

/// Named spaces. Always in alphabetical order of the names, however it is written.
struct Dict {
  std::vector<std::pair<std::string, Space>> spaces = {};

  bool operator==(const Dict&) const = default;
};

/// The set of values that observations or actions can take.
class Space {
 public:
  using Kind = std::variant<Discrete, MultiDiscrete, MultiBinary, Box, Tuple, Dict>;

  Space() : Space(Discrete{}) {}
  /// Throws Error(env) for a space without values: n < 1, bounds that do not match the shape or
  /// leave no room, a name twice.
  template <class K>
  requires std::constructible_from<Kind, K> Space(K kind)
      : Space(Kind(std::move(kind))) {}  // NOLINT(*-explicit-*): a kind is a space
  Space(Kind kind);                      // NOLINT(*-explicit-*)

  [[nodiscard]] const Kind& kind() const { return kind_; }
  /// The space as one of its kinds, or null.
  template <class K>
  [[nodiscard]] const K* as() const {
    return std::get_if<K>(&kind_);
  }

  /// "Discrete(4)", "Box([3], -1, 1, float32)", "Dict(camera: Box(…), speed: …)".
  [[nodiscard]] std::string text() const;

  bool operator==(const Space&) const = default;

 private:
  Kind kind_;
};

}  // namespace knurl
