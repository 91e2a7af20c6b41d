#pragma once

#include <string>
#include <utility>
#include <vector>

#include "knurl/core/base/error.h"
#include "knurl/core/config/value.h"

namespace knurl {

/// Gathers what is wrong with a config, so that one run shows it all.
class Problems {
 public:
  /// `text` says all there is to say, its place included.
  void add(const Place& place, std::string text) {
    found_.emplace_back(place.line, std::move(text));
  }

  /// Does something, and keeps the text where that throws an Error(config).
  template <class Action>
  void collect(const Place& place, Action action) {
    try {
      action();
    } catch (const Error& error) {
      if (error.kind() != ErrorKind::config) throw;
      add(place, error.what());
    }
  }

  /// Throws Error(config) with a line for each problem, in the order of their lines in the file;
  /// does nothing where there is none.
  void throw_any() const;

 private:
  std::vector<std::pair<int, std::string>> found_;  ///< line, text
};

}  // namespace knurl
