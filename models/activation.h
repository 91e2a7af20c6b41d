#pragma once

#include <array>
#include <utility>

namespace knurl {

/// The functions between layers.
enum class Activation { linear, tanh, relu, elu, silu };

/// Their names in files; "swish" is RLlib's name of silu.
constexpr auto names(Activation) {
  return std::array{std::pair{Activation::tanh, "tanh"},     std::pair{Activation::relu, "relu"},
                    std::pair{Activation::linear, "linear"}, std::pair{Activation::elu, "elu"},
                    std::pair{Activation::silu, "silu"},     std::pair{Activation::silu, "swish"}};
}

}  // namespace knurl
