#pragma once

#include <algorithm>

#include "knurl/models/net_spec.h"

namespace knurl::fast {

/// Whether a layer is one of few linear units on top of a dense layer, as heads end in: each is a
/// dot product, and results lie [rows, outputs] without padding. No layer reads them.
inline bool is_narrow(const NetSpec& spec, std::size_t k) {
  constexpr int kMost = 8;
  const auto dense = [&](const LayerSpec& layer) {
    return layer.kind == LayerKind::dense && layer.sigma0 == 0.0;
  };
  const LayerSpec& layer = spec.layers[k];
  return dense(layer) && layer.activation == Activation::linear && layer.outputs <= kMost &&
         layer.source && dense(spec.layers[*layer.source]) &&
         std::ranges::none_of(spec.layers, [&](const LayerSpec& l) { return l.source == k; });
}

}  // namespace knurl::fast
