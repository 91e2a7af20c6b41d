#pragma once

#include <vector>

#include "knurl/core/config/fields.h"
#include "knurl/models/activation.h"

namespace knurl {

/// `model` in files: how the net between observations and heads is built.
struct ModelConfig {
  Opt<std::vector<int>> fcnet_hiddens = Default{std::vector{256, 256}};
  Opt<Activation> fcnet_activation = Default{Activation::tanh};
  Opt<bool> vf_share_layers = Default{true};

  static void fields(auto& self, auto&& field) {
    field("fcnet_hiddens", self.fcnet_hiddens, "units of each fully connected hidden layer",
          Range{1, 1 << 20});
    field("fcnet_activation", self.fcnet_activation, "function after each hidden layer");
    field("vf_share_layers", self.vf_share_layers,
          "policy and value heads read the same hidden layers");
  }
};

}  // namespace knurl
