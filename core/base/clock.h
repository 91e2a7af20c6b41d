#pragma once

#include <chrono>

namespace knurl {

/// Seconds on the machine's monotonic clock, from an arbitrary start.
inline double steady_seconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

/// A duration as a number of seconds.
template <class Rep, class Period>
double seconds(std::chrono::duration<Rep, Period> duration) {
  return std::chrono::duration<double>(duration).count();
}

}  // namespace knurl
