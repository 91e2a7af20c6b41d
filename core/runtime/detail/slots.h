#pragma once

#include <cstddef>
#include <memory>
#include <tuple>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "knurl/core/runtime/detail/values.h"

namespace knurl::runtime::detail {

/// One argument: a value, or a ref to one. Empty until it is set or loaded.
template <class T>
class Slot {
 public:
  template <class Argument>
  void set(Argument&& argument) {
    if constexpr (std::is_same_v<std::remove_cvref_t<Argument>, ObjectRef<T>>) {
      content_.template emplace<ObjectRef<T>>(std::forward<Argument>(argument));
    } else {
      static_assert(std::is_convertible_v<Argument&&, T>,
                    "an argument does not fit its parameter: pass a value that converts to the "
                    "parameter's type, or an ObjectRef of exactly that type");
      content_.template emplace<T>(std::forward<Argument>(argument));
    }
  }

  void save(ByteWriter& out) const {
    write(out, value() != nullptr);
    value() != nullptr ? write(out, *value()) : write(out, ref());
  }
  void load(ByteReader& in) { read<bool>(in) ? set(read<T>(in)) : set(read<ObjectRef<T>>(in)); }

  void add_dependency(std::vector<std::shared_ptr<Object>>& out) const {
    if (value() == nullptr) out.push_back(Access::claim(ref()).object());
  }

  /// What a parameter of type P is given. Once only: a value is moved out.
  template <class P>
  decltype(auto) pass() {
    if constexpr (std::is_lvalue_reference_v<P>) {
      static_assert(std::is_const_v<std::remove_reference_t<P>>,
                    "a task or actor method takes its parameters by value or by const reference: "
                    "what it changes in them would not reach the caller");
      return value() != nullptr ? *value() : view(ref());
    } else {
      T* const value = std::get_if<T>(&content_);
      return value != nullptr ? T(std::move(*value))
                              : take(std::get<ObjectRef<T>>(std::move(content_)));
    }
  }

 private:
  [[nodiscard]] const T* value() const { return std::get_if<T>(&content_); }
  [[nodiscard]] const ObjectRef<T>& ref() const { return std::get<ObjectRef<T>>(content_); }

  std::variant<std::monostate, T, ObjectRef<T>> content_;
};

/// The arguments for parameters of types T.
template <class... T>
class Slots final : public Arguments {
 public:
  static_assert((Serialisable<T> && ...),
                "every parameter of a task, of an actor's method and of its constructor has to be "
                "Serialisable: see knurl/core/base/bytes.h");

  template <class... Argument>
  explicit Slots(std::in_place_t /*tag*/, Argument&&... argument) {
    std::apply([&](auto&... slot) { (slot.set(std::forward<Argument>(argument)), ...); }, slots_);
  }
  explicit Slots(ByteReader& in) {
    std::apply([&](auto&... slot) { (slot.load(in), ...); }, slots_);
  }
  static std::unique_ptr<Arguments> load(ByteReader& in) { return std::make_unique<Slots>(in); }

  void save(ByteWriter& out) const override {
    std::apply([&](const auto&... slot) { (slot.save(out), ...); }, slots_);
  }
  void add_dependencies(std::vector<std::shared_ptr<Object>>& out) const override {
    std::apply([&](const auto&... slot) { (slot.add_dependency(out), ...); }, slots_);
  }

  /// Calls `function` as if it had parameters of types P, which are T but for references.
  template <class... P>
  decltype(auto) pass_to(auto&& function) {
    return std::apply(
        [&](auto&... slot) -> decltype(auto) { return function(slot.template pass<P>()...); },
        slots_);
  }

 private:
  std::tuple<Slot<T>...> slots_;
};

}  // namespace knurl::runtime::detail
