#pragma once

#include <span>
#include <string>
#include <vector>

#include "knurl/models/net_spec.h"

namespace knurl {

/// A fully connected net in double precision and plain loops, as net_spec.h defines it: what the
/// real ones are compared with. No gradients.
class DoubleNet {
 public:
  using Rows = std::vector<std::vector<double>>;

  /// `noise` is what noisy layers drew, or null.
  DoubleNet(NetSpec spec, RecordBatch weights, const RecordBatch* noise = nullptr);

  /// All parameters, laid out as flat() of the weights.
  [[nodiscard]] std::span<double> parameters() { return parameters_; }

  /// The outputs, each [rows][size].
  [[nodiscard]] std::vector<Rows> forward(const Rows& inputs) const;

  /// From now on state-dependent noise sees its features as they are now: it does not teach them.
  void hold_features(const Rows& inputs) { held_ = results(inputs); }

 private:
  /// One tensor: mu, or in a noisy layer mu + sigma * noise.
  struct Tensor {
    const double* mu;
    const double* sigma = nullptr;
    const float* noise = nullptr;
    double operator[](std::size_t i) const { return sigma ? mu[i] + sigma[i] * noise[i] : mu[i]; }
  };

  [[nodiscard]] std::vector<Rows> results(const Rows& inputs) const;
  [[nodiscard]] Rows run(const LayerSpec& layer, const Rows& inputs) const;
  [[nodiscard]] Tensor tensor(const std::string& name) const;

  NetSpec spec_;
  RecordBatch weights_;
  const RecordBatch* noise_;
  std::vector<double> parameters_;
  std::vector<Rows> held_;  ///< of each layer; empty: nothing is held
};

}  // namespace knurl
