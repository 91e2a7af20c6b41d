#include "knurl/core/runtime/detail/thread_group.h"

#include <system_error>
#include <utility>

#include "knurl/core/base/error.h"

namespace knurl::runtime::detail {

void ThreadGroup::start(std::string name, std::function<void()> body) {
  std::vector<std::thread> ended;
  {
    const std::lock_guard lock(mutex_);
    if (closed_) fail(ErrorKind::actor, "the runtime is ending and starts no more threads");
    ended.swap(ended_);
    const std::uint64_t id = next_id_++;
    try {
      std::thread thread([this, id, body = std::move(body)] {
        body();
        end(id);
      });
      running_.emplace(id, Named{std::move(name), std::move(thread)});
    } catch (const std::system_error& error) {
      fail(ErrorKind::actor, "no thread could be started beside {} others: {}", running_.size(),
           error.what());
    }
  }
  for (std::thread& thread : ended) thread.join();
}

void ThreadGroup::end(std::uint64_t id) {
  const std::lock_guard lock(mutex_);
  const auto self = running_.find(id);
  if (self == running_.end()) return;  // left behind
  ended_.push_back(std::move(self->second.thread));
  running_.erase(self);
  ended_some_.notify_all();
}

std::vector<std::string> ThreadGroup::join_all(std::chrono::steady_clock::time_point deadline) {
  std::unique_lock lock(mutex_);
  closed_ = true;
  ended_some_.wait_until(lock, deadline, [&] { return running_.empty(); });
  std::vector<std::string> left_behind;
  for (auto& [id, named] : running_) {
    named.thread.detach();
    left_behind.push_back(std::move(named.name));
  }
  running_.clear();
  std::vector<std::thread> ended = std::exchange(ended_, {});
  lock.unlock();
  for (std::thread& thread : ended) thread.join();
  return left_behind;
}

}  // namespace knurl::runtime::detail
