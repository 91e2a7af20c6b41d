#include "knurl/core/runtime/detail/api.h"

#include <algorithm>
#include <string>
#include <utility>

#include "knurl/core/base/clock.h"
#include "knurl/core/runtime/detail/core.h"
#include "knurl/core/runtime/detail/waiting.h"
#include "knurl/core/runtime/errors.h"

namespace knurl::runtime::detail {
namespace {

void check_wait(std::span<Object* const> objects, const WaitOptions& options) {
  if (options.num_returns < 1 || std::cmp_greater(options.num_returns, objects.size())) {
    fail(ErrorKind::config, "wait: num_returns = {}: must be in [1, {}], the number of refs",
         options.num_returns, objects.size());
  }
  std::vector<Object*> sorted(objects.begin(), objects.end());
  std::ranges::sort(sorted);
  if (std::ranges::adjacent_find(sorted) != sorted.end()) {
    fail(ErrorKind::config, "wait: the same ref is there twice: refs must be distinct");
  }
}

}  // namespace

Claim put(Core& core, std::unique_ptr<Box> value) {
  core.require_running();
  return Claim(std::make_shared<Object>(std::move(value)));
}

Claim submit_task(Core& core, Work work, TaskOptions options) {
  work.cpus = cpus_of(options.num_cpus, options.name.empty() ? "task" : "task " + options.name);
  work.label = std::move(options.name);
  return core.submit_task(std::move(work));
}

ActorClaim start_actor(Core& core, Work construction, ActorOptions options,
                       std::string_view class_name) {
  if (options.name.empty()) options.name = class_name;
  construction.cpus = cpus_of(options.num_cpus, "actor " + options.name);
  return core.start_actor(std::move(construction), options);
}

Claim submit_call(const ActorClaim& actor, Work work) {
  std::vector<std::shared_ptr<Object>> dependencies;
  work.arguments->add_dependencies(dependencies);
  auto call = std::make_shared<Object>(std::move(work));
  if (actor->serializes()) call->pack();
  Claim claim(call);
  actor->submit(actor, call, std::move(dependencies));
  return claim;
}

void await_values(Core& core, std::span<Object* const> objects, Timeout timeout) {
  const auto fulfilled = [](const Object* object) {
    return object->settled() && object->failure() == nullptr;
  };
  if (std::ranges::all_of(objects, fulfilled)) return;

  const WaitGoal all{.num_settled = objects.size(), .failures = WaitGoal::Failures::end_the_wait};
  const bool settled = wait_for(core, objects, all, timeout);
  const Object* missing = nullptr;
  for (const Object* const object : objects) {
    if (const Failure* const failure = object->failure()) failure->raise();
    if (missing == nullptr && !object->settled()) missing = object;
  }
  if (settled || missing == nullptr) return;
  throw TimeoutError(
      fmt::format("get of {}: timed out after {} s", missing->name(), seconds(*timeout)));
}

std::vector<bool> wait(Core& core, std::span<Object* const> objects, WaitOptions options) {
  check_wait(objects, options);
  auto num_left = static_cast<std::size_t>(options.num_returns);
  wait_for(core, objects, {.num_settled = num_left}, options.timeout);
  std::vector<bool> ready;
  for (const Object* const object : objects) {
    ready.push_back(num_left > 0 && object->settled());
    if (ready.back()) --num_left;
  }
  return ready;
}

void cancel(Object& object) {
  object.interrupt(
      {.type = Failure::Type::cancelled, .text = fmt::format("{} was cancelled", object.name())});
}

void kill(Actor& actor) {
  actor.kill({.type = Failure::Type::actor_died,
              .text = fmt::format("actor {} was killed", actor.name())});
}

}  // namespace knurl::runtime::detail
