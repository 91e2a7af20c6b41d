#pragma once

#include <memory>
#include <string>

#include "knurl/models/trainable_net.h"

namespace knurl {

/// What knurl's torch library offers to the rest, which opens it at run time. Knows no torch.
struct TorchFactory {
  std::unique_ptr<TrainableNet> (*make_net)(const NetSpec& spec, const Weights& weights);
  void (*set_num_threads)(int num_threads);
  /// Says that LibTorch runs on the slow reference BLAS, and what to do; empty where it does not.
  std::string (*slow_blas_warning)();
  const char* version;  ///< LibTorch's
};

/// The library's only symbol by name: `extern "C" const TorchFactory* knurl_torch_factory()`.
inline constexpr const char* kTorchFactorySymbol = "knurl_torch_factory";

}  // namespace knurl
