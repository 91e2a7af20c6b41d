#pragma once

#include <memory>

#include "knurl/models/action_adapter.h"
#include "knurl/models/distributions/action_distribution.h"
#include "knurl/models/fast/fast_net.h"
#include "knurl/models/observation_encoder.h"
#include "knurl/models/policy.h"

namespace knurl {

/// A policy whose net is fully connected, run without LibTorch. The net's output
/// column::kDistInputs feeds the distribution; column::kValues, where it has one, is the state's
/// value.
class NetPolicy final : public Policy {
 public:
  struct Parts {
    NetSpec net = {};
    SpaceLayout observations;
    SpaceLayout actions;
    ActionOptions action_options = {};
    std::unique_ptr<Exploration> exploration = nullptr;
  };

  explicit NetPolicy(Parts parts);

  [[nodiscard]] std::vector<ColumnSpec> output_columns() const override;
  PolicyOutput act(const PolicyInput& input) override;
  [[nodiscard]] bool has_values() const override { return has_values_; }
  void values(const ConstRows& observations, std::int64_t rows, std::span<float> out) override;
  [[nodiscard]] const Weights& weights() const override { return weights_; }
  void set_weights(const Weights& weights) override;
  [[nodiscard]] Exploration& exploration() override { return *exploration_; }
  [[nodiscard]] std::string summary() const override;

 private:
  void forward(const ConstRows& observations, std::int64_t rows);
  void make_room(std::int64_t rows);

  SpaceLayout action_layout_;
  ActionDistribution distribution_;
  ActionAdapter adapter_;
  ObservationEncoder encoder_;
  std::unique_ptr<Exploration> exploration_;
  fast::FastNet net_;
  Weights weights_;
  bool has_values_;
  RecordBatch columns_;
  RecordBatch env_action_columns_;
  Rows env_actions_;
};

}  // namespace knurl
