#include "knurl/core/runtime/detail/actor.h"

#include <algorithm>
#include <ranges>
#include <utility>

#include "knurl/core/runtime/detail/core.h"
#include "knurl/core/runtime/detail/execute.h"
#include "knurl/core/runtime/detail/waiting.h"
#include "knurl/core/runtime/errors.h"

namespace knurl::runtime::detail {
namespace {

constexpr std::size_t kFewCalls = 64;

}  // namespace

Actor::Actor(Core& core, const ActorOptions& options, std::shared_ptr<Object> construction)
    : number_(core.next_number()),
      name_(options.name),
      max_pending_calls_(options.max_pending_calls),
      serializes_(core.serializes()),
      construction_(std::move(construction)),
      mailbox_(core.sockets(), number_) {
  mailbox_.send(construction_);
}

Actor::~Actor() {
  mailbox_.close();
}

ActorClaim Actor::claim() {
  return {this, [self = shared_from_this()](Actor* /*actor*/) { self->mailbox_.send_end(); }};
}

bool Actor::Held::may_go() const {
  return call->settled() || first_failure(dependencies) != nullptr ||
         std::ranges::all_of(dependencies, [](const auto& object) { return object->settled(); });
}

void Actor::submit(const ActorClaim& claim, const std::shared_ptr<Object>& call,
                   std::vector<std::shared_ptr<Object>> dependencies) {
  const CallerId caller = current_caller();
  {
    std::unique_lock lock(mutex_);
    if (death_) {
      Failure death = *death_;
      lock.unlock();
      call->fail(std::move(death));
      return;
    }
    admit(call);
    if (dependencies.empty() && !held_.contains(caller)) {
      lock.unlock();
      mailbox_.send(call);  // refused if the actor has just died; the call has failed then
      return;
    }
    held_[caller].push_back({claim, call, dependencies});
  }
  const auto release = [claim, caller] { claim->release_held(caller); };
  // also when it depends on nothing: the calls before it may have gone meanwhile
  after_all(dependencies, release);
  after_all({call}, release);  // it may be cancelled
}

/// Under the lock: counts a call as pending.
void Actor::admit(const std::shared_ptr<Object>& call) {
  const auto full = [&] {
    return max_pending_calls_ && std::cmp_greater_equal(pending_.size(), *max_pending_calls_);
  };
  if (full()) forget_settled();
  if (full()) {
    throw PendingCallsError(fmt::format("actor {}: {}: max_pending_calls = {} are unfinished",
                                        name_, call->name(), *max_pending_calls_));
  }
  pending_.push_back(call);
}

/// Under the lock.
void Actor::forget_settled() {
  std::erase_if(pending_, [](const auto& call) { return call->settled(); });
}

/// Forgets settled calls seldom enough to cost little, and often enough that no more than about
/// half of those known have settled.
void Actor::after_call() {
  if (++num_served_ % kFewCalls != 0) return;
  const std::lock_guard lock(mutex_);
  if (num_served_ < pending_.size() / 2) return;
  forget_settled();
  num_served_ = 0;
}

/// Sends the caller's held calls, up to the first that has to wait.
void Actor::release_held(const CallerId& caller) {
  std::vector<Held> gone;  // outlives the lock: it may hold the last of something
  {
    const std::lock_guard lock(mutex_);
    const auto entry = held_.find(caller);
    if (entry == held_.end()) return;
    std::deque<Held>& queue = entry->second;
    for (; !queue.empty() && queue.front().may_go(); queue.pop_front()) {
      gone.push_back(std::move(queue.front()));
      const Held& held = gone.back();
      if (first_failure(held.dependencies) == nullptr) mailbox_.send(held.call);
    }
    if (queue.empty()) held_.erase(entry);
  }
  for (const Held& held : gone) {
    if (const Failure* const failure = first_failure(held.dependencies)) held.call->fail(*failure);
  }
}

void Actor::on_settled(const Object& construction) noexcept {
  const Failure* const failure = construction.failure();
  if (failure == nullptr) return;
  die({.type = Failure::Type::actor_died,
       .kind = failure->kind,
       .text = fmt::format("actor {}: {}", name_, failure->text)});
}

void Actor::kill(Failure why) {
  die(why);
  construction_->interrupt(std::move(why));
  mailbox_.send_end();
}

/// Fails all pending calls; later ones fail the same way. No effect on the dead.
void Actor::die(Failure why) {
  std::vector<std::shared_ptr<Object>> pending;
  std::map<CallerId, std::deque<Held>> held;
  bool started = false;
  {
    const std::lock_guard lock(mutex_);
    if (death_) return;
    death_ = why;
    pending.swap(pending_);
    held.swap(held_);
    started = started_;
  }
  // newest first: the oldest may run, and once it stops nothing must be left to begin
  for (const auto& call : pending | std::views::reverse) call->interrupt(why);
  if (!started) mailbox_.close();  // there will be no thread
}

void Actor::run(const std::shared_ptr<Core>& core) {
  {
    const std::lock_guard lock(mutex_);
    if (death_) return;
    started_ = true;
  }
  Context context{.core = core, .number = number_, .cpus = cpus(), .stop = core->ending()};
  const ContextScope scope(context);
  serve(context);
}

/// Serves calls in order of arrival until the actor's end; then all that is left fails.
void Actor::serve(Context& context) {
  Instance instance;
  const std::string who = "actor " + name_ + ": ";
  while (const std::optional<Message> message = mailbox_.receive()) {
    const bool constructs = message->call == construction_;
    execute(*message, instance, context, constructs ? "" : who);
    if (!instance) break;  // on_settled has said why
    after_call();
  }
  die({.type = Failure::Type::actor_died, .text = fmt::format("actor {} has ended", name_)});
  mailbox_.close();
}

}  // namespace knurl::runtime::detail
