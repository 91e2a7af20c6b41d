#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <vector>

#include <zmq.hpp>

#include "knurl/core/runtime/detail/object.h"

namespace knurl::runtime::detail {

/// A call as it arrives.
struct Message {
  std::shared_ptr<Object> call;
  /// The packed call, if it travelled as bytes.
  [[nodiscard]] std::span<const std::byte> packed() const;

  zmq::message_t frame;
};

/// The queue of calls in front of one thread: a ZeroMQ pipe within the process. Any thread sends,
/// one receives.
class Mailbox {
 public:
  /// `id` is unique in the context. Throws Error(actor) when the process is out of sockets.
  Mailbox(zmq::context_t& context, std::uint64_t id);

  /// Never blocks. False when the mailbox is closed.
  bool send(const std::shared_ptr<Object>& call);
  /// The receiver will see the end once it has received all that was sent before.
  void send_end();

  /// Blocks until something arrives; nothing at the end. The receiving thread only.
  std::optional<Message> receive();
  /// Takes no more and returns the calls that nobody has received. The receiving thread only.
  std::vector<std::shared_ptr<Object>> close();

 private:
  bool send(Object* call, std::span<const std::byte> packed);

  zmq::socket_t receiver_;
  std::uint64_t num_received_ = 0;

  std::mutex mutex_;  // guards what follows
  zmq::socket_t sender_;
  bool closed_ = false;

  // ZeroMQ orders memory by means that thread sanitizers do not see: this counter, which goes up
  // before a message is sent, shows the order
  std::atomic<std::uint64_t> num_written_ = 0;
  // goes up after it was sent: then receiving does not block
  std::atomic<std::uint64_t> num_sent_ = 0;
};

}  // namespace knurl::runtime::detail
