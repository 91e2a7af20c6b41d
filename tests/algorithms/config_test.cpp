#include <gtest/gtest.h>

#include "knurl/algorithms/algorithm.h"
#include "knurl/algorithms/algorithm_config.h"
#include "knurl/algorithms/ppo/ppo_config.h"
#include "knurl/algorithms/q_learning/q_learning_config.h"
#include "knurl/algorithms/registry.h"
#include "knurl/algorithms/rllib_keys.h"
#include "knurl/core/config/yaml.h"

namespace knurl {
namespace {

std::string refusal(const std::function<void()>& call) {
  try {
    call();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::config);
    return error.what();
  }
  return "accepted";
}

std::string refusal_of(const std::string& yaml, const std::string& algorithm = "PPO") {
  return refusal([&] {
    const auto config = make_config(algorithm);
    config->update(parse_yaml(yaml, "a.yaml"), "config");
    (void)config->resolved();
  });
}

template <class T>
void expect_every_member_is_a_field() {
  EXPECT_EQ(schema_of<T>().fields().size(), member_count<T>());
}

TEST(Config, EveryMemberIsAField) {
  expect_every_member_is_a_field<EnvironmentOptions>();
  expect_every_member_is_a_field<RolloutOptions>();
  expect_every_member_is_a_field<TrainingOptions>();
  expect_every_member_is_a_field<ExplorationOptions>();
  expect_every_member_is_a_field<EvaluationOptions>();
  expect_every_member_is_a_field<ResourceOptions>();
  expect_every_member_is_a_field<ReportingOptions>();
  expect_every_member_is_a_field<CallbackOptions>();
  expect_every_member_is_a_field<DebuggingOptions>();
  expect_every_member_is_a_field<ModelConfig>();
  expect_every_member_is_a_field<OptimizerConfig>();
  expect_every_member_is_a_field<ExplorationConfig>();
  expect_every_member_is_a_field<PpoOptions>();
  expect_every_member_is_a_field<QLearningOptions>();
}

TEST(Config, OptionNamesAreDistinctAcrossGroups) {
  for (const AlgorithmEntry& entry : registered_algorithms()) {
    std::set<std::string> names;
    const auto config = entry.make_config();
    for (const Section& section : config->sections()) {
      for (const Field& field : section.schema->fields()) {
        EXPECT_TRUE(names.insert(field.name).second) << field.name;
        for (const std::string& alias : field.aliases) {
          EXPECT_TRUE(names.insert(alias).second) << alias;
        }
        EXPECT_FALSE(field.sentence.empty());
      }
    }
    for (const ForeignKey& key : rllib_keys()) EXPECT_FALSE(names.contains(key.path)) << key.path;
  }
}

TEST(Config, DefaultsAreRllibs) {
  const PPOConfig ppo;
  EXPECT_EQ(ppo.common().training.lr->at(0), 5e-5);
  EXPECT_EQ(ppo.common().training.train_batch_size, 4000);
  EXPECT_EQ(ppo.common().training.gamma, 0.99);
  EXPECT_EQ(ppo.common().rollouts.num_rollout_workers, 2);
  EXPECT_TRUE(ppo.common().rollouts.rollout_fragment_length->is_auto());
  EXPECT_EQ(*ppo.common().training.model.fcnet_hiddens, (std::vector{256, 256}));
  EXPECT_FALSE(ppo.common().training.model.vf_share_layers);
  EXPECT_EQ(ppo.own().lambda_, 1.0);
  EXPECT_EQ(ppo.own().kl_coeff, 0.2);
  EXPECT_EQ(ppo.own().kl_target, 0.01);
  EXPECT_EQ(ppo.own().sgd_minibatch_size, 128);
  EXPECT_EQ(ppo.own().num_sgd_iter, 30);
  EXPECT_EQ(ppo.own().clip_param, Schedule(0.3));
  EXPECT_EQ(ppo.own().vf_clip_param, 10.0);
  EXPECT_EQ(ppo.own().vf_loss_coeff, 1.0);
}

TEST(Config, SettingOneOptionResetsNoOther) {
  PPOConfig config;
  config.training({.lr = 3e-4}, {.clip_param = 0.2}).training({.gamma = 0.9});
  config.rollouts({.num_rollout_workers = 1}).rollouts({.num_envs_per_worker = 4});
  config.training({.model = {.fcnet_hiddens = {32}}});
  config.training({.model = {.fcnet_activation = Activation::relu}});
  EXPECT_EQ(config.common().training.lr->at(0), 3e-4);
  EXPECT_EQ(config.common().training.gamma, 0.9);
  EXPECT_EQ(config.own().clip_param, Schedule(0.2));
  EXPECT_EQ(config.common().rollouts.num_rollout_workers, 1);
  EXPECT_EQ(config.common().rollouts.num_envs_per_worker, 4);
  EXPECT_EQ(*config.common().training.model.fcnet_hiddens, std::vector{32});
  EXPECT_EQ(config.common().training.model.fcnet_activation, Activation::relu);
}

TEST(Config, GivenAndDefaultAreToldApart) {
  PPOConfig config;
  config.training({.lr = 5e-5});  // the default, but given
  EXPECT_TRUE(config.common().training.lr.given());
  EXPECT_FALSE(config.common().training.gamma.given());
  EXPECT_EQ(config.to_yaml(Shown::given), "lr: 5e-05\n");
}

TEST(Config, OldAndNewNamesAreTheSameOption) {
  for (const char* name : {"num_rollout_workers", "num_workers", "num_env_runners"}) {
    PPOConfig config = PPOConfig::from_yaml(fmt::format("{}: 3", name));
    EXPECT_EQ(config.common().rollouts.num_rollout_workers, 3) << name;
  }
  EXPECT_EQ(PPOConfig::from_yaml("num_epochs: 4").own().num_sgd_iter, 4);
  EXPECT_EQ(PPOConfig::from_yaml("minibatch_size: 64").own().sgd_minibatch_size, 64);
  EXPECT_EQ(PPOConfig::from_yaml("lambda_: 0.5").own().lambda_, 0.5);
  EXPECT_EQ(
      PPOConfig::from_yaml("train_batch_size_per_learner: 64").common().training.train_batch_size,
      64);
}

TEST(Config, WrittenYamlReadsBackTheSame) {
  PPOConfig config;
  config.environment("CartPole-v1", {.env_config = parse_yaml("{max_episode_steps: 50}", "t")})
      .training({.lr = Schedule({{0, 1e-3}, {1000, 0.0}}), .grad_clip = 0.5},
                {.vf_clip_param = std::numeric_limits<double>::infinity()});
  const PPOConfig back = PPOConfig::from_yaml(config.to_yaml());
  EXPECT_EQ(back.to_value(), config.to_value());
}

TEST(Config, ASavedConfigComesBackWithWhatWasGiven) {
  PPOConfig config;
  config.environment("CartPole-v1").training({.grad_clip = 0.5}, {.vf_clip_param = 1e9});
  PPOConfig back;
  // through JSON, as checkpoints keep it
  back.restore(parse_yaml(to_json(config.to_value()), "c"),
               parse_yaml(to_json(config.to_value(Shown::given)), "c"));
  EXPECT_EQ(back.to_value(), config.to_value());
  EXPECT_EQ(back.to_value(Shown::given), config.to_value(Shown::given));
  EXPECT_FALSE(back.common().training.lr.given());
}

TEST(Config, RefusalsNameFileLinePathAndNearest) {
  EXPECT_EQ(refusal_of("\ngama: 0.9"),
            "a.yaml:2: config.gama: unknown option; did you mean gamma?");
  EXPECT_EQ(refusal_of("gamma: 1.5"), "a.yaml:1: config.gamma = 1.5: must be in [0, 1]");
  EXPECT_EQ(refusal_of("lr: fast"), "a.yaml:1: config.lr = fast: must be a number at least 0");
  EXPECT_EQ(refusal_of("fcnet_hiddens: [64]"),
            "a.yaml:1: config.fcnet_hiddens: unknown option; did you mean model.fcnet_hiddens?");
  EXPECT_NE(refusal_of("model: {fcnet_hidden: [64]}").find("did you mean fcnet_hiddens?"),
            std::string::npos);
  EXPECT_EQ(refusal_of("Gamma: 0.9"),
            "a.yaml:1: config.Gamma: unknown option; did you mean gamma?");
  EXPECT_NE(refusal_of("epsilons: 0.1").find("unknown option"), std::string::npos);
  EXPECT_NE(refusal_of("clip_param: 0.1", "QLearning").find("unknown option"), std::string::npos);
}

TEST(Config, OptionsWithoutMeaningAreAcceptedAndNamedOnce) {
  const auto config = make_config("PPO");
  config->update(parse_yaml("{framework: torch, _enable_new_api_stack: true, _fake_gpus: true,"
                            " num_gpus: 1, model: {dim: 84}, gamma: 0.9}",
                            "a.yaml"),
                 "config");
  EXPECT_EQ(config->common().training.gamma, 0.9);
  ASSERT_EQ(config->notes().size(), 4U);
  EXPECT_EQ(config->notes()[0],
            "framework (knurl learns with kernels of its own or with LibTorch: learner_backend "
            "says which)");
}

TEST(Config, OptionsThatAreNotBuiltYetAreRefusedByNameUnlessOff) {
  EXPECT_EQ(refusal_of("{env: CartPole-v1, model: {use_attention: true}}"),
            "a.yaml:1: config.model.use_attention = true: not available yet");
  EXPECT_EQ(refusal_of("{env: CartPole-v1, num_gpus: 1}"),
            "a.yaml:1: config.num_gpus = 1: GPUs are not available yet");
  EXPECT_EQ(refusal_of("{env: CartPole-v1, model: {use_lstm: false}, observation_filter: NoFilter,"
                       " num_gpus: 0, batch_mode: truncate_episodes, multiagent: {}}"),
            "accepted");
}

TEST(Config, OptionsOfRllibsThatHaveTwinsAreTreatedAsThey) {
  EXPECT_EQ(refusal_of("{env: CartPole-v1, _is_atari: false, restart_failed_env_runners: false,"
                       " env_runner_health_probe_timeout_s: 30, learner_class: null,"
                       " env_to_module_connector: null, custom_resources_per_env_runner: {},"
                       " model: {_time_major: false, attention_dim: 64, always_check_shapes: true,"
                       " encoder_latent_dim: null, lstm_use_prev_action_reward: -1,"
                       " lstm_bias_initializer: null}}"),
            "accepted");
  EXPECT_EQ(refusal_of("{env: CartPole-v1, restart_failed_env_runners: true}"),
            "a.yaml:1: config.restart_failed_env_runners = true: not available yet");
  EXPECT_EQ(refusal_of("{env: CartPole-v1, timesteps_per_iteration: 1000}"),
            "a.yaml:1: config.timesteps_per_iteration = 1000: is "
            "min_sample_timesteps_per_iteration here");
}

TEST(Config, OtherNamesLeadOnlyToOptionsThatTheAlgorithmHas) {
  const auto told = [](const char* algorithm, const std::string& option) {
    return refusal_of("{env: CartPole-v1, " + option + "}", algorithm);
  };
  EXPECT_EQ(
      told("PPO", "n_steps: 5"),
      "a.yaml:1: config.n_steps = 5: is rollout_fragment_length here; train_batch_size counts "
      "the steps of all envs");
  EXPECT_EQ(told("DQN", "n_steps: 5"), "a.yaml:1: config.n_steps = 5: is n_step here");
  EXPECT_EQ(told("PPO", "batch_size: 5"),
            "a.yaml:1: config.batch_size = 5: is sgd_minibatch_size here");
  EXPECT_EQ(told("DQN", "batch_size: 5"),
            "a.yaml:1: config.batch_size = 5: is train_batch_size here");
  EXPECT_TRUE(told("DQN", "clip_range: 0.2").starts_with("a.yaml:1: config.clip_range: unknown"));
  EXPECT_TRUE(told("PPO", "buffer_size: 9").starts_with("a.yaml:1: config.buffer_size: unknown"));
  EXPECT_TRUE(
      told("QLearning", "max_grad_norm: 1").starts_with("a.yaml:1: config.max_grad_norm: unknown"));
  EXPECT_EQ(told("PPO", "n_timesteps: 100"),
            "a.yaml:1: config.n_timesteps = 100: is a stop condition here: stop: {timesteps_total: "
            "…}");
  EXPECT_EQ(told("PPO", "policy: MlpPolicy"),
            "a.yaml:1: config.policy = MlpPolicy: is model here: the kind of net follows from the "
            "observations");
  EXPECT_EQ(told("PPO", "device: cpu"), "accepted");
}

TEST(Config, ContradictionsNameBothOptions) {
  EXPECT_EQ(
      refusal_of("{env: CartPole-v1, model: {use_lstm: true}}", "DQN"),
      "a.yaml:1: training.model.use_lstm = true: DQN learns from single steps; PPO has models that "
      "remember");
  EXPECT_EQ(
      refusal_of("{env: CartPole-v1, train_batch_size: 100, sgd_minibatch_size: 200}"),
      "a.yaml:1: training.sgd_minibatch_size = 200 is larger than training.train_batch_size = "
      "100");
  EXPECT_NE(refusal_of("{env: CartPole-v1, lr: 0.1, lr_schedule: [[0, 1.0], [10, 0.0]]}")
                .find("training.lr and training.lr_schedule"),
            std::string::npos);
  EXPECT_NE(refusal_of("{env: CartPole-v1, num_workers: 4, num_envs_per_worker: 4,"
                       " rollout_fragment_length: 1000}")
                .find("rollout_fragment_length = 1000 in 16 environments"),
            std::string::npos);
  EXPECT_NE(refusal_of("{env: CartPole-v1, grad_clip_by: value}").find("training.grad_clip"),
            std::string::npos);
  EXPECT_NE(refusal_of("{env: CartPole-v1, use_kl_loss: false, kl_coeff: 0.3}").find("kl_coeff"),
            std::string::npos);
  EXPECT_NE(
      refusal_of("{env: Maze-v0, exploration_config: {type: StochasticSampling}}", "QLearning")
          .find("EpsilonGreedy"),
      std::string::npos);
  EXPECT_NE(refusal_of("{env: CartPole-v1, exploration_config: {type: EpsilonGreedy}}")
                .find("use StochasticSampling"),
            std::string::npos);
  EXPECT_EQ(refusal_of("{env: CartPole-v1, exploration_config: {final_epsilon: 0.1}}"),
            "a.yaml:1: exploration.exploration_config.final_epsilon belongs to EpsilonGreedy, but "
            "exploration.exploration_config.type = StochasticSampling; leave one out");
  EXPECT_EQ(refusal_of("{env: CartPole-v1, optimizer: {type: sgd, beta1: 0.5}}"),
            "a.yaml:1: training.optimizer.beta1 belongs to adam, but training.optimizer.type = "
            "sgd; leave one "
            "out");
}

TEST(Config, ContradictionsAreShownInTheFile) {
  EXPECT_EQ(
      refusal_of("env: CartPole-v1\nlambda: 0.9\nminibatch_size: 200\n"
                 "train_batch_size_per_learner: 100\n"),
      "a.yaml:3: training.sgd_minibatch_size = 200 is larger than training.train_batch_size = "
      "100");
  EXPECT_EQ(refusal_of("env: CartPole-v1\nexploration_config:\n  type: StochasticSampling\n"
                       "  temperature: 3\n"),
            "a.yaml:4: exploration.exploration_config.temperature belongs to SoftQ, but "
            "exploration.exploration_config.type = StochasticSampling; leave one out");
  EXPECT_EQ(refusal_of("env: CartPole-v1\nuse_kl_loss: false\n"
                       "evaluation_config:\n  kl_coeff: 9\n"),
            "a.yaml:4: evaluation_config: training.kl_coeff = 9 with training.use_kl_loss = false: "
            "give one");
}

TEST(Config, ContradictionsOfCodeHaveNoPlace) {
  EXPECT_EQ(refusal([] {
              PPOConfig config;
              config.environment("CartPole-v1")
                  .training({.train_batch_size = 100}, {.sgd_minibatch_size = 200});
              (void)config.resolved();
            }),
            "training.sgd_minibatch_size = 200 is larger than training.train_batch_size = 100");
}

TEST(Config, ADeterministicRunIsRefusedWhatTimeOrCoresDecide) {
  const auto with = [](const std::string& deterministic, const std::string& more) {
    return refusal_of(
        fmt::format("{{env: CartPole-v1, deterministic: {}, {}}}", deterministic, more));
  };
  const std::string automatic =
      "evaluation_duration: auto, evaluation_parallel_to_training: true, evaluation_num_workers: 1";
  const std::string evaluated = automatic + ", evaluation_interval: 2";
  EXPECT_EQ(with("true", evaluated),
            "a.yaml:1: evaluation.evaluation_duration = auto: how many episodes it is depends on "
            "time; give a "
            "number of them to a deterministic run");
  EXPECT_EQ(with("true", "min_time_s_per_iteration: 0.5"),
            "a.yaml:1: reporting.min_time_s_per_iteration = 0.5: where an iteration ends depends "
            "on time; "
            "give min_sample_timesteps_per_iteration to a deterministic run instead");
  EXPECT_EQ(
      with("true", "num_cpus_for_local_worker: 2"),
      "a.yaml:1: resources.num_cpus_for_local_worker = 2: how threads share out sums decides their "
      "last bits; a deterministic run needs 1");
  for (const std::string& fine :
       {automatic, std::string("min_time_s_per_iteration: 0"),
        std::string("evaluation_interval: 2, evaluation_duration: 3, num_workers: 4")}) {
    EXPECT_EQ(with("true", fine), "accepted") << fine;
  }
  for (const std::string& timed : {evaluated, std::string("min_time_s_per_iteration: 0.5"),
                                   std::string("num_cpus_for_local_worker: 2")}) {
    EXPECT_EQ(with("false", timed), "accepted") << timed;
  }
}

TEST(Config, AnOptionThatMeansNothingToTheAlgorithmIsRefused) {
  EXPECT_EQ(refusal_of("{env: Maze-v0, model: {fcnet_hiddens: [8]}}", "QLearning"),
            "a.yaml:1: training.model: means nothing to QLearning; leave it out");
  EXPECT_EQ(refusal_of("{env: Maze-v0, grad_clip: 1}", "QLearning"),
            "a.yaml:1: training.grad_clip: means nothing to QLearning; leave it out");
}

TEST(Config, AnEnvThatIsMissingOrUnknownIsRefused) {
  EXPECT_NE(refusal_of("{}").find("no environment is given"), std::string::npos);
  EXPECT_EQ(refusal_of("env: CartPole-v0"), "env CartPole-v0: unknown; did you mean CartPole-v1?");
}

TEST(Config, RangesHoldForCodeToo) {
  EXPECT_EQ(refusal([] {
              (void)PPOConfig().environment("CartPole-v1").training({.gamma = 2.0}).resolved();
            }),
            "training.gamma = 2: must be in [0, 1]");
}

TEST(Config, AutoIsWorkedOutOnce) {
  PPOConfig config;
  config.environment("CartPole-v1")
      .rollouts({.num_rollout_workers = 2, .num_envs_per_worker = 3})
      .training({.train_batch_size = 100}, {.sgd_minibatch_size = 10});
  const auto resolved = config.resolved();
  EXPECT_EQ(*resolved->common().rollouts.rollout_fragment_length->value, 17);  // 100 / 6, up
  EXPECT_TRUE(resolved->common().debugging.seed->has_value());
  EXPECT_TRUE(config.common().rollouts.rollout_fragment_length->is_auto());
}

TEST(Config, BuildFreezesAndACopyIsFree) {
  QLearningConfig config;
  config.environment("Maze-v0");
  const auto algorithm = config.build();
  EXPECT_NE(refusal([&] { config.training({.gamma = 0.5}); }).find("frozen"), std::string::npos);
  QLearningConfig copy = config.copy();
  EXPECT_EQ(copy.training({.gamma = 0.5}).common().training.gamma, 0.5);
}

TEST(Config, AlgorithmNamesAreFoundWhateverTheirCase) {
  EXPECT_EQ(make_config("ppo")->algorithm(), "PPO");
  EXPECT_EQ(make_config("q_learning")->algorithm(), "QLearning");
  EXPECT_EQ(refusal([] { (void)make_config("PPP"); }), "algorithm PPP: unknown; did you mean PPO?");
}

TEST(Config, AnAlgorithmsNameIsTakenWhateverItsCase) {
  const auto names = [] {
    std::vector<std::string> out;
    for (const AlgorithmEntry& entry : registered_algorithms()) out.push_back(entry.name);
    return out;
  };
  const auto before = names();
  for (const std::string name : {"PPO", "ppo", "Q_learning", "Q-Learning"}) {
    EXPECT_EQ(refusal([&] {
                register_algorithm(
                    {.name = name, .make_config = [] { return std::make_unique<PPOConfig>(); }});
              }),
              "the algorithm name " + name + " is taken");
  }
  EXPECT_EQ(names(), before);
}

TEST(Config, PrettyPrintShowsEveryOption) {
  PPOConfig config;
  config.environment("CartPole-v1");
  const std::string text = pretty_print(config);
  EXPECT_NE(text.find("env: CartPole-v1  # given"), std::string::npos) << text;
  EXPECT_NE(text.find("  clip_param: 0.3\n"), std::string::npos);
}

}  // namespace
}  // namespace knurl
