#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include "knurl/core/runtime/detail/names.h"
#include "knurl/core/runtime/detail/slots.h"

/// The operations of tasks, actor methods and actor constructors: one constant for each function
/// type, method and constructor that the program uses.
namespace knurl::runtime::detail {

/// A plain function of the program's image.
struct FunctionAddress {
  std::uintptr_t address = 0;
};

/// Result and parameters of a function, and a call of it with arguments from slots.
template <class F>
struct Signature;

template <class R, class... P>
struct Signature<R(P...)> {
  static_assert(std::is_void_v<R> || Serialisable<Kept<R>>,
                "the result of a task or actor method has to be Serialisable: see "
                "knurl/core/base/bytes.h");
  static constexpr std::size_t kNumParameters = sizeof...(P);
  using Result = R;
  using Parameters = Slots<std::remove_cvref_t<P>...>;

  static std::unique_ptr<Box> run(Arguments& arguments, auto&& function) {
    return box_result<R>([&]() -> R {
      return static_cast<Parameters&>(arguments).template pass_to<P...>(function);
    });
  }
};

template <class R, class... P>
struct Signature<R (*)(P...)> : Signature<R(P...)> {};
template <class R, class... P>
struct Signature<R (*)(P...) noexcept> : Signature<R(P...)> {};
template <class T, class R, class... P>
struct Signature<R (T::*)(P...)> : Signature<R(P...)> {};
template <class T, class R, class... P>
struct Signature<R (T::*)(P...) const> : Signature<R(P...)> {};
template <class T, class R, class... P>
struct Signature<R (T::*)(P...) noexcept> : Signature<R(P...)> {};
template <class T, class R, class... P>
struct Signature<R (T::*)(P...) const noexcept> : Signature<R(P...)> {};

template <class Call, class... Argument>
std::unique_ptr<Arguments> arguments_for(Argument&&... argument) {
  static_assert(sizeof...(Argument) == Call::kNumParameters,
                "a call takes as many arguments as its function has parameters");
  return std::make_unique<typename Call::Parameters>(std::in_place,
                                                     std::forward<Argument>(argument)...);
}

template <class Call>
constexpr Operation operation_of(std::string_view name,
                                 std::unique_ptr<Box> (*run)(Instance&, Arguments&)) {
  return {name, run, &Call::Parameters::load, &load_result<typename Call::Result>};
}

/// A task: its first argument is the function's address.
template <class F>
struct TaskOperation;

template <class R, class... P>
struct TaskOperation<R (*)(P...)> {
  using Call = Signature<R(FunctionAddress, P...)>;

  static std::unique_ptr<Box> run(Instance& /*none*/, Arguments& arguments) {
    return Call::run(arguments, [](FunctionAddress function, auto&&... argument) -> R {
      return reinterpret_cast<R (*)(P...)>(function.address)(
          std::forward<decltype(argument)>(argument)...);
    });
  }
  static constexpr Operation kOperation = operation_of<Call>(type_name<R(P...)>(), &run);
};

template <class R, class... P>
struct TaskOperation<R (*)(P...) noexcept> : TaskOperation<R (*)(P...)> {};

/// A method of an actor of class T, which may be a base's.
template <class T, auto Method>
struct MethodOperation {
  using Call = Signature<decltype(Method)>;

  static std::unique_ptr<Box> run(Instance& instance, Arguments& arguments) {
    T& actor = *static_cast<T*>(instance.get());
    return Call::run(arguments, [&](auto&&... argument) -> typename Call::Result {
      return (actor.*Method)(std::forward<decltype(argument)>(argument)...);
    });
  }
  static constexpr Operation kOperation = operation_of<Call>(method_name<Method>(), &run);
};

/// The constructor of an actor of class T with parameters P.
template <class T, class... P>
struct ConstructorOperation {
  static_assert(std::is_constructible_v<T, P...>,
                "the actor's class has no constructor for these arguments");
  using Call = Signature<void(P...)>;

  static std::unique_ptr<Box> run(Instance& instance, Arguments& arguments) {
    return Call::run(arguments, [&](auto&&... argument) {
      instance = std::make_shared<T>(std::forward<decltype(argument)>(argument)...);
    });
  }
  static constexpr Operation kOperation = operation_of<Call>("constructor", &run);
};

template <class T>
struct Referred {
  using Type = T;
};
template <class T>
struct Referred<ObjectRef<T>> {
  using Type = T;
};

/// What an argument of type A is kept as until the constructor runs.
template <class A>
using Stored =
    std::conditional_t<std::is_same_v<std::decay_t<A>, const char*>, std::string, std::decay_t<A>>;

/// The constructor for arguments A: refs are passed on if there is one that takes them so, else
/// their values are.
template <class T, class... A>
using ConstructorFor = std::conditional_t<
    std::is_constructible_v<T, Stored<A>...>,
    std::type_identity<ConstructorOperation<T, Stored<A>...>>,
    std::type_identity<ConstructorOperation<T, typename Referred<Stored<A>>::Type...>>>::type;

}  // namespace knurl::runtime::detail
