#pragma once

#include <string>

#include "knurl/core/base/error.h"

namespace knurl::runtime {

/// A `get` whose timeout passed before the value was there. The work goes on.
class TimeoutError : public Error {
 public:
  explicit TimeoutError(const std::string& message) : Error(ErrorKind::actor, message) {}
};

/// The work was cancelled, or dropped because its runtime ended.
class CancelledError : public Error {
 public:
  explicit CancelledError(const std::string& message) : Error(ErrorKind::actor, message) {}
};

/// The actor that should have done the work is no more. Its kind is `actor`, or that of the Error
/// which its constructor threw.
class ActorDiedError : public Error {
 public:
  using Error::Error;
};

/// An actor has as many unfinished calls as its options allow; nothing was queued.
class PendingCallsError : public Error {
 public:
  explicit PendingCallsError(const std::string& message) : Error(ErrorKind::actor, message) {}
};

}  // namespace knurl::runtime
