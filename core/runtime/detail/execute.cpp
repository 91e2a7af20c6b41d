#include "knurl/core/runtime/detail/execute.h"

#include <utility>

#include "knurl/core/runtime/detail/core.h"

namespace knurl::runtime::detail {
namespace {

std::unique_ptr<Box> compute_here(const Operation& operation, Instance& instance,
                                  std::unique_ptr<Arguments> arguments) {
  return operation.run(instance, *arguments);
}

/// As another process would do it: arguments and result are bytes.
std::unique_ptr<Box> compute_from_bytes(std::span<const std::byte> packed, Instance& instance,
                                        std::vector<std::shared_ptr<void>> kept) {
  ByteReader in(packed);
  const auto* const operation = reinterpret_cast<const Operation*>(read<std::uintptr_t>(in));
  auto arguments = operation->load_arguments(in);
  kept.clear();  // the arguments themselves hold now what they refer to
  const auto result = compute_here(*operation, instance, std::move(arguments));
  ByteWriter out;
  result->save(out);
  ByteReader back(out.bytes());
  return operation->load_result(back);
}

}  // namespace

void execute(const Message& message, Instance& instance, Context& context, std::string_view who) {
  Object& call = *message.call;
  std::optional<Object::Begun> begun = call.begin();
  if (!begun) return;

  context.stop = begun->stop.get_token();
  try {
    const auto packed = message.packed();
    std::unique_ptr<Box> value =
        packed.empty() ? compute_here(call.operation(), instance, std::move(begun->arguments))
                       : compute_from_bytes(packed, instance, std::move(begun->kept));
    call.fulfil(std::move(value));  // by now the arguments are gone
  } catch (...) {
    call.fail(current_failure(fmt::format("{}{}", who, call.name())));
  }
  context.stop = context.core->ending();
}

}  // namespace knurl::runtime::detail
