#pragma once

#include <cmath>
#include <cstddef>
#include <string_view>
#include <vector>

#include "knurl/models/custom_layer.h"

/// Learnt waves of what is read (Yang et al. 2022, "Overcoming the spectral bias of neural value
/// approximation"): y = [sin(W x), cos(W x)].
class WaveFeatures : public knurl::CustomLayer {
 public:
  WaveFeatures(int inputs, int waves, double scale = 1.0)
      : inputs_(inputs), waves_(waves), scale_(scale) {}

  [[nodiscard]] int inputs() const override { return inputs_; }
  [[nodiscard]] int outputs() const override { return 2 * waves_; }
  [[nodiscard]] std::string_view type() const override { return "Waves"; }

  [[nodiscard]] std::vector<knurl::TensorSpec> tensors() const override {
    return {{.name = "frequencies", .shape = {waves_, inputs_}}};
  }
  void initialise(knurl::LayerTensors<float> tensors, knurl::Rng& rng) const override {
    for (float& frequency : tensors[0]) frequency = static_cast<float>(scale_ * rng.normal());
  }

  void forward(knurl::LayerTensors<const float> tensors, knurl::FloatRows<const float> x,
               knurl::FloatRows<float> y) const override {
    const auto waves = static_cast<std::size_t>(waves_);
    for (std::int64_t row = 0; row < x.rows; ++row) {
      const float* frequency = tensors[0].data();
      for (std::size_t wave = 0; wave < waves; ++wave) {
        float phase = 0.0F;
        for (const float number : x.row(row)) phase += *frequency++ * number;
        y.row(row)[wave] = std::sin(phase);
        y.row(row)[waves + wave] = std::cos(phase);
      }
    }
  }

  void backward(const knurl::LayerBackward& pass) const override {
    const auto waves = static_cast<std::size_t>(waves_);
    for (std::int64_t row = 0; row < pass.x.rows; ++row) {
      const auto y = pass.y.row(row);
      const auto dy = pass.dy.row(row);
      std::size_t at = 0;  // in the frequencies
      for (std::size_t wave = 0; wave < waves; ++wave) {
        const float d_phase = dy[wave] * y[waves + wave] - dy[waves + wave] * y[wave];
        for (std::size_t i = 0; i < pass.x.row(row).size(); ++i, ++at) {
          pass.dx.row(row)[i] += d_phase * pass.tensors[0][at];
          pass.d_tensors[0][at] += d_phase * pass.x.row(row)[i];
        }
      }
    }
  }

 private:
  int inputs_;
  int waves_;
  double scale_;
};
