#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <stop_token>
#include <string>

#include "knurl/core/runtime/runtime.h"

namespace knurl::runtime::test {

using namespace std::chrono_literals;

/// No wait of a test is longer.
constexpr auto kLong = 20s;

/// Closed until a test opens it: what else would be a sleep.
class Gate {
 public:
  void open() {
    const std::lock_guard lock(mutex_);
    open_ = true;
    opened_.notify_all();
  }
  void close() {
    const std::lock_guard lock(mutex_);
    open_ = false;
  }
  /// False when it stays closed for too long, or `stop` is asked for.
  bool pass(std::stop_token stop = {}) {
    std::unique_lock lock(mutex_);
    return opened_.wait_for(lock, stop, kLong, [&] { return open_; });
  }

 private:
  std::mutex mutex_;
  std::condition_variable_any opened_;
  bool open_ = false;
};

/// Opens for all once `num` threads are there at the same time.
class Meeting {
 public:
  explicit Meeting(int num) : num_missing_(num) {}

  bool join(std::chrono::nanoseconds timeout = kLong) {
    std::unique_lock lock(mutex_);
    if (--num_missing_ <= 0) complete_.notify_all();
    return complete_.wait_for(lock, timeout, [&] { return num_missing_ <= 0; });
  }

 private:
  std::mutex mutex_;
  std::condition_variable complete_;
  int num_missing_;
};

/// Looks until `condition` holds; false when it does not for too long.
template <class Condition>
bool eventually(Condition condition) {
  const auto end = std::chrono::steady_clock::now() + kLong;
  while (!condition()) {
    if (std::chrono::steady_clock::now() > end) return false;
    std::this_thread::sleep_for(1ms);
  }
  return true;
}

/// A value that counts how many of its kind there are.
class Counted {
 public:
  static inline std::atomic<int> num_alive = 0;
  static inline std::atomic<int> num_copies = 0;

  explicit Counted(int number = 0) : number_(number) { ++num_alive; }
  Counted(const Counted& other) : number_(other.number_) {
    ++num_alive;
    ++num_copies;
  }
  Counted(Counted&& other) noexcept : number_(other.number_) { ++num_alive; }
  Counted& operator=(const Counted&) = default;
  ~Counted() { --num_alive; }

  [[nodiscard]] int number() const { return number_; }
  void save(ByteWriter& out) const { write(out, number_); }
  static Counted load(ByteReader& in) { return Counted(read<int>(in)); }

 private:
  int number_;
};

inline int add(int a, int b) {
  return a + b;
}

/// The text of what `action` throws as an E; "" when it throws nothing.
template <class E, class Action>
std::string text_thrown(Action action) {
  try {
    action();
  } catch (const E& error) {
    return error.what();
  }
  return "";
}

}  // namespace knurl::runtime::test
