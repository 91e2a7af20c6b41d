#include "knurl/core/runtime/detail/names.h"

#include <dlfcn.h>

#include "knurl/core/base/error.h"

namespace knurl::runtime::detail {

std::optional<std::string> function_name(const void* address) {
  Dl_info info{};
  if (dladdr(address, &info) == 0 || info.dli_sname == nullptr || info.dli_saddr != address) {
    return std::nullopt;
  }
  const std::string signature = demangle(info.dli_sname);
  return signature.substr(0, signature.find('('));
}

}  // namespace knurl::runtime::detail
