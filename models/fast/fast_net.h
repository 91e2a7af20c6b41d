#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "knurl/models/fast/conv.h"
#include "knurl/models/net_spec.h"
#include "knurl/models/weights.h"

namespace knurl::fast {

/// Forward passes of a net without LibTorch. A row's results have the same bits
/// whatever the number of rows and its place among them. Not thread-safe: it owns its buffers.
class FastNet {
 public:
  explicit FastNet(NetSpec spec);

  /// Takes over new parameters. Throws std::logic_error where the tensors are another net's.
  void set_weights(const Weights& weights);
  [[nodiscard]] std::int64_t version() const { return version_; }

  /// Runs `rows` rows of spec().inputs numbers, `stride` floats apart. An lstm layer goes on from
  /// the rows of state_of(spec()) in `memory`, or from 0 where it is null.
  void forward(const float* input, std::int64_t rows, std::int64_t stride,
               const RecordBatch* memory = nullptr);

  /// Results of the last forward.
  struct Output {
    const float* data = nullptr;
    std::int64_t stride = 0;  ///< floats from one row to the next
    int size = 0;
    [[nodiscard]] std::span<const float> row(std::int64_t index) const {
      return {data + index * stride, static_cast<std::size_t>(size)};
    }
  };
  [[nodiscard]] Output output(std::string_view name) const;
  /// The same of one layer, by its place in the spec.
  [[nodiscard]] Output layer_output(std::size_t layer) const;

  /// The lstm layer's cells after it.
  [[nodiscard]] Output lstm_cells() const;

  [[nodiscard]] const NetSpec& spec() const { return spec_; }

 private:
  /// A layer's parameters as the kernels want them, and its results.
  struct Layer {
    /// weight [inputs, padded outputs], bias [padded outputs]; a convolution's as
    /// arrange_conv_weights lays them out, a custom layer's as it has them
    RecordBatch parameters;
    RecordBatch results;  ///< [rows, width]
    bool narrow = false;  ///< one of dot products; weight [outputs, padded inputs]
    int width = 0;        ///< outputs, padded but of narrow ones
  };
  /// Rows of numbers, `stride` floats apart.
  struct Input {
    const float* data = nullptr;
    std::int64_t rows = 0;
    std::int64_t stride = 0;
  };
  void forward_layer(std::size_t k, const Input& net_input, const RecordBatch* memory);
  void set_lstm_weights(const LayerSpec& spec, const Weights& weights, Layer& layer);
  void forward_lstm(const LayerSpec& spec, Layer& layer, const Input& x, const Input& net_input,
                    const RecordBatch* memory);
  void join_outputs(std::int64_t rows);

  NetSpec spec_;
  std::vector<Layer> layers_;
  std::vector<std::vector<float>> joined_;  ///< results of outputs of several layers [rows, size]
  Convolution convolution_;
  /// Of the lstm layer: rows of what its gates read, the gates, and the cells.
  std::vector<float> lstm_inputs_;
  std::vector<float> lstm_gates_;
  std::vector<float> lstm_cells_;
  std::vector<float> squares_;  ///< of what an sde_log_std layer reads
  std::int64_t version_ = 0;
};

}  // namespace knurl::fast
