#pragma once

#include "knurl/algorithms/algorithm_config.h"
#include "knurl/algorithms/losses/td_loss.h"
#include "knurl/models/net_spec.h"
#include "knurl/models/q_head.h"

namespace knurl {

enum class ReplayType { uniform, prioritized };
constexpr auto names(ReplayType) {
  return std::array{
      std::pair{ReplayType::prioritized, "MultiAgentPrioritizedReplayBuffer"},
      std::pair{ReplayType::prioritized, "PrioritizedReplayBuffer"},
      std::pair{ReplayType::prioritized, "PrioritizedEpisodeReplayBuffer"},
      std::pair{ReplayType::prioritized, "MultiAgentPrioritizedEpisodeReplayBuffer"},
      std::pair{ReplayType::uniform, "MultiAgentReplayBuffer"},
      std::pair{ReplayType::uniform, "ReplayBuffer"},
      std::pair{ReplayType::uniform, "EpisodeReplayBuffer"},
      std::pair{ReplayType::uniform, "MultiAgentEpisodeReplayBuffer"},
  };
}

/// `replay_buffer_config` in files; RLlib's names and defaults.
struct ReplayConfig {
  Opt<ReplayType> type = Default{ReplayType::prioritized};
  Opt<int> capacity = Default{50'000};
  Opt<double> prioritized_replay_alpha = Default{0.6};
  Opt<Schedule> prioritized_replay_beta = Default{0.4};
  Opt<double> prioritized_replay_eps = Default{1e-6};

  static void fields(auto& self, auto&& field) {
    field("type", self.type, "how transitions are drawn: by priority, or all alike");
    field("capacity", self.capacity, "transitions that are kept; the oldest make room",
          Range{1, 1 << 30});
    field("prioritized_replay_alpha", self.prioritized_replay_alpha,
          "how much priorities count: 0 not at all, 1 in full", Range{0, 10}, Aliases{{"alpha"}});
    field("prioritized_replay_beta", self.prioritized_replay_beta,
          "how much of the bias of drawing by priority is made up for, constant or over env steps",
          Range{0, 1}, Aliases{{"beta"}});
    field("prioritized_replay_eps", self.prioritized_replay_eps,
          "added to errors, so that every transition may be drawn", above(0));
  }
};

constexpr auto names(TdErrorLoss) {
  return std::array{std::pair{TdErrorLoss::huber, "huber"}, std::pair{TdErrorLoss::mse, "mse"}};
}

/// DQN's own options; RLlib's names and defaults.
struct DqnOptions {
  Opt<int> target_network_update_freq = Default{500};
  Opt<double> tau = Default{1.0};
  Opt<std::int64_t> num_steps_sampled_before_learning_starts = Default{1000};
  Opt<std::optional<double>> training_intensity = Default{std::nullopt};
  Opt<int> n_step = Default{1};
  Opt<bool> double_q = Default{true};
  Opt<bool> dueling = Default{true};
  Opt<std::vector<int>> hiddens = Default{std::vector{256}};
  Opt<TdErrorLoss> td_error_loss_fn = Default{TdErrorLoss::huber};
  Opt<int> num_atoms = Default{1};
  Opt<double> v_min = Default{-10.0};
  Opt<double> v_max = Default{10.0};
  Opt<bool> noisy = Default{false};
  Opt<double> sigma0 = Default{0.5};
  Opt<double> adam_epsilon = Default{1e-8};
  ReplayConfig replay_buffer_config = {};
  Opt<bool> store_buffer_in_checkpoints = Default{true};
  Opt<double> categorical_distribution_temperature = Default{1.0};

  static void fields(auto& self, auto&& field) {
    field("target_network_update_freq", self.target_network_update_freq,
          "env steps from one update of the target net to the next; 0: after each gradient step",
          at_least(0));
    field("tau", self.tau, "how far the target net then moves to the net; 1: a copy",
          Range{.low = 0, .high = 1, .low_open = true});
    field("num_steps_sampled_before_learning_starts", self.num_steps_sampled_before_learning_starts,
          "env steps before the first gradient step", at_least(0), Aliases{{"learning_starts"}});
    field("training_intensity", self.training_intensity,
          "transitions learnt from for each env step; null: one gradient step a fragment",
          above(0));
    field("n_step", self.n_step, "rewards that a transition sums before it bootstraps",
          Range{1, 10'000});
    field("double_q", self.double_q, "the net chooses the next action, the target net judges it");
    field("dueling", self.dueling, "a value of the state and advantages of the actions");
    field("hiddens", self.hiddens, "units of each hidden layer (relu) of the heads",
          Range{1, 1 << 20});
    field("td_error_loss_fn", self.td_error_loss_fn, "loss of an error");
    field("num_atoms", self.num_atoms,
          "atoms of the distribution of returns (C51); 1: learn their mean", Range{1, 10'000});
    field("v_min", self.v_min, "least return of the distribution", Range{-1e9, 1e9});
    field("v_max", self.v_max, "largest return of the distribution", Range{-1e9, 1e9});
    field("noisy", self.noisy, "explore by learnt noise in the heads' weights");
    field("sigma0", self.sigma0, "that noise at the start", above(0));
    field("adam_epsilon", self.adam_epsilon, "the same as optimizer.epsilon", at_least(1e-30));
    field("replay_buffer_config", self.replay_buffer_config, "what is remembered, how it is drawn");
    field("store_buffer_in_checkpoints", self.store_buffer_in_checkpoints,
          "checkpoints hold the replay buffer, so that a resumed run is the run uninterrupted");
    field("categorical_distribution_temperature", self.categorical_distribution_temperature,
          "action values are divided by it before SoftQ and StochasticSampling draw from their "
          "softmax and ParameterNoise compares them",
          above(0));
  }
};

/// DQN, and RLlib's SimpleQ: the same with plain defaults (no double, dueling or priorities).
class DQNConfig final : public ConfigBuilder<DQNConfig, DqnOptions> {
 public:
  enum class Preset { dqn, simple_q };

  explicit DQNConfig(Preset preset = Preset::dqn);

  [[nodiscard]] std::string_view algorithm() const override {
    return preset_ == Preset::dqn ? "DQN" : "SimpleQ";
  }
  [[nodiscard]] std::unique_ptr<AlgorithmConfig> fresh() const override {
    return std::make_unique<DQNConfig>(preset_);
  }
  [[nodiscard]] std::unique_ptr<Policy> make_policy(const EnvSpec& env, Acting acting,
                                                    const WorkerPlace& place) const override;
  [[nodiscard]] std::vector<MetricInfo> learner_metrics() const override;
  /// The net for these spaces: outputs action_scores and, dueling, state_scores.
  [[nodiscard]] NetSpec net_for(const SpaceLayout& observations, const SpaceLayout& actions) const;
  [[nodiscard]] QHead head_for(const SpaceLayout& actions) const;
  /// Fragments that are stored before the next gradient steps, and how many of those follow: as
  /// near to training_intensity as whole numbers come.
  struct Rounds {
    int stores = 1;
    int updates = 1;
    bool operator==(const Rounds&) const = default;
  };
  /// Of a resolved config.
  [[nodiscard]] Rounds rounds() const;
  [[nodiscard]] std::vector<std::string> own_policy_options() const override;

 protected:
  [[nodiscard]] int auto_fragment_length(int num_envs) const override;
  void resolve_own() override;
  void check_own() const override;
  std::unique_ptr<Algorithm> make_algorithm(
      std::unique_ptr<const AlgorithmConfig> resolved) const override;

 private:
  /// Exploration of action values divided by categorical_distribution_temperature.
  [[nodiscard]] ExplorationConfig exploration_of_values() const;

  Preset preset_;
};

}  // namespace knurl
