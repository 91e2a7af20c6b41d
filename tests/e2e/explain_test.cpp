#include <gtest/gtest.h>

#include "command.h"

namespace knurl::e2e {
namespace {

namespace fs = std::filesystem;

std::string explained(std::vector<std::string> metrics) {
  const Scratch scratch;
  metrics.insert(metrics.begin(), "explain");
  const Finished finished = knurl(metrics, scratch.path());
  EXPECT_EQ(finished.exit_code, 0) << finished.err;
  return finished.out;
}

TEST(Explain, AMetricIsFoundUnderEachOfItsNames) {
  const std::string mean = explained({"episode_reward_mean"});
  EXPECT_TRUE(mean.starts_with("episode_reward_mean\n    mean return of the episodes")) << mean;
  EXPECT_NE(mean.find("    also: sampler_results/episode_reward_mean, "), std::string::npos);
  EXPECT_EQ(explained({"env_runners/episode_return_mean"}), mean);
  EXPECT_EQ(explained({"sampler_results/episode_reward_mean"}), mean);
}

TEST(Explain, TheLastPartOfANameIsEnoughAndAlgorithmsAreNamed) {
  EXPECT_EQ(explained({"mean_kl_loss"}),
            "info/learner/default_policy/learner_stats/kl (PPO)\n"
            "    KL divergence of the policy from the one that acted\n"
            "    also: learners/default_policy/kl, learners/default_policy/mean_kl_loss\n");
}

TEST(Explain, EvaluationsAndAnEnvsOwnMetricsAreKnown) {
  EXPECT_TRUE(explained({"evaluation/custom_metrics/path_length_max"})
                  .starts_with("evaluation/custom_metrics/path_length_max\n"
                               "    largest of the env's info number path_length at episode ends"));
}

TEST(Explain, SeveralAreExplainedInTurn) {
  EXPECT_EQ(explained({"done", "pid"}), explained({"done"}) + explained({"pid"}));
}

TEST(Explain, AnUnknownNameLeadsToANearOne) {
  const Scratch scratch;
  const Finished finished = knurl({"explain", "done", "episode_rewrd_mean"}, scratch.path());
  EXPECT_EQ(finished.exit_code, 2);
  EXPECT_EQ(finished.out, "");
  EXPECT_EQ(
      finished.err,
      "knurl: error: episode_rewrd_mean: no such metric; did you mean episode_reward_mean?\n");
  EXPECT_EQ(
      knurl({"explain", "xyz"}, scratch.path()).err,
      "knurl: error: xyz: no such metric; `" + knurl_binary() + " explain` shows what there is\n");
}

TEST(Explain, WordsThatAreNearlyAMetricLeadToIt) {
  const Scratch scratch;
  EXPECT_EQ(knurl({"explain", "lr"}, scratch.path()).err,
            "knurl: error: lr: no such metric; did you mean cur_lr?\n");
  EXPECT_EQ(knurl({"explain", "success_mean"}, scratch.path()).err,
            "knurl: error: success_mean: no such metric; a number of an env's or of callbacks is "
            "custom_metrics/success_mean\n");
}

TEST(Explain, EverySentenceStandsAlone) {
  const std::string all = explained({});
  for (const char* pronoun : {"    its ", "    the same in", " of it that ", "these values"}) {
    EXPECT_EQ(all.find(pronoun), std::string::npos) << pronoun;
  }
}

TEST(Explain, ANameThatResultsHoldIsExplainedByItself) {
  EXPECT_EQ(explained({"num_env_steps_sampled"}),
            "num_env_steps_sampled\n"
            "    env steps taken: timesteps_total under another name of RLlib's\n");
}

TEST(Explain, WithoutANameAllAreListed) {
  const Scratch scratch;
  const std::string all = explained({});
  EXPECT_EQ(knurl({"list", "metrics"}, scratch.path()).out, all);
  for (const char* name : {"timesteps_total\n", "custom_metrics/NAME_mean\n", "evaluation/…\n",
                           "learner_stats/vf_explained_var (PPO)\n"}) {
    EXPECT_NE(all.find(name), std::string::npos) << name;
  }
}

TEST(Explain, ThePageOfMetricsIsWhatTheCommandPrints) {
  EXPECT_EQ(explained({"--markdown"}), read_file(fs::path(KNURL_DOCS) / "metrics.md"))
      << "write it anew: knurl explain --markdown > docs/metrics.md";
}

}  // namespace
}  // namespace knurl::e2e
