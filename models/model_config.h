#pragma once

#include <optional>
#include <vector>

#include "knurl/core/config/fields.h"
#include "knurl/models/activation.h"
#include "knurl/models/weight_init.h"

namespace knurl {

/// `model` in files: how the net between observations and heads is built.
struct ModelConfig {
  Opt<std::vector<int>> fcnet_hiddens = Default{std::vector{256, 256}};
  Opt<Activation> fcnet_activation = Default{Activation::tanh};
  Opt<std::optional<WeightInit>> fcnet_weights_initializer = Default{std::nullopt};
  Opt<bool> vf_share_layers = Default{true};
  Opt<bool> free_log_std = Default{false};

  static void fields(auto& self, auto&& field) {
    field("fcnet_hiddens", self.fcnet_hiddens, "units of each fully connected hidden layer",
          Range{1, 1 << 20});
    field("fcnet_activation", self.fcnet_activation, "function after each hidden layer");
    field("fcnet_weights_initializer", self.fcnet_weights_initializer,
          "how weights are drawn; torch_linear: as PyTorch's Linear does; null: as RLlib does, "
          "normc, "
          "and xavier_uniform in heads of action values",
          Aliases{{"fcnet_kernel_initializer"}});
    field("vf_share_layers", self.vf_share_layers,
          "policy and value heads read the same hidden layers");
    field("free_log_std", self.free_log_std,
          "Box actions: standard deviations are parameters of their own, whatever the observation");
  }
};

}  // namespace knurl
