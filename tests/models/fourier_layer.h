#pragma once

#include <cmath>

#include "knurl/models/custom_layer.h"

namespace knurl {

/// y = [sin(W x), cos(W x)]: a custom layer whose parts can be made wrong.
class FourierLayer : public CustomLayer {
 public:
  FourierLayer(int inputs, int waves) : inputs_(inputs), waves_(waves) {}

  [[nodiscard]] int inputs() const override { return inputs_; }
  [[nodiscard]] int outputs() const override { return 2 * waves_; }
  [[nodiscard]] std::string_view type() const override { return "Fourier"; }
  [[nodiscard]] std::vector<TensorSpec> tensors() const override {
    return {{.name = "waves", .shape = {waves_, inputs_}}};
  }
  void initialise(LayerTensors<float> tensors, Rng& rng) const override {
    for (float& x : tensors[0]) x = static_cast<float>(rng.normal());
  }
  void forward(LayerTensors<const float> tensors, FloatRows<const float> x,
               FloatRows<float> y) const override {
    for (std::int64_t row = 0; row < x.rows; ++row) {
      const float* wave = tensors[0].data();
      for (int k = 0; k < waves_; ++k) {
        float phase = 0.0F;
        for (const float number : x.row(row)) phase += *wave++ * number;
        y.row(row)[static_cast<std::size_t>(k)] = std::sin(phase);
        y.row(row)[static_cast<std::size_t>(waves_ + k)] = std::cos(phase);
      }
    }
  }
  void backward(const LayerBackward& pass) const override {
    for (std::int64_t row = 0; row < pass.x.rows; ++row) {
      const auto y = pass.y.row(row);
      const auto dy = pass.dy.row(row);
      for (int k = 0; k < waves_; ++k) {
        const auto s = static_cast<std::size_t>(k);
        const auto c = static_cast<std::size_t>(waves_ + k);
        const float d_phase = dy[s] * y[c] - dy[c] * y[s];
        for (int i = 0; i < inputs_; ++i) {
          const auto at = static_cast<std::size_t>(k * inputs_ + i);
          pass.dx.row(row)[static_cast<std::size_t>(i)] += d_phase * pass.tensors[0][at];
          pass.d_tensors[0][at] += d_phase * pass.x.row(row)[static_cast<std::size_t>(i)];
        }
      }
    }
  }

 private:
  int inputs_;
  int waves_;
};

}  // namespace knurl
