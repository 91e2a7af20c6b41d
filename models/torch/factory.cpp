#include "knurl/models/torch/factory.h"

#include <ATen/Parallel.h>
#include <dlfcn.h>
#include <torch/version.h>

#include "knurl/models/torch/torch_net.h"

namespace knurl {
namespace {

std::unique_ptr<TrainableNet> make_net(const NetSpec& spec, const Weights& weights) {
  return std::make_unique<TorchNet>(spec, weights);
}

/// A function of the BLAS that LibTorch uses, or null.
void* blas_symbol(const char* name) {
  void* blas = dlopen("libblas.so.3", RTLD_NOW | RTLD_NOLOAD);  // never unloaded: LibTorch holds it
  return blas ? dlsym(blas, name) : nullptr;
}

/// OpenBLAS has threads of its own beside LibTorch's: both get the same bound.
void set_num_threads(int num_threads) {
  at::set_num_threads(num_threads);
  if (void* symbol = blas_symbol("openblas_set_num_threads")) {
    reinterpret_cast<void (*)(int)>(symbol)(num_threads);
  }
}

/// Debian's LibTorch takes whatever provides libblas.so.3; its own fallback is 7 times slower.
std::string slow_blas_warning() {
  for (const char* fast : {"openblas_get_config", "bli_info_get_version_str", "mkl_get_version"}) {
    if (blas_symbol(fast)) return "";
  }
  return "LibTorch runs on the reference BLAS, several times slower than it could: install "
         "libopenblas0-pthread";
}

constexpr TorchFactory kFactory{make_net, set_num_threads, slow_blas_warning, TORCH_VERSION};

}  // namespace
}  // namespace knurl

extern "C" const knurl::TorchFactory* knurl_torch_factory() {
  return &knurl::kFactory;
}
