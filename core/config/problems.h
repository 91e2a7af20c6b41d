#pragma once

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "knurl/core/base/error.h"
#include "knurl/core/config/value.h"

namespace knurl {

/// Gathers what is wrong with a config, so that one run shows it all.
class Problems {
 public:
  /// `text` says all there is to say, its place included. What is found twice is said once.
  void add(const Place& place, std::string text) {
    std::pair<int, std::string> problem(place.line, std::move(text));
    if (std::ranges::count(found_, problem) == 0) found_.push_back(std::move(problem));
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
