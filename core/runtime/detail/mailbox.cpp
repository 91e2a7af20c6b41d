#include "knurl/core/runtime/detail/mailbox.h"

#include <cerrno>
#include <cstring>
#include <string>

#include "knurl/core/runtime/detail/spin.h"

namespace knurl::runtime::detail {
namespace {

zmq::socket_t open_socket(zmq::context_t& context, zmq::socket_type type) {
  try {
    zmq::socket_t socket(context, type);
    // before any connection: options that come later may not count
    socket.set(zmq::sockopt::linger, 0);
    socket.set(zmq::sockopt::sndhwm, 0);
    socket.set(zmq::sockopt::rcvhwm, 0);
    return socket;
  } catch (const zmq::error_t& error) {
    fail(ErrorKind::actor,
         "no socket for another actor or task: {}: each thread of the runtime takes two "
         "file descriptors (see ulimit -n)",
         error.what());
  }
}

/// Repeats a socket operation that a signal interrupted.
template <class Operation>
auto uninterrupted(Operation operation) {
  for (;;) {
    try {
      return operation();
    } catch (const zmq::error_t& error) {
      if (error.num() != EINTR) throw;
    }
  }
}

}  // namespace

std::span<const std::byte> Message::packed() const {
  const std::span all(static_cast<const std::byte*>(frame.data()), frame.size());
  return all.subspan(sizeof(Object*));
}

Mailbox::Mailbox(zmq::context_t& context, std::uint64_t id)
    : receiver_(open_socket(context, zmq::socket_type::pull)),
      sender_(open_socket(context, zmq::socket_type::push)) {
  const std::string address = "inproc://mailbox-" + std::to_string(id);
  receiver_.bind(address);
  sender_.connect(address);
}

bool Mailbox::send(const std::shared_ptr<Object>& call) {
  return send(call.get(), call->take_packed());
}

void Mailbox::send_end() {
  send(nullptr, {});
}

bool Mailbox::send(Object* call, std::span<const std::byte> packed) {
  zmq::message_t frame(sizeof(call) + packed.size());
  std::memcpy(frame.data(), &call, sizeof(call));
  if (!packed.empty()) {
    std::memcpy(frame.data<std::byte>() + sizeof(call), packed.data(), packed.size());
  }
  const std::lock_guard lock(mutex_);
  if (closed_) return false;
  if (call != nullptr) call->hold_in_flight();
  num_written_.fetch_add(1, std::memory_order_release);
  uninterrupted([&] { return sender_.send(frame, zmq::send_flags::dontwait); });
  num_sent_.fetch_add(1, std::memory_order_release);
  return true;
}

std::optional<Message> Mailbox::receive() {
  spin_until([&] { return num_sent_.load(std::memory_order_relaxed) > num_received_; });
  Message message;
  if (!uninterrupted([&] { return receiver_.recv(message.frame); })) return std::nullopt;
  num_written_.load(std::memory_order_acquire);
  ++num_received_;
  Object* call = nullptr;
  std::memcpy(&call, message.frame.data(), sizeof(call));
  if (call == nullptr) return std::nullopt;
  message.call = call->take_from_flight();
  return message;
}

std::vector<std::shared_ptr<Object>> Mailbox::close() {
  const std::lock_guard lock(mutex_);
  std::vector<std::shared_ptr<Object>> unreceived;
  if (std::exchange(closed_, true)) return unreceived;
  num_written_.load(std::memory_order_acquire);
  zmq::message_t frame;
  while (uninterrupted([&] { return receiver_.recv(frame, zmq::recv_flags::dontwait); })) {
    Object* call = nullptr;
    std::memcpy(&call, frame.data(), sizeof(call));
    if (call != nullptr) unreceived.push_back(call->take_from_flight());
  }
  sender_.close();
  receiver_.close();
  return unreceived;
}

}  // namespace knurl::runtime::detail
