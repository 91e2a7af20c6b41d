#pragma once

#include <memory>

#include "knurl/core/base/rng.h"
#include "knurl/models/net_spec.h"
#include "knurl/models/trainable_net.h"

/// Noisy layers (Fortunato et al. 2018, equations 9 to 11): weights are mu + sigma * noise with
/// factorised noise f(e_out) f(e_in)^T, f(x) = sign(x) sqrt(|x|), and both mu and sigma are learnt.
/// One draw of noise holds for a whole batch. A noisy net is a plain one whose weights are made
/// anew with each draw.
namespace knurl {

[[nodiscard]] bool has_noise(const NetSpec& spec);

/// The plain net that a noisy one is for one draw: its layers without sigmas.
NetSpec without_noise(NetSpec spec);

/// Factorised noise of one draw, laid out as the plain net's tensors; those of layers without noise
/// are 0.
RecordBatch draw_noise(const NetSpec& spec, Rng rng);

/// The plain net's weights: mu + sigma * noise, or mu where `noise` is null.
Weights plain_weights(const NetSpec& spec, const Weights& weights, const RecordBatch* noise);

/// Trains a noisy net: `plain` is a net of without_noise(spec), `weights` those of `spec`.
/// Gradients of sigma are those of the weights times the noise.
std::unique_ptr<TrainableNet> make_noisy_net(NetSpec spec, const Weights& weights,
                                             std::unique_ptr<TrainableNet> plain);

}  // namespace knurl
