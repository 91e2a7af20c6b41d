#pragma once

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "knurl/core/config/fields.h"
#include "knurl/envs/env.h"

namespace knurl {

/// A wrapper as config files know it.
struct WrapperEntry {
  std::string name = {};            ///< "FrameStack"
  std::string sentence = {};        ///< what it does
  const Schema* options = nullptr;  ///< what may be given to it
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

/// Puts wrappers around an env, the first one innermost. Throws Error(config) naming the place in
/// env_config of one whose options cannot be, or that does not fit what is inside it.
std::unique_ptr<Env> wrap(std::unique_ptr<Env> env, std::span<const WrapperChoice> wrappers);

}  // namespace knurl
