#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "knurl/core/base/rng.h"
#include "knurl/models/net_spec.h"
#include "knurl/models/weights.h"

namespace knurl {

/// How the rows of a minibatch follow one another in time, for nets with an lstm layer: packed as
/// PyTorch's PackedSequence is. The first batch_sizes[0] rows are the first steps of as many
/// sequences, the longest first; the next batch_sizes[1] rows are the second steps of those that
/// have one, in the same order; and so on.
struct Sequences {
  std::vector<std::int64_t> batch_sizes = {};
  RecordBatch states = {};  ///< state_of(spec) at the first steps, a row each
};

/// A net that learns. The parameters and their gradients are two flat buffers laid out as Weights
/// are; a loss reads the outputs of forward and hands their gradients to backward. Not thread-safe.
class TrainableNet {
 public:
  virtual ~TrainableNet() = default;

  /// Parameters, one row of named tensors. Writing them changes the net.
  [[nodiscard]] virtual RecordBatch& parameters() = 0;
  /// d loss / d parameters, laid out as the parameters.
  [[nodiscard]] virtual RecordBatch& gradients() = 0;

  /// Runs a minibatch, of which a net reads the columns that it knows (column::kNetInputs), and
  /// keeps what backward needs. Returns the outputs in the order of the spec, each [rows, size];
  /// they, and the minibatch, are to live until backward. Without sequences each row stands for
  /// itself, an LSTM's state before it being 0.
  virtual std::vector<std::span<const float>> forward(const RecordBatch& minibatch,
                                                      const Sequences& sequences) = 0;
  std::vector<std::span<const float>> forward(const RecordBatch& minibatch) {
    return forward(minibatch, {});
  }

  /// Draws the noise that forward uses from now on, where the net has any (models/noisy.h).
  virtual void draw_noise(const Rng& /*rng*/) {}

  /// Sets gradients() anew from d loss / d output for each output of the last forward, each [rows,
  /// size].
  virtual void backward(const std::vector<std::span<const float>>& output_gradients) = 0;
};

/// A net on LibTorch, which this loads at the first call in a process (half a second).
/// `num_threads` is how many threads LibTorch may use for one operation; the smallest that was
/// asked for holds for the whole process. Throws Error(io) where knurl's torch library cannot be
/// loaded.
std::unique_ptr<TrainableNet> make_torch_net(const NetSpec& spec, const Weights& weights,
                                             int num_threads = 1);

/// LibTorch's version; nothing where this process has not loaded it.
std::optional<std::string> loaded_torch_version();

}  // namespace knurl
