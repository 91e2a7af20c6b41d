#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

#include "knurl/core/base/error.h"
#include "knurl/core/runtime/detail/work.h"

namespace knurl::runtime::detail {

/// Why an object has no value, in a form that can be kept and thrown in any thread.
struct Failure {
  enum class Type { error, cancelled, actor_died };

  Type type = Type::error;
  ErrorKind kind = ErrorKind::actor;
  std::string text;

  [[noreturn]] void raise() const;
};

/// What the exception being handled becomes at the waiting `get`: an Error keeps kind and text, any
/// other is told with `place` before its text. Call inside a catch block only.
Failure current_failure(const std::string& place);

/// Is told when objects settle.
class Listener {
 public:
  virtual ~Listener() = default;
  /// In the thread that settled the object, once for each object, with no lock held.
  virtual void on_settled(const Object& object) noexcept = 0;
};

/// A value that is there, will be there or has failed: what refs refer to. Settles once. Safe from
/// any thread.
class Object : public std::enable_shared_from_this<Object> {
 public:
  /// What `begin` hands to the thread that does the work.
  struct Begun {
    std::unique_ptr<Arguments> arguments;  ///< none when they travel as bytes
    std::vector<std::shared_ptr<void>> kept;
    std::stop_source stop;
  };

  explicit Object(std::unique_ptr<Box> value);
  explicit Object(Work work);

  /// Turns the arguments into bytes, for calls that travel so. Before any other thread knows the
  /// object. Throws what a `save` throws.
  void pack();
  /// The bytes for the message that carries the call; none when it was not packed, or has settled.
  std::vector<std::byte> take_packed();

  /// The name that messages give the work.
  [[nodiscard]] std::string name() const;
  [[nodiscard]] const Operation& operation() const { return *operation_; }
  [[nodiscard]] Cpus cpus() const { return cpus_; }

  /// The work starts now; nothing when the object has settled before.
  std::optional<Begun> begin();
  /// The work is done. No effect on a settled object.
  void fulfil(std::unique_ptr<Box> value);
  /// There will be no value: drops the arguments. No effect on a settled object.
  void fail(Failure failure);
  /// As `fail`; asks running work to stop, too.
  void interrupt(Failure failure);

  [[nodiscard]] bool settled() const { return status() != Status::pending; }
  /// Null unless failed.
  [[nodiscard]] const Failure* failure() const;
  /// Of a settled object. Throws its failure.
  [[nodiscard]] Box& value() const;

  /// False when the object has settled already: the listener will not be told.
  bool listen(std::shared_ptr<Listener> listener);
  void forget(const Listener* listener);

  /// What messages from this process call the object: `fresh`, unless it had a number before.
  std::uint64_t number(std::uint64_t fresh);

  /// Keeps the object alive while a message has nothing but its address.
  void hold_in_flight() { in_flight_ = shared_from_this(); }
  std::shared_ptr<Object> take_from_flight() { return std::move(in_flight_); }

 private:
  friend class Claim;

  enum class Status { pending, fulfilled, failed };

  [[nodiscard]] Status status() const { return status_.load(std::memory_order_acquire); }
  std::vector<std::shared_ptr<Listener>> settle(Status status);
  void drop_value();

  const Operation* const operation_ = nullptr;
  const std::string label_;
  const void* const function_ = nullptr;
  const Cpus cpus_ = 0;

  std::atomic<Status> status_ = Status::pending;
  std::atomic<std::size_t> num_claims_ = 0;
  std::shared_ptr<Object> in_flight_;
  std::atomic<std::uint64_t> number_ = 0;  // 0: has none yet

  std::mutex mutex_;  // guards what follows; value_ and failure_ stand still once settled
  std::unique_ptr<Box> value_;
  Failure failure_;
  std::unique_ptr<Arguments> arguments_;
  std::vector<std::byte> packed_;
  std::vector<std::shared_ptr<void>> kept_;  // what the packed bytes refer to
  std::stop_source stop_{std::nostopstate};
  std::vector<std::shared_ptr<Listener>> listeners_;
};

/// One user's hold on an object. The value goes when its last claim does.
class Claim {
 public:
  Claim() = default;
  explicit Claim(std::shared_ptr<Object> object) : object_(std::move(object)) { add(); }
  Claim(const Claim& other) : object_(other.object_) { add(); }
  Claim(Claim&& other) noexcept = default;
  Claim& operator=(Claim other) noexcept {
    std::swap(object_, other.object_);
    return *this;
  }
  ~Claim();

  explicit operator bool() const { return object_ != nullptr; }
  bool operator==(const Claim&) const = default;
  [[nodiscard]] const std::shared_ptr<Object>& object() const { return object_; }
  Object* operator->() const { return object_.get(); }
  /// Nobody else can see the value.
  [[nodiscard]] bool sole() const {
    return object_->num_claims_.load(std::memory_order_acquire) == 1;
  }

 private:
  void add() {
    if (object_) object_->num_claims_.fetch_add(1, std::memory_order_relaxed);
  }

  std::shared_ptr<Object> object_;
};

/// The first failure among objects; null when none has failed.
const Failure* first_failure(const std::vector<std::shared_ptr<Object>>& objects);

}  // namespace knurl::runtime::detail
