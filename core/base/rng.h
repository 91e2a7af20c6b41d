#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace knurl {

/// A random stream that can be split by name: xoshiro256++ (Blackman and Vigna 2021), seeded
/// through SplitMix64. Splitting depends on the stream's key alone, never on how many numbers were
/// drawn, so that a component's numbers do not depend on what others do. A
/// UniformRandomBitGenerator. Not thread-safe: each component owns its own.
class Rng {
 public:
  using result_type = std::uint64_t;
  using State = std::array<std::uint64_t, 5>;  ///< generator words, then the key

  explicit Rng(std::uint64_t seed = 0);

  /// The stream of a named part: the same name gives the same stream, other names others.
  [[nodiscard]] Rng split(std::string_view name) const;
  /// The stream of part number `index` of a named group.
  [[nodiscard]] Rng split(std::string_view name, std::uint64_t index) const;

  static constexpr std::uint64_t min() { return 0; }
  static constexpr std::uint64_t max() { return ~std::uint64_t{0}; }
  std::uint64_t operator()();

  /// Uniform in [0, 1), 53 bits.
  double uniform() { return static_cast<double>((*this)() >> 11) * 0x1.0p-53; }
  double uniform(double low, double high) { return low + (high - low) * uniform(); }
  /// Uniform whole number in [0, n), without bias (Lemire 2019). n >= 1.
  std::uint64_t below(std::uint64_t n);
  /// Normal with mean 0 and standard deviation 1 (Box and Muller 1958). Keeps nothing between
  /// calls.
  double normal();

  [[nodiscard]] State state() const;
  void restore(const State& state);

  friend bool operator==(const Rng&, const Rng&) = default;

 private:
  std::uint64_t key_;
  std::array<std::uint64_t, 4> words_;
};

inline std::uint64_t Rng::operator()() {
  const auto rotate = [](std::uint64_t x, int k) { return (x << k) | (x >> (64 - k)); };
  const std::uint64_t result = rotate(words_[0] + words_[3], 23) + words_[0];
  const std::uint64_t t = words_[1] << 17;
  words_[2] ^= words_[0];
  words_[3] ^= words_[1];
  words_[1] ^= words_[2];
  words_[0] ^= words_[3];
  words_[2] ^= t;
  words_[3] = rotate(words_[3], 45);
  return result;
}

}  // namespace knurl
