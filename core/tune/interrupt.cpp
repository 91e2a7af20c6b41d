#include "knurl/core/tune/interrupt.h"

#include <cerrno>

#include <pthread.h>
#include <signal.h>
#include <unistd.h>

namespace knurl::tune {
namespace {

/// Those that the process was not started to ignore.
sigset_t our_signals() {
  sigset_t set;
  sigemptyset(&set);
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) {
    struct sigaction now = {};
    sigaction(signal, nullptr, &now);
    if (now.sa_handler != SIG_IGN) sigaddset(&set, signal);
  }
  return set;
}

/// Waits a little for a signal of ours; nothing where none came.
std::optional<int> next_signal() {
  const sigset_t set = our_signals();
  const timespec wait{.tv_sec = 0, .tv_nsec = 20'000'000};
  const int got = sigtimedwait(&set, nullptr, &wait);
  return got > 0 ? std::optional(got) : std::nullopt;
}

}  // namespace

Interrupt::Interrupt(std::chrono::milliseconds patience) : patience_(patience) {
  const sigset_t set = our_signals();
  pthread_sigmask(SIG_BLOCK, &set, nullptr);
  watcher_ = std::jthread([this] { watch(); });
}

Interrupt::~Interrupt() {
  {
    const std::lock_guard lock(mutex_);
    over_ = true;
  }
  watcher_.join();
  const sigset_t set = our_signals();
  pthread_sigmask(SIG_UNBLOCK, &set, nullptr);
}

std::optional<int> Interrupt::signal() const {
  const std::lock_guard lock(mutex_);
  return signal_;
}

void Interrupt::set_emergency(std::function<void()> action) {
  const std::lock_guard lock(mutex_);
  emergency_ = std::move(action);
}

void Interrupt::watch() {
  using Clock = std::chrono::steady_clock;
  std::optional<Clock::time_point> deadline;
  while (true) {
    const std::optional<int> got = next_signal();
    const std::lock_guard lock(mutex_);
    if (over_) return;
    if (got && signal_) ::_exit(128 + *got);  // asked twice
    if (got) {
      signal_ = got;
      deadline = Clock::now() + patience_;
    }
    if (deadline && Clock::now() >= *deadline) {
      if (emergency_) emergency_();
      ::_exit(128 + *signal_);
    }
  }
}

}  // namespace knurl::tune
