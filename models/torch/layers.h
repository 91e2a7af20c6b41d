#pragma once

#include <vector>

#include <torch/torch.h>

#include "knurl/models/net_spec.h"

/// Layers of nets as LibTorch computes them, with their gradients. x and results are
/// [rows, numbers].
namespace knurl {

torch::Tensor activate(Activation activation, const torch::Tensor& x);

/// LayerKind::conv, its activation included.
torch::Tensor convolve(const LayerSpec& layer, const torch::Tensor& weight,
                       const torch::Tensor& bias, const torch::Tensor& x);

/// LayerKind::custom: the layer's own forward and backward. `layer` must live until backward.
torch::Tensor apply_custom(const LayerSpec& layer, const std::vector<torch::Tensor>& tensors,
                           const torch::Tensor& x);

}  // namespace knurl
