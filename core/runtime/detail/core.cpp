#include "knurl/core/runtime/detail/core.h"

#include <algorithm>
#include <cstdlib>
#include <string>
#include <string_view>
#include <thread>
#include <utility>

#include "knurl/core/base/clock.h"
#include "knurl/core/base/log.h"
#include "knurl/core/runtime/detail/waiting.h"

namespace knurl::runtime::detail {
namespace {

/// Each thread of the runtime has two.
constexpr int kMostSockets = 16'384;

int num_cpus_of(const InitOptions& options) {
  const unsigned hardware = std::max(1U, std::thread::hardware_concurrency());
  const int num_cpus = options.num_cpus.value_or(static_cast<int>(hardware));
  if (num_cpus < 1) fail(ErrorKind::config, "init: num_cpus = {}: must be at least 1", num_cpus);
  return num_cpus;
}

bool wants_bytes(const InitOptions& options) {
  const char* const variable = std::getenv("KNURL_RUNTIME_SERIALIZE");
  return options.serialize || (variable != nullptr && std::string_view(variable) == "1");
}

void check_options(const ActorOptions& options, const std::string& who) {
  if (options.placement != Placement::thread) {
    fail(ErrorKind::config, "{}: placement = {}: not available yet, use Placement::thread", who,
         options.placement == Placement::process ? "process" : "node");
  }
  if (options.max_restarts < 0) {
    fail(ErrorKind::config, "{}: max_restarts = {}: must not be negative", who,
         options.max_restarts);
  }
  if (options.max_pending_calls && *options.max_pending_calls < 1) {
    fail(ErrorKind::config, "{}: max_pending_calls = {}: must be at least 1", who,
         *options.max_pending_calls);
  }
}

std::vector<std::shared_ptr<Object>> dependencies_of(const Work& work) {
  std::vector<std::shared_ptr<Object>> dependencies;
  work.arguments->add_dependencies(dependencies);
  return dependencies;
}

}  // namespace

Core::Core(const InitOptions& options)
    : serializes_(wants_bytes(options)),
      shutdown_timeout_(options.shutdown_timeout),
      scheduler_(cpus_of(num_cpus_of(options), "init")),
      workers_(static_cast<std::size_t>(num_cpus_of(options))) {
  if (shutdown_timeout_.count() < 0) {
    fail(ErrorKind::config, "init: shutdown_timeout = {} s: must not be negative",
         seconds(shutdown_timeout_));
  }
  sockets_.set(zmq::ctxopt::max_sockets, kMostSockets);
}

void Core::require_running() const {
  if (closed_) fail(ErrorKind::actor, "the runtime has ended: call knurl::init");
}

Claim Core::submit_task(Work work) {
  require_running();
  const auto dependencies = dependencies_of(work);
  const auto task = std::make_shared<Object>(std::move(work));
  scheduler_.require(task->cpus(), task->name());
  if (serializes_) task->pack();
  Claim claim(task);
  start_when_ready(dependencies, {.cpus = task->cpus(), .subject = task, .start = [this, task] {
                                    workers_.run(*this, task);
                                  }});
  return claim;
}

ActorClaim Core::start_actor(Work work, const ActorOptions& options) {
  require_running();
  const std::string who = "actor " + options.name;
  check_options(options, who);
  scheduler_.require(cpus_of(options.num_cpus, who), who);

  const auto dependencies = dependencies_of(work);
  const auto construction = std::make_shared<Object>(std::move(work));
  if (serializes_) construction->pack();
  const auto actor = std::make_shared<Actor>(*this, options, construction);
  construction->listen(actor);
  actors_.add(actor->number(), actor);
  ActorClaim claim = actor->claim();
  start_when_ready(dependencies, {.cpus = construction->cpus(),
                                  .subject = construction,
                                  .start = [this, actor] { start_thread(actor); }});
  // a shutdown that began meanwhile may have missed it
  if (closed_) actor->kill(ended_with_runtime(*actor));
  return claim;
}

void Core::start_when_ready(const std::vector<std::shared_ptr<Object>>& dependencies,
                            CpuRequest request) {
  after_all(dependencies, [core = shared_from_this(), dependencies, request = std::move(request)] {
    Object& subject = *request.subject;
    if (const Failure* const failure = first_failure(dependencies)) return subject.fail(*failure);
    if (!core->scheduler_.submit(request)) subject.fail(dropped_at_end(subject));
  });
}

void Core::start_thread(const std::shared_ptr<Actor>& actor) {
  threads_.start("actor " + actor->name(), [core = shared_from_this(), actor] {
    actor->run(core);
    core->scheduler_.release(actor->cpus());
  });
}

void Core::shut_down() {
  closed_ = true;  // nothing new
  // what waits goes before what runs is stopped: that would make room for the next
  for (const auto& subject : scheduler_.close()) subject->fail(dropped_at_end(*subject));
  for (const auto& actor : actors_.all()) actor->kill(ended_with_runtime(*actor));
  workers_.close();
  ending_.request_stop();

  const auto deadline = std::chrono::steady_clock::now() + shutdown_timeout_;
  const std::vector<std::string> left_behind = threads_.join_all(deadline);
  if (left_behind.empty()) return sockets_.close();
  // they keep this alive; to close what their sockets belong to would wait for them
  log(LogLevel::warning, "the runtime ended, but {} did not stop within {} s and {} left behind",
      fmt::join(left_behind, ", "), seconds(shutdown_timeout_),
      left_behind.size() == 1 ? "was" : "were");
}

Failure dropped_at_end(const Object& work) {
  return {.type = Failure::Type::cancelled,
          .text = fmt::format("{} was dropped: the runtime ended before it ran", work.name())};
}

Failure stopped_at_end(const Object& work) {
  return {.type = Failure::Type::cancelled,
          .text = fmt::format("{} was stopped: the runtime ended before it did", work.name())};
}

Failure ended_with_runtime(const Actor& actor) {
  return {.type = Failure::Type::cancelled,
          .text = fmt::format("actor {} ended with its runtime", actor.name())};
}

}  // namespace knurl::runtime::detail
