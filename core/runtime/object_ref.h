#pragma once

#include <utility>

#include "knurl/core/runtime/detail/access.h"

namespace knurl::runtime {

/// Refers to a value of type `T` in the object store, which is there or will be once the work that
/// makes it has ended. `ObjectRef<void>` refers to the end of work that returns nothing. The value
/// lives as long as a ref to it; a copy is another ref to the same value. May be an argument, or
/// part of one. One ref is for one thread at a time, as any value is; copies are independent.
template <class T>
class ObjectRef {
 public:
  /// Refers to nothing.
  ObjectRef() = default;

  explicit operator bool() const { return static_cast<bool>(claim_); }
  /// Both refer to the same object, or both to nothing.
  bool operator==(const ObjectRef&) const = default;

  /// For messages within a runtime, not for files. Throws Error(actor) where there is no runtime.
  void save(ByteWriter& out) const { detail::save_claim(out, claim_); }
  static ObjectRef load(ByteReader& in) { return ObjectRef(detail::load_object_claim(in)); }

 private:
  friend struct detail::Access;
  explicit ObjectRef(detail::Claim claim) : claim_(std::move(claim)) {}

  detail::Claim claim_;
};

}  // namespace knurl::runtime
