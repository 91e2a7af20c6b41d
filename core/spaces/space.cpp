#include "knurl/core/spaces/space.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include <fmt/ranges.h>

#include "knurl/core/base/error.h"

namespace knurl {
namespace {

template <class... F>
struct Overloaded : F... {
  using F::operator()...;
};

std::string bounds_text(const Bounds& bounds) {
  if (bounds.one_for_all()) return fmt::format("{}", bounds.at(0));
  return fmt::format("[{}]", fmt::join(bounds.values(), ", "));
}

/// start + n - 1 is a number, too.
void validate_start(std::int64_t start, std::int64_t n, std::string_view kind) {
  std::int64_t end = 0;
  if (!__builtin_add_overflow(start, n - 1, &end)) return;
  fail(ErrorKind::env, "{}: {} values from {} on go beyond 64 bits", kind, n, start);
}

void validate(Discrete& space) {
  if (space.n < 1) fail(ErrorKind::env, "Discrete: n = {}: must be at least 1", space.n);
  validate_start(space.start, space.n, "Discrete");
}

void validate(MultiDiscrete& space) {
  if (space.nvec.empty()) fail(ErrorKind::env, "MultiDiscrete: nvec is empty");
  for (const std::int64_t n : space.nvec) {
    if (n < 1) fail(ErrorKind::env, "MultiDiscrete: nvec has {}: must be at least 1", n);
  }
  if (space.start.empty()) space.start.resize(space.nvec.size(), 0);
  if (space.start.size() != space.nvec.size()) {
    fail(ErrorKind::env, "MultiDiscrete: {} starts for {} elements", space.start.size(),
         space.nvec.size());
  }
  for (std::size_t i = 0; i < space.nvec.size(); ++i) {
    validate_start(space.start[i], space.nvec[i], "MultiDiscrete");
  }
}

void validate_shape(const Shape& shape, std::string_view kind) {
  constexpr std::int64_t kMostElements = std::int64_t{1} << 40;
  std::int64_t elements = 1;
  for (const std::int64_t size : shape) {
    if (size < 1) {
      fail(ErrorKind::env, "{}: shape {}: sizes are at least 1", kind, text_of(shape));
    }
    if (size > kMostElements / elements) {
      fail(ErrorKind::env, "{}: shape {}: more than {} elements", kind, text_of(shape),
           kMostElements);
    }
    elements *= size;
  }
}

void validate(MultiBinary& space) {
  validate_shape(space.shape, "MultiBinary");
}

/// A number can be held by a type.
bool fits(double number, DType dtype) {
  return visit(dtype, [&]<class T>(T*) {
    return number >= static_cast<double>(std::numeric_limits<T>::lowest()) &&
           number <= static_cast<double>(std::numeric_limits<T>::max());
  });
}

void validate(Box& space) {
  validate_shape(space.shape, "Box");
  const std::int64_t size = num_elements(space.shape);
  for (const Bounds* bounds : {&space.low, &space.high}) {
    const auto given = static_cast<std::int64_t>(bounds->values().size());
    if (!bounds->one_for_all() && given != size) {
      fail(ErrorKind::env, "Box: {} bounds for {} elements", given, size);
    }
  }
  const bool whole = space.dtype != DType::float32 && space.dtype != DType::float64;
  for (std::int64_t i = 0; i < size; ++i) {
    const double low = space.low.at(i);
    const double high = space.high.at(i);
    if (!(low <= high)) {
      fail(ErrorKind::env, "Box: element {}: low {} is not below high {}", i, low, high);
    }
    if (low == high && std::isinf(low)) {
      fail(ErrorKind::env, "Box: element {}: low and high are both {}", i, low);
    }
    for (const double bound : {low, high}) {
      if (std::isinf(bound) || fits(bound, space.dtype)) continue;
      fail(ErrorKind::env, "Box of {}: element {}: no such number can be {}", name_of(space.dtype),
           i, bound);
    }
    if (whole && (!std::isfinite(low) || !std::isfinite(high))) {
      fail(ErrorKind::env, "Box of {}: element {} needs finite bounds", name_of(space.dtype), i);
    }
    if (whole && (low != std::floor(low) || high != std::floor(high))) {
      fail(ErrorKind::env, "Box of {}: element {}: bounds {} and {} are to be whole numbers",
           name_of(space.dtype), i, low, high);
    }
    if (space.low.one_for_all() && space.high.one_for_all()) break;
  }
}

void validate(Tuple& space) {
  if (space.spaces.empty()) fail(ErrorKind::env, "Tuple: has no spaces");
}

void validate(Dict& space) {
  if (space.spaces.empty()) fail(ErrorKind::env, "Dict: has no spaces");
  std::ranges::sort(space.spaces, {}, [](const auto& entry) { return entry.first; });
  for (std::size_t i = 0; i < space.spaces.size(); ++i) {
    const std::string& name = space.spaces[i].first;
    if (name.empty() || name.find('/') != std::string::npos) {
      fail(ErrorKind::env, "Dict: \"{}\": a name is not empty and has no slash", name);
    }
    if (i > 0 && name == space.spaces[i - 1].first) {
      fail(ErrorKind::env, "Dict: the name {} stands twice", name);
    }
  }
}

}  // namespace

Space::Space(Kind kind) : kind_(std::move(kind)) {
  std::visit([](auto& space) { validate(space); }, kind_);
}

std::string Space::text() const {
  return std::visit(
      Overloaded{[](const Discrete& space) {
                   return space.start == 0
                              ? fmt::format("Discrete({})", space.n)
                              : fmt::format("Discrete({}, start={})", space.n, space.start);
                 },
                 [](const MultiDiscrete& space) {
                   return fmt::format("MultiDiscrete([{}])", fmt::join(space.nvec, ", "));
                 },
                 [](const MultiBinary& space) {
                   return fmt::format("MultiBinary({})", text_of(space.shape));
                 },
                 [](const Box& space) {
                   return fmt::format("Box({}, {}, {}, {})", text_of(space.shape),
                                      bounds_text(space.low), bounds_text(space.high),
                                      name_of(space.dtype));
                 },
                 [](const Tuple& space) {
                   std::vector<std::string> parts;
                   for (const Space& part : space.spaces) parts.push_back(part.text());
                   return fmt::format("Tuple({})", fmt::join(parts, ", "));
                 },
                 [](const Dict& space) {
                   std::vector<std::string> parts;
                   for (const auto& [name, part] : space.spaces) {
                     parts.push_back(fmt::format("{}: {}", name, part.text()));
                   }
                   return fmt::format("Dict({})", fmt::join(parts, ", "));
                 }},
      kind_);
}

}  // namespace knurl
