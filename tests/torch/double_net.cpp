#include "double_net.h"

#include <algorithm>
#include <cmath>

#include "knurl/core/base/check.h"
#include "knurl/models/weights.h"

namespace knurl {
namespace {

double activated(Activation activation, double x) {
  switch (activation) {
    case Activation::linear:
      return x;
    case Activation::tanh:
      return std::tanh(x);
    case Activation::relu:
      return std::max(x, 0.0);
    case Activation::elu:
      return x > 0.0 ? x : std::expm1(x);
    case Activation::silu:
      return x / (1.0 + std::exp(-x));
  }
  return x;
}

}  // namespace

DoubleNet::DoubleNet(NetSpec spec, RecordBatch weights, const RecordBatch* noise)
    : spec_(std::move(spec)), weights_(std::move(weights)), noise_(noise) {
  const auto numbers = flat(weights_);
  parameters_.assign(numbers.begin(), numbers.end());
}

DoubleNet::Tensor DoubleNet::tensor(const std::string& name) const {
  const auto place = [&](const std::string& of) {
    return parameters_.data() + (weights_.column<float>(of).span().data() - flat(weights_).data());
  };
  if (!noise_ || !weights_.has(name + "_sigma")) return {.mu = place(name)};
  return {.mu = place(name),
          .sigma = place(name + "_sigma"),
          .noise = noise_->column<float>(name).span().data()};
}

DoubleNet::Rows DoubleNet::run(const LayerSpec& layer, const Rows& inputs) const {
  Rows out(inputs.size(), std::vector<double>(static_cast<std::size_t>(layer.outputs)));
  // each element k of each row from the row that the layer reads
  const auto fill = [&](auto element) {
    for (std::size_t row = 0; row < out.size(); ++row) {
      for (std::size_t k = 0; k < out[row].size(); ++k) out[row][k] = element(inputs[row], k);
    }
  };
  const auto named = [&](const char* part) { return tensor(layer.name + part); };
  if (layer.kind == LayerKind::dense) {
    fill([&, weight = named(".weight"), bias = named(".bias")](const auto& x, std::size_t k) {
      double sum = bias[k];
      for (std::size_t i = 0; i < x.size(); ++i) sum += weight[k * x.size() + i] * x[i];
      return activated(layer.activation, sum);
    });
  } else if (layer.kind == LayerKind::free) {
    fill([&, value = named(".value")](const auto&, std::size_t k) { return value[k]; });
  } else if (layer.kind == LayerKind::filter) {
    constexpr double kMost = kFilterClip;
    fill([&, mean = named(".mean"), scale = named(".scale")](const auto& x, std::size_t k) {
      return std::clamp((x[k] - mean[k]) * scale[k], -kMost, kMost);
    });
  } else {
    check(layer.kind == LayerKind::sde_log_std, "the layer's kind is one of those above");
    fill([&, value = named(".value")](const auto& x, std::size_t k) {
      double variance = kSdeEpsilon;
      const auto outputs = static_cast<std::size_t>(layer.outputs);
      for (std::size_t i = 0; i < x.size(); ++i) {
        variance += x[i] * x[i] * std::exp(2.0 * value[i * outputs + k]);
      }
      return 0.5 * std::log(variance);
    });
  }
  return out;
}

std::vector<DoubleNet::Rows> DoubleNet::results(const Rows& inputs) const {
  std::vector<Rows> out;
  for (const LayerSpec& layer : spec_.layers) {
    const bool held = layer.kind == LayerKind::sde_log_std && !held_.empty();
    const std::vector<Rows>& seen = held ? held_ : out;
    out.push_back(run(layer, layer.source ? seen[*layer.source] : inputs));
  }
  return out;
}

std::vector<DoubleNet::Rows> DoubleNet::forward(const Rows& inputs) const {
  const std::vector<Rows> layers = results(inputs);
  std::vector<Rows> out;
  for (const NetOutput& output : spec_.outputs) {
    Rows rows(inputs.size());
    for (const std::size_t layer : output.layers) {
      for (std::size_t row = 0; row < rows.size(); ++row) {
        rows[row].insert(rows[row].end(), layers[layer][row].begin(), layers[layer][row].end());
      }
    }
    out.push_back(std::move(rows));
  }
  return out;
}

}  // namespace knurl
