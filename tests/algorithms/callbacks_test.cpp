#include "knurl/algorithms/callbacks.h"

#include <gtest/gtest.h>

#include "knurl/algorithms/algorithm.h"
#include "knurl/algorithms/metrics.h"
#include "luck_env.h"
#include "scratch.h"

namespace knurl {
namespace {

std::string refusal(const std::function<void()>& call) {
  try {
    call();
  } catch (const Error& error) {
    return error.what();
  }
  return "accepted";
}

/// Counts an episode's steps and sums its rewards.
class Counting : public Callbacks {
 public:
  static std::vector<std::string> custom_metrics() { return {"steps", "sum", "late"}; }
  void on_episode_step(EpisodeView& episode) override {
    episode.custom_metrics["steps"] += 1.0;
    episode.custom_metrics["sum"] += episode.reward;
    if (episode.step > 5) episode.custom_metrics["late"] = static_cast<double>(episode.step);
  }
};

TEST(Callbacks, CustomMetricsAreOverEpisodes) {
  auto config = luck_config("{evaluation_interval: 1, evaluation_num_workers: 2}");
  const Result result = config.callbacks<Counting>().build()->train();
  for (const char* of : {"", "evaluation/"}) {
    const auto number = [&](const char* name) {
      return result.number(fmt::format("{}{}", of, name));
    };
    EXPECT_GT(number("episode_len_mean"), 1.0);
    EXPECT_EQ(number("custom_metrics/steps_mean"), number("episode_len_mean")) << of;
    EXPECT_EQ(number("custom_metrics/sum_mean"), number("episode_reward_mean")) << of;
    EXPECT_EQ(number("custom_metrics/sum_min"), number("episode_reward_min")) << of;
    EXPECT_EQ(number("custom_metrics/sum_max"), number("episode_reward_max")) << of;
    EXPECT_GE(number("custom_metrics/late_min"), 6.0) << of;  // of the episodes that have it
  }
}

TEST(Callbacks, NeitherTheSplitOfEnvsNorAResumeChangesCustomMetrics) {
  const auto spread = [](const Result& result) {
    std::vector<std::optional<double>> out;
    for (const char* name : {"steps_mean", "sum_mean", "late_mean", "late_min"}) {
      out.push_back(result.number(fmt::format("custom_metrics/{}", name)));
    }
    return out;
  };
  const auto build = [](const char* split) {
    // long episodes, so that some are under way when the checkpoint is made
    auto config = luck_config("{env_config: {shortest: 30, longest: 90}, callbacks: Counting}");
    config.update(parse_yaml(split, "test"), "");
    return config.build();
  };
  register_callbacks<Counting>("Counting");
  const auto whole = build("{}");
  std::vector<std::vector<std::optional<double>>> expected;
  for (int i = 0; i < 12; ++i) expected.push_back(spread(whole->train()));
  EXPECT_TRUE(expected.back()[0]);
  const auto split = build("{num_workers: 3, num_envs_per_worker: 1}");
  for (int i = 0; i < 12; ++i)
    EXPECT_EQ(spread(split->train()), expected[static_cast<std::size_t>(i)]);

  const auto first = build("{}");
  for (int i = 0; i < 7; ++i) first->train();
  const Scratch scratch;
  const auto second = Algorithm::from_checkpoint(first->save(scratch / "checkpoint"));
  for (std::size_t i = 7; i < 12; ++i) EXPECT_EQ(spread(second->train()), expected[i]) << i;
}

std::vector<std::string>& diary() {
  static std::vector<std::string> out;
  return out;
}

/// Writes down what it is told.
class Diary : public Callbacks {
 public:
  void on_algorithm_init(Algorithm& algorithm) override {
    note(fmt::format("init {}", algorithm.iteration()));
  }
  void on_checkpoint_loaded(Algorithm& algorithm) override {
    note(fmt::format("loaded {}", algorithm.iteration()));
  }
  void on_episode_start(EpisodeView& e) override { note("start", e); }
  void on_episode_step(EpisodeView& e) override { note("step", e); }
  void on_episode_end(EpisodeView& e) override { note("end", e); }
  void on_sample_end(Fragment& fragment) override {
    note(fmt::format("sampled {}", fragment.env_steps));
  }
  void on_learn_on_batch(Algorithm& /*algorithm*/, const LearntBatch& batch) override {
    note(fmt::format("learnt {}", batch.env_steps));
  }
  void on_train_result(Algorithm& algorithm, Result& result) override {
    note(fmt::format("result {}", algorithm.iteration()));
    result.set("custom_metrics/mine", 7.0);
  }
  void on_evaluate_start(Algorithm& /*algorithm*/) override { note("evaluate"); }
  void on_evaluate_end(Algorithm& /*algorithm*/, Result& result) override {
    note(fmt::format("evaluated {}", *result.number("evaluation/episodes_this_iter")));
  }

 private:
  static void note(std::string text) { diary().push_back(std::move(text)); }
  static void note(const char* what, const EpisodeView& e) {
    const char* where = e.purpose == Purpose::evaluation ? "evaluation " : "";
    note(fmt::format("{}{} {}/{}: {}{}{}", where, what, e.episode, e.step, e.observation.index(),
                     e.info.empty() ? "" : fmt::format(", count {}", e.info[0]),
                     e.ended ? fmt::format(", {} steps", e.ended->length) : ""));
  }
};

TEST(Callbacks, AreToldOfEverythingInOrder) {
  diary().clear();
  auto config = luck_config(
      "{num_envs_per_worker: 1, train_batch_size: 3, min_sample_timesteps_per_iteration: 0,"
      " evaluation_interval: 1, evaluation_duration: "
      "1, env_config: {shortest: 2, longest: 2}}");
  const auto algorithm = config.callbacks<Diary>("Diary").build();
  EXPECT_EQ(algorithm->train().number("custom_metrics/mine"), 7.0);
  const std::vector<std::string> training{
      "init 0",
      "start 0/0: 0",
      "step 0/1: 1, count 1",
      "step 0/2: 0, count 2, 2 steps",
      "end 0/2: 0, count 2, 2 steps",
      "start 1/0: 0",
      "step 1/1: 1, count 1",
      "sampled 3",
      "learnt 3",
      "evaluate",
      "evaluation start 0/0: 0",
      "evaluation step 0/1: 1, count 1",
  };
  ASSERT_GT(diary().size(), training.size());
  EXPECT_EQ(std::vector(diary().begin(), diary().begin() + std::ssize(training)), training);
  EXPECT_EQ(std::vector(diary().end() - 2, diary().end()),
            (std::vector<std::string>{"evaluated 1", "result 1"}));
  const CheckpointData state = algorithm->save_state();
  diary().clear();
  algorithm->load_state(state);
  EXPECT_EQ(diary(), (std::vector<std::string>{"loaded 1"}));
}

/// Breaks where it is told to by its name.
class BreaksInStep : public Callbacks {
  void on_episode_step(EpisodeView& e) override {
    if (e.episode == 1 && e.step == 2) throw std::runtime_error("no more");
  }
};
class BreaksInResult : public Callbacks {
  void on_train_result(Algorithm& /*algorithm*/, Result& /*result*/) override {
    fail(ErrorKind::io, "disk full");
  }
};
class BreaksAtOnce : public Callbacks {
 public:
  BreaksAtOnce() { throw std::runtime_error("not today"); }
};

TEST(Callbacks, WhatTheyThrowIsNamed) {
  auto step = luck_config("{env_config: {shortest: 4}, num_workers: 3, num_envs_per_worker: 1}");
  EXPECT_EQ(refusal([&] { step.callbacks<BreaksInStep>("Step").build()->train(); }),
            "callbacks Step: on_episode_step (worker 2, env 1, episode 1, step 2): no more");
  EXPECT_EQ(refusal([] { luck_config().callbacks<BreaksInResult>("Late").build()->train(); }),
            "callbacks Late: on_train_result: disk full");
  EXPECT_EQ(refusal([] { luck_config().callbacks<BreaksAtOnce>("Never").build(); }),
            "callbacks Never: constructor: not today");
}

TEST(Callbacks, AreFoundByTheirName) {
  register_callbacks<Counting>("Counting");
  register_callbacks<Counting>("Counting");  // the same again
  EXPECT_EQ(refusal([] { register_callbacks<Diary>("Counting"); }),
            "the callbacks' name Counting is another class's");
  EXPECT_EQ(refusal([] { luck_config("{callbacks: Countin}").build(); }),
            "callbacks Countin: no class is registered under this name; did you mean Counting?");
  EXPECT_EQ(refusal([] { luck_config("{callbacks: null}").build(); }), "accepted");
}

TEST(Callbacks, NamesThatTheySayTheySetAreKnownToStopConditions) {
  auto config = luck_config("{evaluation_interval: 1}");
  const EnvSpec spec = make_env("Luck-v0")->spec();
  const char* name = "evaluation/custom_metrics/sum_max";
  EXPECT_TRUE(metric_names(config, spec).problem_with(name));
  EXPECT_FALSE(metric_names(config.callbacks<Counting>("Counting"), spec).problem_with(name));
}

}  // namespace
}  // namespace knurl
