#pragma once

#include <memory>

#include "knurl/models/custom_model.h"
#include "wave_features.h"

struct WaveNetOptions {
  int waves = 32;
  double scale = 1.0;
  int hidden = 64;
  static void fields(auto& self, auto&& field) {
    field("waves", self.waves, "waves that are learnt", knurl::Range{1, 10'000});
    field("scale", self.scale, "standard deviation of fresh frequencies", knurl::above(0));
    field("hidden", self.hidden, "units of the layer behind them", knurl::Range{1, 10'000});
  }
};

/// Waves of the observation, then a dense layer.
inline knurl::Trunk wave_net(const knurl::ModelInput& input, const WaveNetOptions& options) {
  knurl::Trunk trunk(input);
  trunk.add({.name = "waves",
             .kind = knurl::LayerKind::custom,
             .custom = std::make_shared<WaveFeatures>(input.size, options.waves, options.scale)});
  trunk.add({.name = "hidden", .outputs = options.hidden, .activation = knurl::Activation::relu});
  return trunk;
}
