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
  Opt<bool> use_lstm = Default{false};
  Opt<int> max_seq_len = Default{20};
  Opt<int> lstm_cell_size = Default{256};
  Opt<bool> lstm_use_prev_action = Default{false};
  Opt<bool> lstm_use_prev_reward = Default{false};

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
    field("use_lstm", self.use_lstm,
          "remember the episode: an LSTM between hidden layers and heads, which then share both");
    field("max_seq_len", self.max_seq_len,
          "steps through which an LSTM learns backwards: batches are cut into sequences of at most "
          "so many",
          at_least(1));
    field("lstm_cell_size", self.lstm_cell_size, "cells of the LSTM", Range{1, 1 << 14});
    field("lstm_use_prev_action", self.lstm_use_prev_action,
          "the LSTM reads the action before, too: one-hot, or the policy's numbers");
    field("lstm_use_prev_reward", self.lstm_use_prev_reward,
          "the LSTM reads the reward before, too, as clip_rewards leaves it");
  }
};

}  // namespace knurl
