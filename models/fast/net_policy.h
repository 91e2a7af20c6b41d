#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "knurl/models/action_adapter.h"
#include "knurl/models/action_mask.h"
#include "knurl/models/distributions/action_distribution.h"
#include "knurl/models/fast/fast_net.h"
#include "knurl/models/observation_encoder.h"
#include "knurl/models/policy.h"
#include "knurl/models/q_head.h"

namespace knurl {

/// A policy whose net is fully connected, run without LibTorch. The net's output
/// column::kDistInputs feeds the distribution; column::kValues, where it has one, is the state's
/// value. A Q net has column::kActionScores and perhaps column::kStateScores instead, from which
/// q_head makes the action values that stand for the distribution's inputs.
class NetPolicy final : public Policy {
 public:
  struct Parts {
    NetSpec net = {};
    SpaceLayout observations;
    SpaceLayout actions;
    ActionOptions action_options = {};
    std::unique_ptr<Exploration> exploration = nullptr;
    std::optional<QHead> q_head = std::nullopt;
    /// Where noisy layers' noise comes from, anew for each version of the weights; nothing: they
    /// act without.
    std::optional<Rng> noise = std::nullopt;
    /// Which actions observations allow; the net does not read it.
    ActionMask mask = {};
    /// Put out action_logp and action_dist_inputs beside the actions.
    bool distribution_columns = true;
  };

  explicit NetPolicy(Parts parts);

  [[nodiscard]] std::vector<ColumnSpec> output_columns() const override;
  PolicyOutput act(const PolicyInput& input) override;
  [[nodiscard]] std::vector<ColumnSpec> memory_columns() const override { return memory_of(spec_); }
  [[nodiscard]] bool has_values() const override { return has_values_; }
  void values(const PolicyInput& input, std::span<float> out) override;
  [[nodiscard]] const Weights& weights() const override { return weights_; }
  void set_weights(const Weights& weights) override;
  [[nodiscard]] Exploration& exploration() override { return *exploration_; }
  using Policy::summary;
  [[nodiscard]] std::string summary(const std::string& part) const override;

  /// How a Q net's outputs become action values; nothing for other nets.
  [[nodiscard]] const std::optional<QHead>& q_head() const { return q_head_; }
  /// The action values [rows, actions] that a Q net gives observations, as they last act on them.
  /// Throws std::logic_error for other nets.
  void q_values(const ConstRows& observations, std::int64_t rows, std::span<float> out);
  /// Their distributions [rows, actions, atoms] over the support.
  void q_distributions(const ConstRows& observations, std::int64_t rows, std::span<float> out);

 private:
  void forward(const PolicyInput& input);
  void remember(const PolicyInput& input) const;
  DistributionRows distribution_inputs(std::int64_t rows);
  DistributionRows masked(const DistributionRows& in, const ConstRows& observations);
  void combine_row(std::int64_t row);
  [[nodiscard]] SdeFeatures sde_features() const;
  void add_distribution_columns(const DistributionRows& in);
  void make_room(std::int64_t rows);

  SpaceLayout action_layout_;
  ActionDistribution distribution_;
  ActionAdapter adapter_;
  ActionMask mask_;
  ObservationEncoder encoder_;
  std::unique_ptr<Exploration> exploration_;
  NetSpec spec_;       ///< with its noisy layers
  fast::FastNet net_;  ///< without
  std::optional<QHead> q_head_;
  std::optional<Rng> noise_;
  bool distribution_columns_;
  std::optional<std::size_t> sde_layer_;  ///< its place in the spec
  const float* inputs_ = nullptr;         ///< what the last forward read
  std::vector<float> combined_;           ///< one row's scores of a Q net
  std::vector<float> masked_;             ///< logits of allowed actions, one row an observation
  std::vector<float> q_;                  ///< action values, one row an observation
  Weights weights_;
  bool has_values_;
  std::size_t memory_columns_;
  RecordBatch columns_;
  RecordBatch env_action_columns_;
  Rows env_actions_;
};

}  // namespace knurl
