#pragma once

#include "knurl/algorithms/algorithm_config.h"

namespace knurl {

/// Q-learning's own options.
struct QLearningOptions {
  Opt<double> initial_q = Default{0.0};

  static void fields(auto& self, auto&& field) {
    field("initial_q", self.initial_q, "value of every action in a fresh table", Range{-1e9, 1e9});
  }
};

class QLearningConfig final : public ConfigBuilder<QLearningConfig, QLearningOptions> {
 public:
  QLearningConfig();

  [[nodiscard]] std::string_view algorithm() const override { return "QLearning"; }
  [[nodiscard]] std::unique_ptr<Policy> make_policy(const EnvSpec& env, Acting acting,
                                                    const WorkerPlace& place) const override;
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
