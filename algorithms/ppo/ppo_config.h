#pragma once

#include "knurl/algorithms/algorithm_config.h"
#include "knurl/models/distributions/action_distribution.h"
#include "knurl/models/net_spec.h"

namespace knurl {

/// Over what advantages get mean 0 and standard deviation 1.
enum class AdvantageScaling { batch, minibatch, none };
constexpr auto names(AdvantageScaling) {
  return std::array{std::pair{AdvantageScaling::batch, "batch"},
                    std::pair{AdvantageScaling::minibatch, "minibatch"},
                    std::pair{AdvantageScaling::none, "none"}};
}

constexpr auto names(BoxDistribution) {
  return std::array{std::pair{BoxDistribution::gaussian, "gaussian"},
                    std::pair{BoxDistribution::squashed_gaussian, "squashed_gaussian"}};
}

/// PPO's own options; RLlib's names and defaults.
struct PpoOptions {
  Opt<bool> use_critic = Default{true};
  Opt<bool> use_gae = Default{true};
  Opt<double> lambda_ = Default{1.0};
  Opt<bool> use_kl_loss = Default{true};
  Opt<double> kl_coeff = Default{0.2};
  Opt<double> kl_target = Default{0.01};
  Opt<int> sgd_minibatch_size = Default{128};
  Opt<int> num_sgd_iter = Default{30};
  Opt<bool> shuffle_sequences = Default{true};
  Opt<double> vf_loss_coeff = Default{1.0};
  Opt<Schedule> entropy_coeff = Default{0.0};
  Opt<std::optional<Schedule>> entropy_coeff_schedule = Default{std::nullopt};
  Opt<Schedule> clip_param = Default{0.3};
  Opt<double> vf_clip_param = Default{10.0};
  Opt<std::optional<double>> target_kl = Default{std::nullopt};
  Opt<AdvantageScaling> advantage_scaling = Default{AdvantageScaling::batch};
  Opt<BoxDistribution> box_distribution = Default{BoxDistribution::gaussian};
  Opt<bool> use_sde = Default{false};
  Opt<int> sde_sample_freq = Default{-1};
  Opt<double> log_std_init = Default{0.0};

  static void fields(auto& self, auto&& field) {
    field("use_critic", self.use_critic, "judge actions against a learnt value of the state");
    field("use_gae", self.use_gae,
          "estimate advantages by lambda; false: what followed, minus the value");
    field("lambda", self.lambda_,
          "generalized advantage estimation: 0 trusts the critic, 1 the returns", Range{0, 1},
          Aliases{{"lambda_"}});
    field("use_kl_loss", self.use_kl_loss,
          "add a penalty on the KL divergence from the old policy");
    field("kl_coeff", self.kl_coeff, "weight of that penalty at the start; it adapts", at_least(0));
    field("kl_target", self.kl_target, "KL divergence that the weight adapts to", above(0));
    field("sgd_minibatch_size", self.sgd_minibatch_size, "env steps of one gradient step",
          at_least(1), Aliases{{"minibatch_size"}});
    field("num_sgd_iter", self.num_sgd_iter, "passes over a training batch", at_least(1),
          Aliases{{"num_epochs"}});
    field("shuffle_sequences", self.shuffle_sequences, "mix the batch anew for each pass",
          Aliases{{"shuffle_batch_per_epoch"}});
    field("vf_loss_coeff", self.vf_loss_coeff, "weight of the value loss", at_least(0));
    field("entropy_coeff", self.entropy_coeff,
          "weight of the entropy bonus, constant or over env steps", at_least(0));
    field("entropy_coeff_schedule", self.entropy_coeff_schedule,
          "weight of the entropy bonus over env steps: instead of entropy_coeff", at_least(0));
    field("clip_param", self.clip_param,
          "how far the policy may move: clip of the ratio, constant or over env steps",
          Range{.low = 0});
    field("vf_clip_param", self.vf_clip_param,
          "squared errors of the value beyond this teach nothing; .inf: all teach",
          above_or_infinite(0));
    field("target_kl", self.target_kl,
          "end the passes over a batch where the KL divergence from the old policy is above 1.5 "
          "times this; null: never",
          above(0));
    field("advantage_scaling", self.advantage_scaling,
          "over what advantages get mean 0 and standard deviation 1");
    field("box_distribution", self.box_distribution,
          "how Box actions are drawn; squashed: in [-1, 1], for normalize_actions");
    field("use_sde", self.use_sde,
          "state-dependent exploration (gSDE) of Box actions: noise as a function of the state");
    field("sde_sample_freq", self.sde_sample_freq,
          "steps after which that noise is drawn anew; -1: once a fragment", at_least(-1));
    field("log_std_init", self.log_std_init,
          "log standard deviations of a fresh model with free_log_std or use_sde", Range{-20, 20});
  }
};

class PPOConfig final : public ConfigBuilder<PPOConfig, PpoOptions> {
 public:
  PPOConfig();

  [[nodiscard]] std::string_view algorithm() const override { return "PPO"; }
  [[nodiscard]] std::unique_ptr<Policy> make_policy(const EnvSpec& env, Acting acting,
                                                    const WorkerPlace& place) const override;
  [[nodiscard]] std::vector<MetricInfo> learner_metrics() const override;
  [[nodiscard]] ActionMask action_mask(const SpaceLayout& observations,
                                       const SpaceLayout& actions) const override;
  [[nodiscard]] bool learns_from_sequences() const override { return true; }
  [[nodiscard]] std::vector<std::string> own_policy_options() const override {
    return {"box_distribution", "use_sde"};
  }
  [[nodiscard]] ActionDistribution distribution(const SpaceLayout& actions) const;
  /// The net for these spaces: outputs action_dist_inputs and vf_preds.
  [[nodiscard]] NetSpec net_for(const SpaceLayout& observations, const SpaceLayout& actions) const;

 protected:
  void resolve_own() override;
  void check_own() const override;
  void check_batches() const override;
  std::unique_ptr<Algorithm> make_algorithm(
      std::unique_ptr<const AlgorithmConfig> resolved) const override;
};

}  // namespace knurl
