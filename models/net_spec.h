#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "knurl/core/base/rng.h"
#include "knurl/models/activation.h"
#include "knurl/models/weight_init.h"
#include "knurl/models/weights.h"

namespace knurl {

enum class LayerKind {
  dense,  ///< activation(W x + b), W [outputs, inputs]: tensors name.weight and name.bias
  free,   ///< parameters [outputs], whatever the input: tensor name.value
  /// The log standard deviation of state-dependent noise (Raffin et al. 2021, section 4.1):
  /// log(sum_i x_i^2 exp(2 s_i)) / 2, s [inputs, outputs]: tensor name.value. x is read without
  /// learning from it.
  sde_log_std,
  /// (x - mean) * scale, cut to [-10, 10]: observations as a filter has seen them. Tensors
  /// name.mean and name.scale [outputs], which gradients do not move.
  filter,
  /// Long short-term memory (Hochreiter and Schmidhuber 1997, with the forget gate of Gers et al.
  /// 2000): i, f, o = sigmoid, g = tanh of W_ih x + b_ih + W_hh h + b_hh; c' = f c + i g;
  /// h' = o tanh(c'). It puts out h'; x is its source's result, then the net's extras. Tensors as
  /// PyTorch's, the gates in the order i, f, g, o: name.weight_ih [4 outputs, inputs],
  /// name.weight_hh [4 outputs, outputs], name.bias_ih and name.bias_hh [4 outputs].
  lstm,
};

/// A layer of a net.
struct LayerSpec {
  std::string name = {};  ///< "policy.hidden.0"
  int inputs = 0;
  int outputs = 0;
  Activation activation = Activation::linear;
  /// The layer whose output it reads; nothing: the net's input.
  std::optional<std::size_t> source = std::nullopt;
  double init_norm = 1.0;  ///< normc: length of each row of W in a fresh model
  WeightInit init = WeightInit::normc;
  /// sigma_0 of a noisy layer (models/noisy.h), which has name.weight_sigma and name.bias_sigma
  /// too; 0: a layer without noise.
  double sigma0 = 0.0;
  LayerKind kind = LayerKind::dense;
  double fresh = 0.0;  ///< of other kinds: what their parameters begin with

  bool operator==(const LayerSpec&) const = default;
};

/// Added to the variance of state-dependent noise.
inline constexpr float kSdeEpsilon = 1e-6F;
/// How far filtered observations may lie from 0.
inline constexpr float kFilterClip = 10.0F;

/// One of a net's results.
struct NetOutput {
  std::string name = {};                 ///< "action_dist_inputs", "vf_preds"
  std::vector<std::size_t> layers = {};  ///< whose results stand one after the other
  bool operator==(const NetOutput&) const = default;
};

/// A net of layers, in an order in which each reads only earlier ones.
struct NetSpec {
  int inputs = 0;  ///< numbers of a row: the observation's, then those of the extras
  std::vector<ColumnSpec> extras = {};  ///< what an lstm layer reads beside its source
  std::vector<LayerSpec> layers = {};
  std::vector<NetOutput> outputs = {};

  bool operator==(const NetSpec&) const = default;
};

/// A stack of hidden layers of one kind.
struct HiddenLayers {
  std::vector<int> units = {};
  Activation activation = Activation::tanh;
  WeightInit init = WeightInit::normc;
};

/// What stands behind a head's linear layer for the log standard deviations of actions.
struct LogStdSpec {
  LayerKind kind = LayerKind::free;
  int size = 1;
  double fresh = 0.0;
};

/// A net's result: its own hidden layers, then a linear layer of `size` units, then perhaps log
/// standard deviations.
struct HeadSpec {
  std::string name = {};    ///< "policy": the layers' prefix
  std::string output = {};  ///< "action_dist_inputs": what results are called
  int size = 1;
  HiddenLayers hidden = {};             ///< none: the head reads the trunk's last layer
  double init_norm = 0.01;              ///< of the last layer
  WeightInit init = WeightInit::normc;  ///< of the last layer
  double sigma0 = 0.0;                  ///< of all its layers
  std::optional<LogStdSpec> log_std = std::nullopt;
};

/// A recurrent layer between trunk and heads.
struct LstmSpec {
  int cells = 256;
  std::vector<ColumnSpec> extras = {};  ///< "prev_actions", "prev_rewards": float32
};

/// A trunk that all heads share (it may be empty) and that reads `inputs` numbers of an
/// observation, perhaps an LSTM, and the heads.
NetSpec make_net(int inputs, const HiddenLayers& trunk, const std::vector<HeadSpec>& heads,
                 const std::optional<LstmSpec>& lstm = std::nullopt);

/// Puts a layer "filter" between the observations and all that reads them.
NetSpec with_filter(NetSpec spec);

/// Numbers of a row that are an observation's.
int observation_inputs(const NetSpec& spec);

/// The place of the lstm layer; nothing where there is none.
std::optional<std::size_t> lstm_layer(const NetSpec& spec);

/// What a net wants to be remembered of an episode from one step to the next, float32 columns: an
/// LSTM's state ("state_in_0", "state_in_1") and the extras. All 0 at an episode's start.
std::vector<ColumnSpec> memory_of(const NetSpec& spec);
/// Of these, the LSTM's state.
std::vector<ColumnSpec> state_of(const NetSpec& spec);

/// Numbers of a row of an output.
int size_of(const NetSpec& spec, const NetOutput& output);

/// The tensors of a net, in order of its layers: weight, bias, and of a noisy layer their sigmas.
std::vector<ColumnSpec> tensors_of(const NetSpec& spec);

/// Fresh parameters, each layer's as its WeightInit says; a noisy layer's as Fortunato et al.
/// (2018), section 3.2, with factorised noise.
Weights fresh_weights(const NetSpec& spec, Rng rng);

/// A table of the layers: name, output shape, parameters, what each reads, and totals. `part` shows
/// only the layers of one head ("value"), or of what all heads share ("base_model"); empty: all.
/// Throws Error(config) naming the parts where there is none of this name.
std::string summary(const NetSpec& spec, const std::string& part = "");

}  // namespace knurl
