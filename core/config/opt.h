#pragma once

#include <concepts>
#include <initializer_list>
#include <type_traits>
#include <utility>

#include "knurl/core/base/reflect.h"

namespace knurl {

/// Marks a value as a default: `Opt<double> lr = Default{5e-5};`
template <class T>
struct Default {
  T value;
};
template <class T>
Default(T) -> Default<T>;

/// A config option: a value, and whether somebody gave it or it is the default.
template <class T>
class Opt {
 public:
  using value_type = T;

  Opt() : value_{} {}

  template <class U>
  requires std::constructible_from<T, U> Opt(Default<U> value)
      : value_(std::move(value.value)) {}  // NOLINT(*-explicit-*): reads as a value

  /// A value that the user gives.
  Opt(T value) : value_(std::move(value)), given_(true) {}  // NOLINT(*-explicit-*)

  /// The same from something that converts to T, so that `.seed = 3` and `.name = "x"` work.
  template <class U>
  requires(std::convertible_to<U, T> && !std::same_as<std::remove_cvref_t<U>, T> &&
           !std::same_as<std::remove_cvref_t<U>, Opt> &&
           !std::same_as<std::remove_cvref_t<U>, detail::AnyMember>) Opt(U&& value)
      : value_(std::forward<U>(value)), given_(true) {}  // NOLINT(*-explicit-*)

  /// A list that the user gives: `.fcnet_hiddens = {64, 64}`.
  template <class U>
  requires std::constructible_from<T, std::initializer_list<U>> Opt(std::initializer_list<U> list)
      : value_(list), given_(true) {}

  [[nodiscard]] const T& value() const { return value_; }
  [[nodiscard]] bool given() const { return given_; }
  operator const T&() const { return value_; }  // NOLINT(*-explicit-*)
  const T& operator*() const { return value_; }
  const T* operator->() const { return &value_; }

  /// Keeps the value, as if it were the default.
  void forget_given() { given_ = false; }

  /// Takes `other`'s value where somebody gave it; leaves this option alone otherwise.
  void merge(const Opt& other) {
    if (other.given_) *this = other;
  }

  /// Values are compared; who gave them does not count.
  friend bool operator==(const Opt& a, const Opt& b) { return a.value_ == b.value_; }
  friend bool operator==(const Opt& a, const T& b) { return a.value_ == b; }

 private:
  T value_;
  bool given_ = false;
};

template <class T>
struct IsOpt : std::false_type {};
template <class T>
struct IsOpt<Opt<T>> : std::true_type {};

}  // namespace knurl
