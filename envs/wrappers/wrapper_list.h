#pragma once

#include <array>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "knurl/core/config/fields.h"
#include "knurl/envs/env.h"

namespace knurl {

/// What a wrapper looks at or changes. A run normalises what comes out of the whole list: what is
/// about the same cannot follow.
enum class WrapperSubject { other, observations, rewards };
constexpr auto names(WrapperSubject) {
  return std::array{std::pair{WrapperSubject::other, "episodes"},
                    std::pair{WrapperSubject::observations, "observations"},
                    std::pair{WrapperSubject::rewards, "rewards"}};
}

/// A wrapper as config files know it.
struct WrapperEntry {
  std::string name = {};            ///< "FrameStack"
  std::string sentence = {};        ///< what it does
  const Schema* options = nullptr;  ///< what may be given to it
  WrapperSubject subject = WrapperSubject::other;
  bool by_run = false;  ///< carried out by the run (run_wrappers.h): `make` returns `inner`
  /// Puts it around an env. Throws Error(config) for options, below `path`, that it does not know
  /// or that cannot be, and for an env that it does not fit.
  std::function<std::unique_ptr<Env>(std::unique_ptr<Env> inner, const ConfigValue& options,
                                     const std::string& path)>
      make = {};
};

/// All wrappers in alphabetical order.
const std::vector<WrapperEntry>& known_wrappers();

/// An entry of env_config.wrappers: `FrameStack`, or with options `{FrameStack: {num: 4}}`.
struct WrapperChoice {
  std::string name = {};
  ConfigValue options = ConfigValue::empty_map();
  Place place = {};
};

template <>
struct ValueType<WrapperChoice> {
  static std::string text() { return "wrapper"; }
  /// Throws Error(config), naming the nearest, for what is no wrapper.
  static WrapperChoice read(const ConfigValue& value, const std::string& path, const Range&);
  static ConfigValue write(const WrapperChoice& value);
  static void check(const WrapperChoice&, const std::string&, const Range&) {}
};

/// The entry of a wrapper that was read from a config.
const WrapperEntry& entry_of(const WrapperChoice& choice);

/// Puts wrappers around an env, the first one innermost. Throws Error(config) naming the place in
/// env_config of one whose options cannot be, or that does not fit what is inside it or before it.
std::unique_ptr<Env> wrap(std::unique_ptr<Env> env, std::span<const WrapperChoice> wrappers);

}  // namespace knurl
