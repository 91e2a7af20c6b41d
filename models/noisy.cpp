#include "knurl/models/noisy.h"

#include <algorithm>
#include <cmath>

#include "knurl/core/base/check.h"

namespace knurl {
namespace {

std::vector<float> scaled_noise(int n, Rng& rng) {
  std::vector<float> out(static_cast<std::size_t>(n));
  for (float& x : out) {
    const double e = rng.normal();
    x = static_cast<float>(std::copysign(std::sqrt(std::abs(e)), e));
  }
  return out;
}

/// Calls `visit(tensor, noisy)` with the name of each tensor of the plain net.
template <class Visit>
void for_each_tensor(const RecordBatch& weights, const RecordBatch& plain, Visit visit) {
  for (const ColumnSpec& column : plain.columns()) {
    visit(column.name, weights.has(column.name + "_sigma"));
  }
}

/// to = mu + sigma * noise, tensor by tensor.
void make_plain(const RecordBatch& weights, const RecordBatch* noise, RecordBatch& to) {
  for_each_tensor(weights, to, [&](const std::string& name, bool noisy) {
    const auto mu = weights.column<float>(name).span();
    const auto out = to.column<float>(name).span();
    std::ranges::copy(mu, out.begin());
    if (!noisy || !noise) return;
    const auto sigma = weights.column<float>(name + "_sigma").span();
    const auto e = noise->column<float>(name).span();
    for (std::size_t i = 0; i < out.size(); ++i) out[i] += sigma[i] * e[i];
  });
}

class NoisyNet final : public TrainableNet {
 public:
  NoisyNet(NetSpec spec, const Weights& weights, std::unique_ptr<TrainableNet> plain)
      : spec_(std::move(spec)),
        plain_(std::move(plain)),
        parameters_(weights.tensors),
        gradients_(parameters_.columns(), 1),
        noise_(plain_->parameters().columns(), 1) {
    check(parameters_.columns() == tensors_of(spec_), "weights are those of this net");
  }

  [[nodiscard]] RecordBatch& parameters() override { return parameters_; }
  [[nodiscard]] RecordBatch& gradients() override { return gradients_; }

  void draw_noise(const Rng& rng) override { noise_ = knurl::draw_noise(spec_, rng); }

  std::vector<std::span<const float>> forward(const RecordBatch& minibatch,
                                              const Sequences& sequences) override {
    make_plain(parameters_, &noise_, plain_->parameters());
    return plain_->forward(minibatch, sequences);
  }
  void backward(const std::vector<std::span<const float>>& output_gradients) override {
    plain_->backward(output_gradients);
    const RecordBatch& plain = plain_->gradients();
    for_each_tensor(parameters_, plain, [&](const std::string& name, bool noisy) {
      const auto from = plain.column<float>(name).span();
      std::ranges::copy(from, gradients_.column<float>(name).data());
      if (!noisy) return;
      const auto e = noise_.column<float>(name).span();
      const auto sigma = gradients_.column<float>(name + "_sigma").span();
      for (std::size_t i = 0; i < sigma.size(); ++i) sigma[i] = from[i] * e[i];
    });
  }

 private:
  NetSpec spec_;
  std::unique_ptr<TrainableNet> plain_;
  RecordBatch parameters_;
  RecordBatch gradients_;
  RecordBatch noise_;
};

}  // namespace

bool has_noise(const NetSpec& spec) {
  return std::ranges::any_of(spec.layers, [](const LayerSpec& l) { return l.sigma0 > 0.0; });
}

NetSpec without_noise(NetSpec spec) {
  for (LayerSpec& layer : spec.layers) layer.sigma0 = 0.0;
  return spec;
}

RecordBatch draw_noise(const NetSpec& spec, Rng rng) {
  RecordBatch out(tensors_of(without_noise(spec)), 1);
  for (const LayerSpec& layer : spec.layers) {
    if (layer.sigma0 == 0.0) continue;
    const std::vector<float> in = scaled_noise(layer.inputs, rng);
    const std::vector<float> units = scaled_noise(layer.outputs, rng);
    float* weight = out.column<float>(layer.name + ".weight").data();
    for (const float unit : units) {
      for (const float x : in) *weight++ = unit * x;
    }
    std::ranges::copy(units, out.column<float>(layer.name + ".bias").data());
  }
  return out;
}

Weights plain_weights(const NetSpec& spec, const Weights& weights, const RecordBatch* noise) {
  Weights out{.tensors = RecordBatch(tensors_of(without_noise(spec)), 1),
              .version = weights.version};
  make_plain(weights.tensors, noise, out.tensors);
  return out;
}

std::unique_ptr<TrainableNet> make_noisy_net(NetSpec spec, const Weights& weights,
                                             std::unique_ptr<TrainableNet> plain) {
  return std::make_unique<NoisyNet>(std::move(spec), weights, std::move(plain));
}

}  // namespace knurl
