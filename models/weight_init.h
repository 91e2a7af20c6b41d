#pragma once

#include <array>
#include <utility>

namespace knurl {

/// How a fresh layer's weights are drawn. Biases are 0 but where said.
enum class WeightInit {
  normc,           ///< normal, each row of W scaled to length init_norm: RLlib's
  xavier_uniform,  ///< uniform within sqrt(6 / (inputs + outputs)) (Glorot and Bengio 2010)
  orthogonal,      ///< orthonormal rows or columns times init_norm; sqrt(2) in hidden layers
  torch_linear,  ///< W and bias uniform within 1 / sqrt(inputs): what PyTorch's Linear begins with
};

/// Their names in files; those with an underscore are PyTorch's.
constexpr auto names(WeightInit) {
  return std::array{std::pair{WeightInit::normc, "normc"},
                    std::pair{WeightInit::xavier_uniform, "xavier_uniform"},
                    std::pair{WeightInit::xavier_uniform, "xavier_uniform_"},
                    std::pair{WeightInit::orthogonal, "orthogonal"},
                    std::pair{WeightInit::orthogonal, "orthogonal_"},
                    std::pair{WeightInit::torch_linear, "torch_linear"}};
}

}  // namespace knurl
