#include <atomic>
#include <filesystem>
#include <mutex>
#include <optional>

#include <dlfcn.h>

#include "knurl/core/base/error.h"
#include "knurl/core/base/log.h"
#include "knurl/models/torch/factory.h"
#include "knurl/models/trainable_net.h"

namespace knurl {
namespace {

std::atomic<const TorchFactory*> opened = nullptr;

/// libknurl_torch lies beside this library. Opened once and never closed: LibTorch cannot be
/// unloaded.
const TorchFactory& open_torch_library() {
  static const TorchFactory& factory = []() -> const TorchFactory& {
    Dl_info self{};
    dladdr(reinterpret_cast<const void*>(&make_torch_net), &self);
    const std::filesystem::path beside =
        std::filesystem::path(self.dli_fname).parent_path() / KNURL_TORCH_LIBRARY;
    void* library = dlopen(beside.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (!library) fail(ErrorKind::io, "LibTorch cannot be loaded: {}", dlerror());
    void* symbol = dlsym(library, kTorchFactorySymbol);
    if (!symbol) fail(ErrorKind::io, "{} is no torch library of knurl", beside.string());
    const auto get = reinterpret_cast<const TorchFactory* (*)()>(symbol);
    opened = get();
    if (const std::string warning = opened.load()->slow_blas_warning(); !warning.empty()) {
      warn_once(warning);
    }
    return *opened;
  }();
  return factory;
}

/// LibTorch's threads are the whole process's: the fewest that any of its nets was made for, so
/// that one whose sums must come out the same everywhere is not made to share them out by another.
void bound_threads(const TorchFactory& factory, int num_threads) {
  static std::mutex mutex;
  static std::optional<int> bound;
  const std::lock_guard lock(mutex);
  if (bound && *bound <= num_threads) {
    if (*bound < num_threads) {
      log(LogLevel::info, "LibTorch uses {} threads; {} were asked for later", *bound, num_threads);
    }
    return;
  }
  factory.set_num_threads(num_threads);
  bound = num_threads;
  log(LogLevel::info, "LibTorch may use {} thread{}", num_threads, num_threads == 1 ? "" : "s");
}

}  // namespace

std::unique_ptr<TrainableNet> make_torch_net(const NetSpec& spec, const Weights& weights,
                                             int num_threads) {
  const TorchFactory& factory = open_torch_library();
  bound_threads(factory, num_threads);
  return factory.make_net(spec, weights);
}

std::optional<std::string> loaded_torch_version() {
  const TorchFactory* factory = opened;
  return factory ? std::optional<std::string>(factory->version) : std::nullopt;
}

}  // namespace knurl
