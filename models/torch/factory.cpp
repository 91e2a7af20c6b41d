#include "knurl/models/torch/factory.h"

#include <ATen/Parallel.h>
#include <dlfcn.h>

#include "knurl/models/torch/torch_net.h"

namespace knurl {
namespace {

std::unique_ptr<TrainableNet> make_net(const NetSpec& spec, const Weights& weights) {
  return std::make_unique<TorchNet>(spec, weights);
}

void set_num_threads(int num_threads) {
  at::set_num_threads(num_threads);
}

/// Debian's LibTorch takes whatever provides libblas.so.3; its own fallback is 7 times slower.
std::string slow_blas_warning() {
  void* blas = dlopen("libblas.so.3", RTLD_NOW | RTLD_NOLOAD);
  if (!blas) return "";
  for (const char* fast : {"openblas_get_config", "bli_info_get_version_str", "mkl_get_version"}) {
    if (dlsym(blas, fast)) return "";
  }
  return "LibTorch runs on the reference BLAS, several times slower than it could: install "
         "libopenblas0-pthread";
}

constexpr TorchFactory kFactory{make_net, set_num_threads, slow_blas_warning};

}  // namespace
}  // namespace knurl

extern "C" const knurl::TorchFactory* knurl_torch_factory() {
  return &knurl::kFactory;
}
