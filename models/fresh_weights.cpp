#include <algorithm>
#include <cmath>
#include <numeric>
#include <span>

#include "knurl/models/net_spec.h"

namespace knurl {
namespace {

/// Orthonormal rows, or columns where there are more rows, times the norm: Gram and Schmidt on
/// normal numbers.
void fill_orthogonal(std::span<float> weight, std::size_t inputs, double norm, Rng& rng) {
  const std::size_t outputs = weight.size() / inputs;
  const std::size_t count = std::min(inputs, outputs);
  const std::size_t length = std::max(inputs, outputs);
  std::vector<std::vector<double>> vectors(count, std::vector<double>(length));
  for (std::size_t v = 0; v < count; ++v) {
    for (double& x : vectors[v]) x = rng.normal();
    for (int pass = 0; pass < 2; ++pass) {  // the second takes what rounding left
      for (std::size_t w = 0; w < v; ++w) {
        const double along =
            std::inner_product(vectors[v].begin(), vectors[v].end(), vectors[w].begin(), 0.0);
        for (std::size_t i = 0; i < length; ++i) vectors[v][i] -= along * vectors[w][i];
      }
    }
    const double size = std::sqrt(
        std::inner_product(vectors[v].begin(), vectors[v].end(), vectors[v].begin(), 0.0));
    for (double& x : vectors[v]) x /= size;
  }
  for (std::size_t unit = 0; unit < outputs; ++unit) {
    for (std::size_t i = 0; i < inputs; ++i) {
      const double x = outputs <= inputs ? vectors[unit][i] : vectors[i][unit];
      weight[unit * inputs + i] = static_cast<float>(norm * x);
    }
  }
}

void fill_normc(std::span<float> weight, std::size_t inputs, double norm, Rng& rng) {
  std::vector<double> row(inputs);
  for (std::size_t unit = 0; unit < weight.size() / inputs; ++unit) {
    double squares = 0.0;
    for (double& value : row) {
      value = rng.normal();
      squares += value * value;
    }
    const double scale = norm / std::sqrt(squares);
    for (std::size_t i = 0; i < inputs; ++i) {
      weight[unit * inputs + i] = static_cast<float>(row[i] * scale);
    }
  }
}

void fill_uniform(std::span<float> numbers, double bound, Rng& rng) {
  for (float& x : numbers) x = static_cast<float>(rng.uniform(-bound, bound));
}

/// Numbers that each unit of a layer with weights reads; of a convolution, in one place.
int fan_in(const LayerSpec& layer) {
  return layer.kind == LayerKind::conv ? layer.conv.patch() : layer.inputs;
}

/// Units that read each of them.
int fan_out(const LayerSpec& layer) {
  const ConvShape& conv = layer.conv;
  return layer.kind == LayerKind::conv ? conv.filters * conv.kernel[0] * conv.kernel[1]
                                       : layer.outputs;
}

void fill(const LayerSpec& layer, RecordBatch& tensors, Rng& rng) {
  const auto tensor = [&](const char* name) {
    return tensors.column<float>(layer.name + name).span();
  };
  const double inputs = fan_in(layer);
  if (layer.kind == LayerKind::filter) {
    std::ranges::fill(tensor(".scale"), 1.0F);
    return;
  }
  if (layer.kind == LayerKind::custom) {
    initialise_custom_layer(*layer.custom, layer.name,
                            tensors_in<float>(tensors, *layer.custom, layer.name + "."), rng);
    return;
  }
  if (layer.kind == LayerKind::lstm) {  // as PyTorch's
    for (const char* name : {".weight_ih", ".weight_hh", ".bias_ih", ".bias_hh"}) {
      fill_uniform(tensor(name), 1.0 / std::sqrt(layer.outputs), rng);
    }
    return;
  }
  if (layer.kind == LayerKind::free || layer.kind == LayerKind::sde_log_std) {
    std::ranges::fill(tensor(".value"), static_cast<float>(layer.fresh));
    return;
  }
  if (layer.sigma0 > 0.0 || layer.init == WeightInit::torch_linear) {
    fill_uniform(tensor(".weight"), 1.0 / std::sqrt(inputs), rng);
    fill_uniform(tensor(".bias"), 1.0 / std::sqrt(inputs), rng);
  } else if (layer.init == WeightInit::xavier_uniform) {
    fill_uniform(tensor(".weight"), std::sqrt(6.0 / (inputs + fan_out(layer))), rng);
  } else if (layer.init == WeightInit::orthogonal) {
    fill_orthogonal(tensor(".weight"), static_cast<std::size_t>(fan_in(layer)), layer.init_norm,
                    rng);
  } else {
    fill_normc(tensor(".weight"), static_cast<std::size_t>(fan_in(layer)), layer.init_norm, rng);
  }
  if (layer.sigma0 > 0.0) {
    const auto sigma = static_cast<float>(layer.sigma0 / std::sqrt(inputs));
    std::ranges::fill(tensor(".weight_sigma"), sigma);
    std::ranges::fill(tensor(".bias_sigma"), sigma);
  }
}

}  // namespace

Weights fresh_weights(const NetSpec& spec, Rng rng) {
  Weights weights{.tensors = RecordBatch(tensors_of(spec), 1)};
  for (const LayerSpec& layer : spec.layers) {
    Rng stream = rng.split(layer.name);
    fill(layer, weights.tensors, stream);
  }
  return weights;
}

}  // namespace knurl
