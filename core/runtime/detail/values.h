#pragma once

#include <type_traits>
#include <utility>
#include <variant>

#include "knurl/core/runtime/detail/access.h"
#include "knurl/core/runtime/detail/work.h"
#include "knurl/core/runtime/object_ref.h"

/// Values in and out of boxes.
namespace knurl::runtime::detail {

/// What a result of type R is kept as; that of a void function is a monostate.
template <class R>
using Kept = std::conditional_t<std::is_void_v<R>, std::monostate, std::remove_cvref_t<R>>;

/// The ref that a call with result type R returns.
template <class R>
using ResultRef = ObjectRef<std::remove_cvref_t<R>>;

template <class R>
std::unique_ptr<Box> box_result(auto&& compute) {
  if constexpr (std::is_void_v<R>) {
    compute();
    return std::make_unique<BoxOf<std::monostate>>(std::in_place, std::monostate{});
  } else {
    return std::make_unique<BoxOf<Kept<R>>>(std::in_place, compute());
  }
}

template <class R>
std::unique_ptr<Box> load_result(ByteReader& in) {
  return std::make_unique<BoxOf<Kept<R>>>(std::in_place, read<Kept<R>>(in));
}

/// The value of a settled object. Throws its failure.
template <class T>
const T& view(const ObjectRef<T>& ref) {
  return static_cast<const BoxOf<T>&>(Access::claim(ref)->value()).value;
}

/// A copy by way of bytes where a type has no copy constructor.
template <class T>
T copy_of(const T& value) {
  if constexpr (std::is_copy_constructible_v<T>) {
    return value;
  } else {
    ByteWriter out;
    write(out, value);
    ByteReader in(out.bytes());
    return read<T>(in);
  }
}

/// The value of a settled object: moved where nobody else can see it, else copied. Throws its
/// failure.
template <class T>
T take(ObjectRef<T> ref) {
  const Claim& claim = Access::claim(ref);
  T& value = static_cast<BoxOf<T>&>(claim->value()).value;
  return claim.sole() ? std::move(value) : copy_of(value);
}

}  // namespace knurl::runtime::detail
