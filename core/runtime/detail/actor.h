#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "knurl/core/runtime/detail/access.h"
#include "knurl/core/runtime/detail/context.h"
#include "knurl/core/runtime/detail/mailbox.h"
#include "knurl/core/runtime/options.h"

namespace knurl::runtime::detail {

/// An actor in a thread of its own. It is dead from the moment its construction fails, it is killed
/// or it ends; calls to the dead fail at once.
class Actor : public Listener, public std::enable_shared_from_this<Actor> {
 public:
  /// `construction` is the call of its constructor, which runs first.
  Actor(Core& core, const ActorOptions& options, std::shared_ptr<Object> construction);
  ~Actor() override;

  ActorClaim claim();
  [[nodiscard]] const std::string& name() const { return name_; }
  [[nodiscard]] std::uint64_t number() const { return number_; }
  [[nodiscard]] Cpus cpus() const { return construction_->cpus(); }
  /// Calls travel as bytes.
  [[nodiscard]] bool serializes() const { return serializes_; }

  /// Queues a call behind the earlier ones of the same caller, once the objects it depends on are
  /// there. Never blocks. Throws PendingCallsError. Safe from any thread.
  void submit(const ActorClaim& claim, const std::shared_ptr<Object>& call,
              std::vector<std::shared_ptr<Object>> dependencies);
  /// Fails all calls that have not finished, asks a running one to stop, and ends. Safe from any
  /// thread.
  void kill(Failure why);

  /// The life of its thread.
  void run(const std::shared_ptr<Core>& core);

 private:
  /// A call that waits for objects, or behind one that does.
  struct Held {
    ActorClaim claim;
    std::shared_ptr<Object> call;
    std::vector<std::shared_ptr<Object>> dependencies;

    [[nodiscard]] bool may_go() const;
  };

  void on_settled(const Object& construction) noexcept override;
  void admit(const std::shared_ptr<Object>& call);
  void forget_settled();
  void after_call();
  void release_held(const CallerId& caller);
  void die(Failure why);
  void serve(Context& context);

  const std::uint64_t number_;
  const std::string name_;
  const std::optional<int> max_pending_calls_;
  const bool serializes_;
  const std::shared_ptr<Object> construction_;
  Mailbox mailbox_;
  std::size_t num_served_ = 0;  // since it last forgot settled calls; its thread's

  std::mutex mutex_;  // guards what follows
  bool started_ = false;
  std::optional<Failure> death_;
  std::vector<std::shared_ptr<Object>> pending_;  // oldest first; some may have settled
  std::map<CallerId, std::deque<Held>> held_;     // no queue is empty
};

}  // namespace knurl::runtime::detail
