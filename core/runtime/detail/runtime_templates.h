#pragma once

#include "knurl/core/runtime/detail/api.h"
#include "knurl/core/runtime/detail/operations.h"
#include "knurl/core/runtime/runtime.h"

/// The template members of Runtime.
namespace knurl::runtime {
namespace detail {

/// Converts to a function pointer.
template <class F>
concept PlainFunction = requires(F function) {
  requires std::is_pointer_v<decltype(+function)>;
};

template <class T>
std::vector<Object*> objects_of(const std::vector<ObjectRef<T>>& refs) {
  std::vector<Object*> objects;
  objects.reserve(refs.size());
  for (const auto& ref : refs) objects.push_back(Access::claim(ref).object().get());
  return objects;
}

template <class T>
void await_value(Core& core, const ObjectRef<T>& ref, Timeout timeout) {
  Object* const object = Access::claim(ref).object().get();
  await_values(core, {&object, 1}, timeout);
}

}  // namespace detail

template <class T>
ObjectRef<std::decay_t<T>> Runtime::put(T&& value) const {
  using Value = std::decay_t<T>;
  static_assert(Serialisable<Value>,
                "a value that is put has to be Serialisable: see knurl/core/base/bytes.h");
  return detail::Access::make<ObjectRef<Value>>(detail::put(
      *core_, std::make_unique<detail::BoxOf<Value>>(std::in_place, std::forward<T>(value))));
}

template <detail::NotVoid T>
const T& Runtime::get(const ObjectRef<T>& ref, Timeout timeout) const {
  detail::await_value(*core_, ref, timeout);
  return detail::view(ref);
}

template <detail::NotVoid T>
T Runtime::get(ObjectRef<T>&& ref, Timeout timeout) const {
  detail::await_value(*core_, ref, timeout);
  return detail::take(std::move(ref));
}

template <detail::NotVoid T>
std::vector<T> Runtime::get(std::vector<ObjectRef<T>> refs, Timeout timeout) const {
  detail::await_values(*core_, detail::objects_of(refs), timeout);
  std::vector<T> values;
  values.reserve(refs.size());
  for (ObjectRef<T>& ref : refs) values.push_back(detail::take(std::move(ref)));
  return values;
}

template <class T>
WaitResult<T> Runtime::wait(const std::vector<ObjectRef<T>>& refs, WaitOptions options) const {
  const std::vector<bool> ready = detail::wait(*core_, detail::objects_of(refs), options);
  WaitResult<T> result;
  for (std::size_t i = 0; i < refs.size(); ++i) {
    (ready[i] ? result.ready : result.pending).push_back(refs[i]);
  }
  return result;
}

template <class T>
void Runtime::cancel(const ObjectRef<T>& ref) const {
  detail::cancel(*detail::Access::claim(ref).object());
}

template <detail::OtherThan<TaskOptions> F, class... Argument>
auto Runtime::task(F function, Argument&&... argument) const {
  return task(TaskOptions{}, function, std::forward<Argument>(argument)...);
}

template <class F, class... Argument>
auto Runtime::task(TaskOptions options, F function, Argument&&... argument) const {
  static_assert(detail::PlainFunction<F>,
                "a task is a plain function, or a lambda that captures nothing: pass what it needs "
                "as arguments");
  using Operation = detail::TaskOperation<decltype(+function)>;
  using Result = detail::ResultRef<typename Operation::Call::Result>;
  const auto address = reinterpret_cast<std::uintptr_t>(+function);
  return detail::Access::make<Result>(detail::submit_task(
      *core_,
      {.operation = &Operation::kOperation,
       .arguments = detail::arguments_for<typename Operation::Call>(
           detail::FunctionAddress{address}, std::forward<Argument>(argument)...),
       .function = reinterpret_cast<const void*>(address)},
      std::move(options)));
}

template <class T, class... Argument>
ActorHandle<T> Runtime::actor(ActorOptions options, Argument&&... argument) const {
  using Operation = detail::ConstructorFor<T, Argument...>;
  return detail::Access::make<ActorHandle<T>>(detail::start_actor(
      *core_,
      {.operation = &Operation::kOperation,
       .arguments =
           detail::arguments_for<typename Operation::Call>(std::forward<Argument>(argument)...)},
      std::move(options), detail::type_name<T>()));
}

template <class T, detail::OtherThan<ActorOptions>... Argument>
ActorHandle<T> Runtime::actor(Argument&&... argument) const {
  return actor<T>(ActorOptions{}, std::forward<Argument>(argument)...);
}

template <class T>
void Runtime::kill(const ActorHandle<T>& handle) const {
  detail::kill(*detail::Access::claim(handle));
}

}  // namespace knurl::runtime
