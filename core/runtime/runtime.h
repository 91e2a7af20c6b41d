#pragma once

#include <memory>
#include <optional>
#include <stop_token>
#include <type_traits>
#include <utility>
#include <vector>

#include "knurl/core/runtime/actor_handle.h"
#include "knurl/core/runtime/errors.h"
#include "knurl/core/runtime/object_ref.h"
#include "knurl/core/runtime/options.h"

/// Tasks, actors and the objects they exchange.
///
///   auto runtime = knurl::init({.num_cpus = 4});
///   auto square = runtime.task(compute_square, 3);
///   auto counter = runtime.actor<StepCounter>();
///   auto total = counter.call<&StepCounter::add>(square);
///   fmt::print("{}\n", runtime.get(total, 1s));
///
/// Arguments and results are Serialisable values (knurl/core/base/bytes.h).
namespace knurl::runtime {

namespace detail {

template <class T>
concept NotVoid = !std::is_void_v<T>;
template <class T, class U>
concept OtherThan = !std::is_same_v<std::remove_cvref_t<T>, U>;

}  // namespace detail

template <class T>
struct WaitResult {
  std::vector<ObjectRef<T>> ready;
  std::vector<ObjectRef<T>> pending;
};

class ScopedRuntime;

/// Access to a runtime, which some ScopedRuntime holds. Copies are the same runtime; once it has
/// ended, everything but a `get` of what is there throws an Error. Safe from any thread.
class Runtime {
 public:
  /// Keep what `init` returned: a Runtime alone would be one that has ended.
  Runtime(ScopedRuntime&& temporary) = delete;

  /// Stores a value, to be passed to many tasks without a copy for each.
  template <class T>
  ObjectRef<std::decay_t<T>> put(T&& value) const;

  /// Blocks until the value is there. Valid, without a copy, as long as a ref to it lives. Throws
  /// what made the work fail: Errors with their kind and text, other exceptions as Error(actor)
  /// that names the work; TimeoutError; CancelledError, also when the calling task is cancelled or
  /// the runtime ends meanwhile; ActorDiedError.
  template <detail::NotVoid T>
  const T& get(const ObjectRef<T>& ref, Timeout timeout = std::nullopt) const;
  /// The same by value: moved out of the store if this is the only ref, else copied.
  template <detail::NotVoid T>
  T get(ObjectRef<T>&& ref, Timeout timeout = std::nullopt) const;
  void get(const ObjectRef<void>& ref, Timeout timeout = std::nullopt) const;
  /// All values in the order of the refs, moved or copied. Throws as soon as one has failed.
  template <detail::NotVoid T>
  std::vector<T> get(std::vector<ObjectRef<T>> refs, Timeout timeout = std::nullopt) const;
  void get(const std::vector<ObjectRef<void>>& refs, Timeout timeout = std::nullopt) const;

  /// Blocks until `num_returns` values are there or have failed, or the timeout passes. Returns at
  /// most that many refs as ready and the others as pending, each in the order given. Throws
  /// Error(config) unless refs are distinct and num_returns is within 1 and their number, and
  /// CancelledError as `get` does.
  template <class T>
  WaitResult<T> wait(const std::vector<ObjectRef<T>>& refs, WaitOptions options = {}) const;

  /// From now on `get` throws CancelledError. Work that waits is dropped; running work is asked to
  /// stop by its stop_token, and by CancelledError from its next wait. What is done stays.
  template <class T>
  void cancel(const ObjectRef<T>& ref) const;

  /// Runs a plain function, or a lambda without captures, in some thread. Arguments are values that
  /// convert to its parameters' types, or ObjectRefs of exactly these: the task then starts when
  /// they are there, and fails when one has failed. Returns at once. Throws Error(config) when it
  /// asks for too many CPUs.
  template <detail::OtherThan<TaskOptions> F, class... Argument>
  auto task(F function, Argument&&... argument) const;
  template <class F, class... Argument>
  auto task(TaskOptions options, F function, Argument&&... argument) const;

  /// Starts an actor: an object of class `T`, made from the arguments in a thread of its own, that
  /// runs one call at a time. Returns at once; what its constructor throws reaches the `get` of
  /// each call. Throws Error(config) for options that cannot be.
  template <class T, class... Argument>
  ActorHandle<T> actor(ActorOptions options, Argument&&... argument) const;
  template <class T, detail::OtherThan<ActorOptions>... Argument>
  ActorHandle<T> actor(Argument&&... argument) const;

  /// Ends an actor without its queued calls: they, a running one and all later ones fail with
  /// ActorDiedError. The running method is asked to stop by its stop_token.
  template <class T>
  void kill(const ActorHandle<T>& handle) const;

 protected:
  explicit Runtime(std::shared_ptr<detail::Core> core) : core_(std::move(core)) {}

 private:
  friend Runtime current_runtime();
  friend std::optional<Runtime> active();

  std::shared_ptr<detail::Core> core_;
};

/// Holds a runtime, which ends with this: waits throw, what has not begun is dropped, running work
/// is asked to stop and is waited for, within InitOptions::shutdown_timeout.
class [[nodiscard]] ScopedRuntime final : public Runtime {
 public:
  /// The runtime ends with the new one; the old one is another Runtime.
  ScopedRuntime(ScopedRuntime&& other) noexcept
      : Runtime(static_cast<const Runtime&>(other)), held_(std::move(other.held_)) {}
  ScopedRuntime& operator=(ScopedRuntime&& other) = delete;
  ~ScopedRuntime();

 private:
  friend ScopedRuntime init(InitOptions options);
  explicit ScopedRuntime(const std::shared_ptr<detail::Core>& core) : Runtime(core), held_(core) {}

  std::shared_ptr<detail::Core> held_;  // null if moved from
};

/// Starts the runtime of this process; first in main. It ends with the scope of what this returns,
/// and may be started again then. Throws Error(actor) while one is active, and Error(config) for
/// options that cannot be.
ScopedRuntime init(InitOptions options = {});

/// In a task or an actor its runtime, elsewhere the active one. Throws Error(actor) when there is
/// none.
Runtime current_runtime();

/// The same; nothing when there is none.
std::optional<Runtime> active();

/// Is asked to stop when the task or call that the calling thread runs is cancelled, its actor
/// killed or the runtime ended: long work looks at it now and then. Never asked to elsewhere.
std::stop_token stop_token();

}  // namespace knurl::runtime

namespace knurl {

using runtime::ActorDiedError;
using runtime::ActorHandle;
using runtime::ActorOptions;
using runtime::CancelledError;
using runtime::current_runtime;
using runtime::init;
using runtime::InitOptions;
using runtime::ObjectRef;
using runtime::PendingCallsError;
using runtime::Placement;
using runtime::Runtime;
using runtime::ScopedRuntime;
using runtime::TaskOptions;
using runtime::TimeoutError;
using runtime::WaitOptions;
using runtime::WaitResult;

}  // namespace knurl

#include "knurl/core/runtime/detail/runtime_templates.h"
