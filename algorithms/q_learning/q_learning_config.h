#pragma once

#include "knurl/algorithms/algorithm_config.h"
#include "knurl/models/tabular/tabular_policy.h"

namespace knurl {

/// What a step learns to expect of the state after it (losses/q_update.h).
enum class UpdateRule { q_learning, sarsa, expected_sarsa, double_q };
constexpr auto names(UpdateRule) {
  return std::array{
      std::pair{UpdateRule::q_learning, "q_learning"},
      std::pair{UpdateRule::sarsa, "sarsa"},
      std::pair{UpdateRule::expected_sarsa, "expected_sarsa"},
      std::pair{UpdateRule::double_q, "double_q"},
  };
}

/// Q-learning's own options.
struct QLearningOptions {
  Opt<double> initial_q = Default{0.0};
  Opt<UpdateRule> update_rule = Default{UpdateRule::q_learning};
  Opt<double> visit_power = Default{0.0};

  static void fields(auto& self, auto&& field) {
    field(
        "initial_q", self.initial_q,
        "value of every action in a fresh table; above what can be reached, it makes all be tried",
        Range{-1e9, 1e9});
    field("update_rule", self.update_rule,
          "what is expected of the next state: the best action's value (q_learning), the taken "
          "one's (sarsa), the mean over the exploring policy's (expected_sarsa), or by two tables "
          "that judge each other's choices (double_q)");
    field("visit_power", self.visit_power,
          "the n-th update of a state's action has the step size lr / n^visit_power; 0: lr",
          Range{0, 1});
  }
};

class QLearningConfig final : public ConfigBuilder<QLearningConfig, QLearningOptions> {
 public:
  QLearningConfig();

  [[nodiscard]] std::string_view algorithm() const override { return "QLearning"; }
  [[nodiscard]] std::unique_ptr<Policy> make_policy(const EnvSpec& env, Acting acting,
                                                    const WorkerPlace& place) const override;
  [[nodiscard]] QTables tables() const {
    return *own().update_rule == UpdateRule::double_q ? QTables::two : QTables::one;
  }
  [[nodiscard]] std::vector<MetricInfo> learner_metrics() const override;
  [[nodiscard]] std::vector<std::string> unused_options() const override {
    return {"model",
            "optimizer",
            "grad_clip",
            "grad_clip_by",
            "normalize_actions",
            "clip_actions",
            "observation_filter",
            "num_cpus_for_local_worker"};
  }

 protected:
  void check_own() const override;
  std::unique_ptr<Algorithm> make_algorithm(
      std::unique_ptr<const AlgorithmConfig> resolved) const override;
};

}  // namespace knurl
