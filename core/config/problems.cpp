#include "knurl/core/config/problems.h"

#include <algorithm>

namespace knurl {

void Problems::throw_any() const {
  if (found_.empty()) return;
  auto sorted = found_;
  std::ranges::stable_sort(sorted, {}, &std::pair<int, std::string>::first);
  std::string text;
  for (const auto& [line, problem] : sorted) text += (text.empty() ? "" : "\n") + problem;
  fail(ErrorKind::config, "{}", text);
}

}  // namespace knurl
