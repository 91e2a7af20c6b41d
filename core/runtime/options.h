#pragma once

#include <chrono>
#include <optional>
#include <string>

namespace knurl::runtime {

/// How long to wait at most; none waits until the runtime ends. A negative one is an Error.
using Timeout = std::optional<std::chrono::nanoseconds>;

struct InitOptions {
  /// CPUs that tasks and actors share; default: as many as the hardware has threads.
  std::optional<int> num_cpus = std::nullopt;
  /// How long the end of the runtime waits for running work before it is left behind.
  std::chrono::nanoseconds shutdown_timeout = std::chrono::seconds(5);
  /// Sends every call and result as bytes between threads too, as processes must. For tests; the
  /// environment variable KNURL_RUNTIME_SERIALIZE=1 does the same.
  bool serialize = false;
};

struct TaskOptions {
  /// CPUs taken while the task runs, but not while it waits in `get` or `wait`. Fractions count in
  /// steps of 1/10,000.
  double num_cpus = 1.0;
  /// What messages call the task; default: its function.
  std::string name = {};
};

/// Where an actor lives.
enum class Placement {
  thread,   ///< a thread of this process
  process,  ///< a process of its own on this machine
  node,     ///< a process on another machine
};

struct ActorOptions {
  /// What messages call the actor; default: its class.
  std::string name = {};
  Placement placement = Placement::thread;
  /// CPUs held as long as the actor lives; it is constructed once they are free.
  double num_cpus = 0.0;
  /// How often the actor is made anew when its process dies. A thread does not die alone, and a
  /// constructor that threw is never tried again.
  int max_restarts = 0;
  /// Unfinished calls of all callers together; one more is a PendingCallsError. Default: no limit.
  std::optional<int> max_pending_calls = std::nullopt;
};

struct WaitOptions {
  int num_returns = 1;  ///< how many refs to wait for: 1 to all of them
  Timeout timeout = std::nullopt;
};

}  // namespace knurl::runtime
