#include "knurl/core/base/rng.h"

#include <cmath>
#include <numbers>

namespace knurl {
namespace {

/// One step of SplitMix64 (Steele, Lea and Flood 2014): advances `state`, returns a mixed word.
std::uint64_t split_mix(std::uint64_t& state) {
  std::uint64_t z = state += 0x9E3779B97F4A7C15U;
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9U;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EBU;
  return z ^ (z >> 31);
}

/// FNV-1a over the bytes of a name.
std::uint64_t hash(std::string_view name) {
  std::uint64_t h = 0xCBF29CE484222325U;
  for (const char c : name) h = (h ^ static_cast<unsigned char>(c)) * 0x100000001B3U;
  return h;
}

std::uint64_t mix(std::uint64_t a, std::uint64_t b) {
  std::uint64_t state = a ^ (b * 0xD6E8FEB86659FD93U);
  split_mix(state);
  return split_mix(state);
}

}  // namespace

Rng::Rng(std::uint64_t seed) : key_(seed), words_{} {
  std::uint64_t state = seed;
  for (std::uint64_t& word : words_) word = split_mix(state);
}

Rng Rng::split(std::string_view name) const {
  return Rng(mix(key_, hash(name)));
}

Rng Rng::split(std::string_view name, std::uint64_t index) const {
  return Rng(mix(mix(key_, hash(name)), index + 1));
}

std::uint64_t Rng::below(std::uint64_t n) {
  __extension__ using Wide = unsigned __int128;
  Wide product = static_cast<Wide>((*this)()) * n;
  if (static_cast<std::uint64_t>(product) < n) {
    const std::uint64_t threshold = -n % n;
    while (static_cast<std::uint64_t>(product) < threshold) {
      product = static_cast<Wide>((*this)()) * n;
    }
  }
  return static_cast<std::uint64_t>(product >> 64);
}

double Rng::normal() {
  const double u = 1.0 - uniform();  // in (0, 1]: the logarithm is finite
  const double v = uniform();
  return std::sqrt(-2.0 * std::log(u)) * std::cos(2.0 * std::numbers::pi * v);
}

Rng::State Rng::state() const {
  return {words_[0], words_[1], words_[2], words_[3], key_};
}

void Rng::restore(const State& state) {
  for (std::size_t i = 0; i < words_.size(); ++i) words_[i] = state[i];
  key_ = state[4];
}

}  // namespace knurl
