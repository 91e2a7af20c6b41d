#include "knurl/models/fast/kernels.h"

#include <cstdlib>
#include <string_view>

#include "knurl/core/base/error.h"

namespace knurl::fast {

extern const Kernels kKernels_baseline;
#ifdef KNURL_X86_KERNELS
extern const Kernels kKernels_v3;
extern const Kernels kKernels_v4;
#endif

std::size_t available_kernels(const Kernels* (&out)[3]) {
  std::size_t n = 0;
#ifdef KNURL_X86_KERNELS
  if (__builtin_cpu_supports("x86-64-v4")) out[n++] = &kKernels_v4;
  if (__builtin_cpu_supports("x86-64-v3")) out[n++] = &kKernels_v3;
#endif
  out[n++] = &kKernels_baseline;
  return n;
}

const Kernels& kernels() {
  static const Kernels& chosen = []() -> const Kernels& {
    const Kernels* available[3] = {};
    const std::size_t n = available_kernels(available);
    const char* wanted = std::getenv("KNURL_ISA");
    if (!wanted) return *available[0];
    for (std::size_t i = 0; i < n; ++i) {
      if (std::string_view(available[i]->name) == wanted) return *available[i];
    }
    fail(ErrorKind::config, "KNURL_ISA = {}: this machine runs {} and older", wanted,
         available[0]->name);
  }();
  return chosen;
}

}  // namespace knurl::fast
