#include "knurl/models/trunk.h"

#include <cmath>

#include <fmt/format.h>

#include "knurl/core/base/error.h"
#include "knurl/core/base/log.h"
#include "knurl/models/custom_model.h"
#include "knurl/models/observation_encoder.h"

namespace knurl {
namespace {

/// Numbers that one layer may make of one picture.
constexpr std::int64_t kMostOutputs = 100'000'000;

std::vector<LayerSpec> layers_for(const Picture& picture, const ModelConfig& model) {
  std::vector<ConvFilter> filters = model.conv_filters->value_or(std::vector<ConvFilter>{});
  if (filters.empty()) filters = default_filters(picture.size);
  const std::optional<WeightInit> init = model.fcnet_weights_initializer;
  return conv_layers(
      picture, filters,
      {.activation = model.conv_activation, .init = init.value_or(WeightInit::xavier_uniform)});
}

/// RLlib's fully connected nets have one activation for both lists.
HiddenLayers fully_connected(const ModelConfig& model) {
  HiddenLayers out{.units = model.fcnet_hiddens, .activation = model.fcnet_activation};
  if (out.units.empty()) out.activation = model.post_fcnet_activation;
  out.units.insert(out.units.end(), model.post_fcnet_hiddens->begin(),
                   model.post_fcnet_hiddens->end());
  return out;
}

}  // namespace

std::optional<Picture> picture_of(const SpaceLayout& observations) {
  const Box* box = observations.space().as<Box>();
  if (!box || box->shape.size() != 3) return std::nullopt;
  (void)encoded_size(observations);  // small enough to count in ints
  return Picture{.size = {static_cast<int>(box->shape[0]), static_cast<int>(box->shape[1])},
                 .channels = static_cast<int>(box->shape[2])};
}

std::vector<LayerSpec> conv_layers(const Picture& picture, const std::vector<ConvFilter>& filters,
                                   const ConvStyle& style) {
  std::vector<LayerSpec> out;
  Picture read = picture;
  for (std::size_t i = 0; i < filters.size(); ++i) {
    const bool last = i + 1 == filters.size();
    const ConvShape shape{.size = read.size,
                          .channels = read.channels,
                          .filters = filters[i].channels,
                          .kernel = filters[i].kernel,
                          .stride = filters[i].stride,
                          .padding = last ? Padding::valid : Padding::same};
    if (shape.num_outputs() == 0) {
      fail(ErrorKind::config,
           "training.model.conv_filters[{}]: kernel [{}, {}] is larger than the picture [{}, {}] "
           "that is "
           "left for it; give a smaller one, or null for filters that fit",
           i, shape.kernel[0], shape.kernel[1], read.size[0], read.size[1]);
    }
    if (shape.num_outputs() > kMostOutputs) {
      fail(ErrorKind::config,
           "training.model.conv_filters[{}]: makes {} numbers of a picture: at most {}", i,
           shape.num_outputs(), kMostOutputs);
    }
    out.push_back({.name = fmt::format("conv.{}", i),
                   .inputs = static_cast<int>(shape.num_inputs()),
                   .outputs = static_cast<int>(shape.num_outputs()),
                   .activation = style.activation,
                   .source = i == 0 ? std::nullopt : std::optional(i - 1),
                   .init_norm = style.init == WeightInit::orthogonal ? std::sqrt(2.0) : 1.0,
                   .init = style.init,
                   .kind = LayerKind::conv,
                   .conv = shape});
    read = {.size = shape.output(), .channels = shape.filters};
  }
  return out;
}

HiddenLayers model_trunk(const ModelConfig& model, const SpaceLayout& observations,
                         const SpaceLayout& actions) {
  HiddenLayers out;
  const std::optional<Picture> picture = picture_of(observations);
  if (*model.custom_model) {
    out.first = build_custom_model(model, observations, actions);
  } else if (picture) {
    if (*model.fcnet_hiddens != *ModelConfig().fcnet_hiddens) {
      warn_once(
          "training.model.fcnet_hiddens is not read by a net of pictures: post_fcnet_hiddens are "
          "the layers "
          "behind its convolutions");
    }
    out = {.units = model.post_fcnet_hiddens,
           .activation = model.post_fcnet_activation,
           .first = layers_for(*picture, model)};
  } else {
    if (model.conv_filters->has_value()) {
      fail(ErrorKind::config,
           "training.model.conv_filters: the observation {} is no picture, a Box [height, width, "
           "channels]; "
           "leave them out",
           observations.space().text());
    }
    out = fully_connected(model);
  }
  out.init = model.fcnet_weights_initializer->value_or(WeightInit::normc);
  return out;
}

}  // namespace knurl
