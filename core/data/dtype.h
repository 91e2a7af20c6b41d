#pragma once

#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>

#include "knurl/core/base/enum_names.h"

namespace knurl {

/// Element types of columns. `boolean` is one byte, 0 or 1.
enum class DType : std::uint8_t { boolean, uint8, int32, int64, float32, float64 };

constexpr auto names(DType) {
  return std::array{std::pair{DType::boolean, "bool"},    std::pair{DType::uint8, "uint8"},
                    std::pair{DType::int32, "int32"},     std::pair{DType::int64, "int64"},
                    std::pair{DType::float32, "float32"}, std::pair{DType::float64, "float64"}};
}

/// Bytes of one element.
constexpr std::size_t size_of(DType dtype) {
  switch (dtype) {
    case DType::boolean:
    case DType::uint8:
      return 1;
    case DType::int32:
    case DType::float32:
      return 4;
    case DType::int64:
    case DType::float64:
      return 8;
  }
  return 0;
}

/// The DType of a C++ type.
template <class T>
constexpr DType dtype_of() {
  if constexpr (std::same_as<T, bool>) {
    return DType::boolean;
  } else if constexpr (std::same_as<T, std::uint8_t>) {
    return DType::uint8;
  } else if constexpr (std::same_as<T, std::int32_t>) {
    return DType::int32;
  } else if constexpr (std::same_as<T, std::int64_t>) {
    return DType::int64;
  } else if constexpr (std::same_as<T, float>) {
    return DType::float32;
  } else {
    static_assert(std::same_as<T, double>, "columns hold none of this type");
    return DType::float64;
  }
}

/// Calls `f` with a null pointer of the element type: `visit(dtype, [&]<class T>(T*) {…})`.
template <class F>
decltype(auto) visit(DType dtype, F&& f) {
  switch (dtype) {
    case DType::boolean:
      return f(static_cast<bool*>(nullptr));
    case DType::uint8:
      return f(static_cast<std::uint8_t*>(nullptr));
    case DType::int32:
      return f(static_cast<std::int32_t*>(nullptr));
    case DType::int64:
      return f(static_cast<std::int64_t*>(nullptr));
    case DType::float32:
      return f(static_cast<float*>(nullptr));
    case DType::float64:
      break;
  }
  return f(static_cast<double*>(nullptr));
}

}  // namespace knurl
