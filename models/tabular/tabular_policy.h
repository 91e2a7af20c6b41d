#pragma once

#include <cstdint>
#include <memory>
#include <span>

#include "knurl/models/action_adapter.h"
#include "knurl/models/columns.h"
#include "knurl/models/policy.h"
#include "knurl/models/tabular/state_index.h"

namespace knurl {

/// The tensor of a table of action values, [states, actions], and that of the second of two.
inline constexpr const char* kQTable = "q_table";
inline constexpr const char* kSecondQTable = "second_q_table";

/// One table of action values, or two that learn from each other (double Q-learning).
enum class QTables { one, two };

/// Tables of zeros for a finite observation space and a Discrete action space.
Weights fresh_table(const StateIndex& states, const SpaceLayout& actions,
                    QTables tables = QTables::one);

/// The values that a policy acts by, the mean of its tables, from element `first` on.
void acting_values(const RecordBatch& tables, std::int64_t first, std::span<float> out);

/// Chooses by a table of action values, or by the mean of two. Greedy choices take the first of
/// equal values.
class TabularPolicy final : public Policy {
 public:
  TabularPolicy(const SpaceLayout& observations, const SpaceLayout& actions,
                std::unique_ptr<Exploration> exploration, QTables tables = QTables::one);

  [[nodiscard]] std::vector<ColumnSpec> output_columns() const override {
    return {{column::kActions, DType::int64, {}}};
  }
  PolicyOutput act(const PolicyInput& input) override;
  [[nodiscard]] const Weights& weights() const override { return table_; }
  void set_weights(const Weights& weights) override;
  [[nodiscard]] Exploration& exploration() override { return *exploration_; }
  using Policy::summary;
  [[nodiscard]] std::string summary(const std::string& part) const override;

 private:
  StateIndex states_;
  SpaceLayout actions_;
  Categorical distribution_;
  ActionAdapter adapter_;
  std::unique_ptr<Exploration> exploration_;
  Weights table_;
  RecordBatch rows_;  ///< values for the last observations, and the actions
  RecordBatch env_action_columns_;
  Rows env_actions_;
};

}  // namespace knurl
