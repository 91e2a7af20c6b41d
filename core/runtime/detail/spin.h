#pragma once

#include <chrono>
#include <thread>

namespace knurl::runtime::detail {

/// About what it costs to put a thread to sleep and to wake it.
constexpr std::chrono::microseconds kSpinTime{50};

/// Looks for a condition that another thread is about to make true, and lets others run meanwhile.
/// False when it is not true after `kSpinTime`: sleep then.
template <class Condition>
bool spin_until(Condition condition) {
  const auto end = std::chrono::steady_clock::now() + kSpinTime;
  while (!condition()) {
    if (std::chrono::steady_clock::now() >= end) return false;
    std::this_thread::yield();
  }
  return true;
}

}  // namespace knurl::runtime::detail
