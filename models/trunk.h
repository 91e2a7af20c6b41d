#pragma once

#include <optional>
#include <vector>

#include "knurl/core/spaces/layout.h"
#include "knurl/models/conv_filter.h"
#include "knurl/models/model_config.h"
#include "knurl/models/net_spec.h"

namespace knurl {

/// A picture: a Box of rank 3, [height, width, channels].
struct Picture {
  Extent size = {1, 1};
  int channels = 1;
  bool operator==(const Picture&) const = default;
};

/// What observations are pictures of; nothing where they are none.
std::optional<Picture> picture_of(const SpaceLayout& observations);

/// How convolutions look like beside their filters.
struct ConvStyle {
  Activation activation = Activation::relu;
  WeightInit init = WeightInit::xavier_uniform;
};

/// Convolutions "conv.0", "conv.1" … one on top of the other. As in RLlib the last one stays inside
/// of what it reads (Padding::valid), the others go beyond its edges (Padding::same). Throws
/// Error(config) where the last kernel is larger than what is left of the picture.
std::vector<LayerSpec> conv_layers(const Picture& picture, const std::vector<ConvFilter>& filters,
                                   const ConvStyle& style);

/// The layers between observations and heads that `model` asks for: its custom model; or for
/// pictures convolutions, then post_fcnet_hiddens; or else fcnet_hiddens, then post_fcnet_hiddens.
/// Throws Error(config) where conv_filters are given for what is no picture or do not fit it, and
/// what a custom model's builder does.
HiddenLayers model_trunk(const ModelConfig& model, const SpaceLayout& observations,
                         const SpaceLayout& actions);

}  // namespace knurl
