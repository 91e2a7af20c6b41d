#include "knurl/core/runtime/detail/object.h"

#include <algorithm>
#include <deque>

#include "knurl/core/runtime/detail/names.h"
#include "knurl/core/runtime/errors.h"

namespace knurl::runtime::detail {
namespace {

/// Tells listeners one after the other. A listener that settles further objects only adds to the
/// work of the call that told it: a long chain of failures needs no deep stack.
void tell(std::vector<std::shared_ptr<Listener>> listeners, std::shared_ptr<Object> object) {
  struct News {
    std::vector<std::shared_ptr<Listener>> listeners;
    std::shared_ptr<Object> object;
  };
  thread_local std::deque<News>* untold = nullptr;

  if (listeners.empty()) return;
  if (untold != nullptr) {
    untold->push_back({std::move(listeners), std::move(object)});
    return;
  }
  std::deque<News> queue;
  queue.push_back({std::move(listeners), std::move(object)});
  untold = &queue;
  for (; !queue.empty(); queue.pop_front()) {
    const News news = std::move(queue.front());
    for (const auto& listener : news.listeners) listener->on_settled(*news.object);
  }
  untold = nullptr;
}

}  // namespace

void Failure::raise() const {
  switch (type) {
    case Type::cancelled:
      throw CancelledError(text);
    case Type::actor_died:
      throw ActorDiedError(kind, text);
    case Type::error:
      break;
  }
  throw Error(kind, text);
}

Failure current_failure(const std::string& place) {
  try {
    throw;
  } catch (const Error& error) {
    return {.kind = error.kind(), .text = error.what()};
  } catch (...) {
    return {.text = fmt::format("{}: {}", place, current_exception_text())};
  }
}

Object::Object(std::unique_ptr<Box> value) : status_(Status::fulfilled), value_(std::move(value)) {}

Object::Object(Work work)
    : operation_(work.operation),
      label_(std::move(work.label)),
      function_(work.function),
      cpus_(work.cpus),
      arguments_(std::move(work.arguments)) {}

void Object::pack() {
  ByteWriter out;
  write(out, reinterpret_cast<std::uintptr_t>(operation_));
  arguments_->save(out);
  packed_ = out.take_bytes();
  kept_ = out.take_kept();
  arguments_.reset();
}

std::vector<std::byte> Object::take_packed() {
  const std::lock_guard lock(mutex_);
  return std::move(packed_);
}

std::string Object::name() const {
  if (operation_ == nullptr) return "a value that was put";
  if (function_ == nullptr) return std::string(operation_->name);
  if (!label_.empty()) return "task " + label_;
  return "task " + function_name(function_).value_or(std::string(operation_->name));
}

std::optional<Object::Begun> Object::begin() {
  const std::lock_guard lock(mutex_);
  if (settled()) return std::nullopt;
  stop_ = std::stop_source();
  return Begun{std::move(arguments_), std::move(kept_), stop_};
}

/// Under the lock, with value or failure in place.
std::vector<std::shared_ptr<Listener>> Object::settle(Status status) {
  status_.store(status, std::memory_order_release);
  return std::exchange(listeners_, {});
}

void Object::fulfil(std::unique_ptr<Box> value) {
  std::vector<std::shared_ptr<Listener>> listeners;
  {
    const std::lock_guard lock(mutex_);
    if (settled()) return;
    if (num_claims_.load(std::memory_order_acquire) > 0) value_ = std::move(value);
    listeners = settle(Status::fulfilled);
  }
  tell(std::move(listeners), shared_from_this());
}

void Object::fail(Failure failure) {
  std::vector<std::shared_ptr<Listener>> listeners;
  // let go of outside the lock: what they hold may be the last of something
  std::unique_ptr<Arguments> arguments;
  std::vector<std::byte> packed;
  std::vector<std::shared_ptr<void>> kept;
  {
    const std::lock_guard lock(mutex_);
    if (settled()) return;
    failure_ = std::move(failure);
    arguments = std::move(arguments_);
    packed = std::move(packed_);
    kept = std::move(kept_);
    listeners = settle(Status::failed);
  }
  tell(std::move(listeners), shared_from_this());
}

void Object::interrupt(Failure failure) {
  fail(std::move(failure));
  std::stop_source running(std::nostopstate);
  {
    const std::lock_guard lock(mutex_);
    running = stop_;
  }
  running.request_stop();
}

const Failure* Object::failure() const {
  return status() == Status::failed ? &failure_ : nullptr;
}

Box& Object::value() const {
  if (const Failure* const why = failure()) why->raise();
  return *value_;
}

bool Object::listen(std::shared_ptr<Listener> listener) {
  const std::lock_guard lock(mutex_);
  if (settled()) return false;
  listeners_.push_back(std::move(listener));
  return true;
}

void Object::forget(const Listener* listener) {
  if (settled()) return;
  const std::lock_guard lock(mutex_);
  std::erase_if(listeners_, [&](const auto& known) { return known.get() == listener; });
}

std::uint64_t Object::number(std::uint64_t fresh) {
  std::uint64_t known = 0;
  return number_.compare_exchange_strong(known, fresh) ? fresh : known;
}

void Object::drop_value() {
  std::unique_ptr<Box> value;
  const std::lock_guard lock(mutex_);
  value = std::move(value_);
}

Claim::~Claim() {
  if (object_ && object_->num_claims_.fetch_sub(1, std::memory_order_acq_rel) == 1) {
    object_->drop_value();
  }
}

const Failure* first_failure(const std::vector<std::shared_ptr<Object>>& objects) {
  for (const auto& object : objects) {
    if (const Failure* const failure = object->failure()) return failure;
  }
  return nullptr;
}

}  // namespace knurl::runtime::detail
