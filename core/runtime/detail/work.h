#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "knurl/core/base/bytes.h"

namespace knurl::runtime::detail {

class Object;

/// CPUs in steps of 1/10,000, so that fractions add up exactly.
using Cpus = std::int64_t;

/// A value of some type behind one pointer.
class Box {
 public:
  virtual ~Box() = default;
  virtual void save(ByteWriter& out) const = 0;
};

template <class T>
class BoxOf final : public Box {
 public:
  template <class Value>
  explicit BoxOf(std::in_place_t /*tag*/, Value&& v) : value(std::forward<Value>(v)) {}

  void save(ByteWriter& out) const override { write(out, value); }

  T value;
};

/// The arguments of one call.
class Arguments {
 public:
  virtual ~Arguments() = default;
  virtual void save(ByteWriter& out) const = 0;
  /// Appends the objects whose values the call needs.
  virtual void add_dependencies(std::vector<std::shared_ptr<Object>>& out) const = 0;
};

/// The object of the user's class that an actor's calls work on; empty for a task.
using Instance = std::shared_ptr<void>;

/// How a call is made. Constant data and plain functions of the program's image, so that the
/// address of an operation can stand for it in a message.
struct Operation {
  std::string_view name;
  /// Throws what the user's code throws.
  std::unique_ptr<Box> (*run)(Instance& instance, Arguments& arguments);
  std::unique_ptr<Arguments> (*load_arguments)(ByteReader& in);
  std::unique_ptr<Box> (*load_result)(ByteReader& in);
};

/// What it takes to make the value of an object.
struct Work {
  const Operation* operation = nullptr;
  std::unique_ptr<Arguments> arguments = nullptr;
  const void* function = nullptr;  ///< of a task
  std::string label = {};  ///< what messages call the task; if empty, they name its function
  Cpus cpus = 0;
};

}  // namespace knurl::runtime::detail
