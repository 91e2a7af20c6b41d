#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "knurl/core/base/error.h"
#include "knurl/core/base/reflect.h"

/// Plain binary serialisation: what travels between threads, processes and machines, and what
/// checkpoints keep of a component's private state. Little-endian, no type names, no pointers.
///
/// Serialisable are numbers, enums, bool, std::string, the usual containers of serialisable things,
/// any aggregate of serialisable members (no registration), and any class with
///   void save(ByteWriter&) const;   static T load(ByteReader&);
namespace knurl {

/// Appends values to a byte string, and keeps what the bytes refer to alive.
class ByteWriter {
 public:
  void write_bytes(const void* data, std::size_t size);
  /// Ties the life of `thing` to the message: object references inside a message use it.
  void keep(std::shared_ptr<void> thing) { kept_.push_back(std::move(thing)); }

  [[nodiscard]] const std::vector<std::byte>& bytes() const { return bytes_; }
  [[nodiscard]] std::vector<std::byte> take_bytes() { return std::move(bytes_); }
  [[nodiscard]] std::vector<std::shared_ptr<void>> take_kept() { return std::move(kept_); }

 private:
  std::vector<std::byte> bytes_;
  std::vector<std::shared_ptr<void>> kept_;
};

/// Reads values in the order they were written. Throws Error(io) past the end.
class ByteReader {
 public:
  explicit ByteReader(std::span<const std::byte> bytes) : bytes_(bytes) {}

  void read_bytes(void* out, std::size_t size) {
    if (size > bytes_.size()) {
      fail(ErrorKind::io, "a message ends {} bytes early", size - bytes_.size());
    }
    if (size > 0) std::memcpy(out, bytes_.data(), size);
    bytes_ = bytes_.subspan(size);
  }
  [[nodiscard]] std::size_t remaining() const { return bytes_.size(); }

 private:
  std::span<const std::byte> bytes_;
};

namespace detail {

template <class T>
struct IsContainer : std::false_type {};
template <class T, class A>
struct IsContainer<std::vector<T, A>> : std::true_type {};
template <class K, class V, class C, class A>
struct IsContainer<std::map<K, V, C, A>> : std::true_type {};
template <class C, class T, class A>
struct IsContainer<std::basic_string<C, T, A>> : std::true_type {};

template <class T>
struct IsTuple : std::false_type {};
template <class... T>
struct IsTuple<std::tuple<T...>> : std::true_type {};
template <class A, class B>
struct IsTuple<std::pair<A, B>> : std::true_type {};
template <class T, std::size_t N>
struct IsTuple<std::array<T, N>> : std::true_type {};

template <class T>
struct IsOptional : std::false_type {};
template <class T>
struct IsOptional<std::optional<T>> : std::true_type {};

template <class T>
struct IsVariant : std::false_type {};
template <class... T>
struct IsVariant<std::variant<T...>> : std::true_type {};

template <class T>
concept SavesItself = requires(const T& value, ByteWriter& out, ByteReader& in) {
  value.save(out);
  { T::load(in) } -> std::same_as<T>;
};

template <class T>
consteval bool serialisable();

template <class Tuple, std::size_t... I>
consteval bool elements_serialisable(std::index_sequence<I...>) {
  return (serialisable<std::remove_cvref_t<std::tuple_element_t<I, Tuple>>>() && ...);
}

template <class... T>
consteval bool alternatives_serialisable(const std::variant<T...>*) {
  return (serialisable<T>() && ...);
}

template <class T>
consteval bool serialisable() {
  if constexpr (std::is_arithmetic_v<T> || std::is_enum_v<T> || std::is_same_v<T, std::monostate>) {
    return true;
  } else if constexpr (SavesItself<T>) {
    return true;
  } else if constexpr (IsContainer<T>::value) {
    return serialisable<std::remove_cvref_t<typename T::value_type>>();
  } else if constexpr (IsTuple<T>::value) {
    return elements_serialisable<T>(std::make_index_sequence<std::tuple_size_v<T>>{});
  } else if constexpr (IsOptional<T>::value) {
    return serialisable<typename T::value_type>();
  } else if constexpr (IsVariant<T>::value) {
    return alternatives_serialisable(static_cast<const T*>(nullptr));
  } else if constexpr (std::is_pointer_v<T> || std::is_reference_v<T> || std::is_union_v<T> ||
                       std::is_array_v<T>) {
    return false;
  } else if constexpr (std::is_aggregate_v<T> && std::is_copy_constructible_v<T>) {
    using Members = decltype(tie_members(std::declval<T&>()));
    return elements_serialisable<Members>(std::make_index_sequence<std::tuple_size_v<Members>>{});
  } else {
    return false;
  }
}

}  // namespace detail

/// T can be turned into bytes and back.
template <class T>
concept Serialisable = detail::serialisable<std::remove_cvref_t<T>>();

template <class T>
void write(ByteWriter& out, const T& value);
template <class T>
T read(ByteReader& in);

namespace detail {

template <class T>
constexpr bool kPlainBytes = std::is_arithmetic_v<T> || std::is_enum_v<T>;

template <class... T>
void read_alternative(ByteReader& in, std::size_t index, std::variant<T...>& out) {
  std::size_t at = 0;
  const bool found = ((at++ == index ? (out = read<T>(in), true) : false) || ...);
  if (!found) fail(ErrorKind::io, "a message holds alternative {} of {}", index, sizeof...(T));
}

template <class T>
T read_container(ByteReader& in) {
  const auto size = read<std::uint64_t>(in);
  if (size > in.remaining() && size > 0) {
    fail(ErrorKind::io, "a message promises {} elements in {} bytes", size, in.remaining());
  }
  T out;
  if constexpr (requires { out.data(); } && kPlainBytes<typename T::value_type> &&
                !std::is_same_v<typename T::value_type, bool>) {
    if (size > in.remaining() / sizeof(typename T::value_type)) {
      fail(ErrorKind::io, "a message promises {} elements in {} bytes", size, in.remaining());
    }
    out.resize(size);
    in.read_bytes(out.data(), size * sizeof(typename T::value_type));
  } else if constexpr (requires { typename T::mapped_type; }) {
    for (std::uint64_t i = 0; i < size; ++i) {
      auto key = read<typename T::key_type>(in);
      out.emplace(std::move(key), read<typename T::mapped_type>(in));
    }
  } else {
    out.reserve(size);
    for (std::uint64_t i = 0; i < size; ++i) out.push_back(read<typename T::value_type>(in));
  }
  return out;
}

}  // namespace detail

/// Appends `value`.
template <class T>
void write(ByteWriter& out, const T& value) {
  static_assert(Serialisable<T>, "this type cannot be serialised: see knurl/core/base/bytes.h");
  if constexpr (detail::kPlainBytes<T>) {
    out.write_bytes(&value, sizeof(T));
  } else if constexpr (std::is_same_v<T, std::monostate>) {
  } else if constexpr (detail::SavesItself<T>) {
    value.save(out);
  } else if constexpr (detail::IsContainer<T>::value) {
    write(out, static_cast<std::uint64_t>(value.size()));
    if constexpr (requires { value.data(); } && detail::kPlainBytes<typename T::value_type>) {
      out.write_bytes(value.data(), value.size() * sizeof(typename T::value_type));
    } else {
      for (const auto& element : value) write<typename T::value_type>(out, element);
    }
  } else if constexpr (detail::IsTuple<T>::value) {
    std::apply([&](const auto&... element) { (write(out, element), ...); }, value);
  } else if constexpr (detail::IsOptional<T>::value) {
    write(out, value.has_value());
    if (value) write(out, *value);
  } else if constexpr (detail::IsVariant<T>::value) {
    write(out, static_cast<std::uint64_t>(value.index()));
    std::visit([&](const auto& alternative) { write(out, alternative); }, value);
  } else {
    std::apply([&](const auto&... member) { (write(out, member), ...); }, tie_members(value));
  }
}

/// Reads the next value.
template <class T>
T read(ByteReader& in) {
  static_assert(Serialisable<T>, "this type cannot be serialised: see knurl/core/base/bytes.h");
  if constexpr (detail::kPlainBytes<T>) {
    T value;
    in.read_bytes(&value, sizeof(T));
    return value;
  } else if constexpr (std::is_same_v<T, std::monostate>) {
    return {};
  } else if constexpr (detail::SavesItself<T>) {
    return T::load(in);
  } else if constexpr (detail::IsContainer<T>::value) {
    return detail::read_container<T>(in);
  } else if constexpr (detail::IsTuple<T>::value) {
    T value;
    std::apply(
        [&](auto&... element) {
          ((const_cast<std::remove_cvref_t<decltype(element)>&>(element) =
                read<std::remove_cvref_t<decltype(element)>>(in)),
           ...);
        },
        value);
    return value;
  } else if constexpr (detail::IsOptional<T>::value) {
    if (!read<bool>(in)) return std::nullopt;
    return read<typename T::value_type>(in);
  } else if constexpr (detail::IsVariant<T>::value) {
    T value;
    detail::read_alternative(in, read<std::uint64_t>(in), value);
    return value;
  } else {
    T value{};
    std::apply(
        [&](auto&... member) { ((member = read<std::remove_cvref_t<decltype(member)>>(in)), ...); },
        tie_members(value));
    return value;
  }
}

}  // namespace knurl
