#include <algorithm>
#include <filesystem>
#include <functional>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "knurl/core/base/error.h"
#include "knurl/core/base/file.h"
#include "knurl/core/config/yaml.h"
#include "knurl/core/tune/checkpoints.h"
#include "knurl/core/tune/experiment.h"
#include "knurl/core/tune/stop.h"
#include "knurl/core/tune/trial.h"
#include "scratch.h"

namespace knurl::tune {
namespace {

namespace fs = std::filesystem;

const MetricNames kNames({{"training_iteration", {}, "", MetricKind::counter},
                          {"timesteps_total", {"steps"}, "", MetricKind::counter},
                          {"reward", {"env_runners/return"}, ""}});

Result result_of(int iteration, double reward) {
  Result out;
  out.set("training_iteration", iteration);
  out.set("timesteps_total", 100 * iteration);
  out.set("reward", reward);
  return out;
}

StopConditions stop_of(const std::string& yaml) {
  return StopConditions::from(parse_yaml(yaml, "a.yaml"), "stop");
}

std::string refusal(const std::function<void()>& call) {
  try {
    call();
  } catch (const Error& error) {
    return error.what();
  }
  return "accepted";
}

TEST(StopConditions, TheFirstThatIsReachedEndsTheRun) {
  const StopConditions stop = stop_of("{steps: 300, reward: 9}");
  EXPECT_EQ(stop.met_by(result_of(2, 8.9), kNames), std::nullopt);
  EXPECT_EQ(stop.met_by(result_of(3, 0), kNames), "steps 300 >= 300");
  EXPECT_EQ(stop.met_by(result_of(1, 9), kNames), "reward 9 >= 9");
}

TEST(StopConditions, AMetricThatIsNotThereYetEndsNothing) {
  Result result = result_of(1, 0);
  result.set("reward", Result::Nothing{});
  EXPECT_EQ(stop_of("{reward: -1000}").met_by(result, kNames), std::nullopt);
}

TEST(StopConditions, NestedMapsArePathsAndNegativeBoundsWork) {
  const StopConditions stop = stop_of("{env_runners: {return: -400}}");
  EXPECT_EQ(stop.met_by(result_of(1, -400.5), kNames), std::nullopt);
  EXPECT_TRUE(stop.met_by(result_of(1, -399), kNames));
}

TEST(StopConditions, WhatMeansNothingIsRefused) {
  EXPECT_EQ(refusal([] { stop_of("{reward: much}"); }),
            "a.yaml:1: stop.reward = much: must be a number");
  EXPECT_EQ(refusal([] { stop_of("{reward: .nan}"); }),
            "a.yaml:1: stop.reward = .nan: must be a number");
  EXPECT_EQ(refusal([] { stop_of("3"); }),
            "a.yaml:1: stop = 3: must be a map of metrics and numbers");
}

TEST(StopConditions, ProgressIsThatOfTheNearestCounter) {
  const StopConditions stop = stop_of("{steps: 1000, training_iteration: 4, reward: 1}");
  EXPECT_EQ(stop.progress(result_of(1, 0.9), kNames), 0.25);
  EXPECT_EQ(stop_of("{reward: 1}").progress(result_of(1, 0.9), kNames), std::nullopt);
}

TEST(StopConditions, NewOnesReplaceThoseOfTheSameMetric) {
  StopConditions stop = stop_of("{steps: 100, reward: 1}");
  stop.update(stop_of("{timesteps_total: 200}"), kNames);
  EXPECT_EQ(to_json(stop.to_value()), R"({"timesteps_total":200,"reward":1})");
}

TEST(Experiment, CheckpointOptionsStandBesideOrBelow) {
  for (const char* yaml :
       {"x: {run: PPO, checkpoint_freq: 3, keep_checkpoints_num: 2, checkpoint_at_end: false}",
        "x: {run: PPO, checkpoint_config: {checkpoint_frequency: 3, num_to_keep: 2,"
        " checkpoint_at_end: false}}"}) {
    const auto experiments = parse_experiments(parse_yaml(yaml, "a.yaml"));
    ASSERT_EQ(experiments.size(), 1U);
    const CheckpointOptions& options = experiments[0].experiment.checkpoint_config;
    EXPECT_EQ(options.checkpoint_frequency, 3);
    EXPECT_EQ(options.num_to_keep.value(), 2);
    EXPECT_EQ(options.checkpoint_at_end, false);
  }
  EXPECT_NE(refusal([] {
              parse_experiments(parse_yaml(
                  "x: {run: PPO, checkpoint_freq: 3, checkpoint_config: {checkpoint_frequency: 4}}",
                  "a.yaml"));
            }).find("the same option"),
            std::string::npos);
  EXPECT_EQ(refusal([] {
              parse_experiments(
                  parse_yaml("x:\n  run: PPO\n  keep_checkpoints_num: 3\n"
                             "  checkpoint_config: {num_to_keep: 4}\n",
                             "a.yaml"));
            }),
            "a.yaml:3: x.keep_checkpoints_num: the same option as checkpoint_config.num_to_keep on "
            "line 4; give one of them")
      << "once, with its place";
}

TEST(Experiment, EveryMemberIsAField) {
  EXPECT_EQ(schema_of<Experiment>().fields().size(), member_count<Experiment>());
  EXPECT_EQ(schema_of<CheckpointOptions>().fields().size(), member_count<CheckpointOptions>());
}

class Trial : public ::testing::Test {
 protected:
  [[nodiscard]] const fs::path& directory() const { return scratch_.path(); }

  /// Writes checkpoints 1 … n with these rewards; the iterations that are left.
  std::vector<std::int64_t> keep(const CheckpointOptions& options,
                                 const std::vector<double>& rewards) {
    TrialCheckpoints checkpoints(directory(), options, kNames);
    int iteration = 0;
    for (const double reward : rewards) {
      ++iteration;
      checkpoints.write({}, iteration, result_of(iteration, reward));
    }
    std::vector<std::int64_t> left;
    for (const auto& each : list_checkpoints(directory())) left.push_back(each.iteration);
    return left;
  }

 private:
  Scratch scratch_;
};

using Iterations = std::vector<std::int64_t>;

TEST_F(Trial, TheNewestAreKeptByDefault) {
  EXPECT_EQ(keep({.num_to_keep = 2}, {5, 4, 3, 2}), (Iterations{3, 4}));
}

TEST_F(Trial, TheBestAndTheLastAreNeverDeleted) {
  EXPECT_EQ(keep({.num_to_keep = 1, .checkpoint_score_attribute = "reward"}, {1, 9, 3, 2, 4}),
            (Iterations{2, 5}));
}

TEST_F(Trial, SmallScoresCanBeGood) {
  EXPECT_EQ(keep({.num_to_keep = 2,
                  .checkpoint_score_attribute = "env_runners/return",
                  .checkpoint_score_order = ScoreOrder::min},
                 {5, 1, 9, 2, 8, 7}),
            (Iterations{2, 6}));
}

TEST_F(Trial, ScoresOutliveTheProcess) {
  keep({}, {1, 9, 3});
  std::string lines;
  for (const auto& [iteration, reward] : {std::pair(1, 1.0), {2, 9.0}, {3, 3.0}}) {
    lines += result_of(iteration, reward).to_json() + "\n";
  }
  replace_text_file(directory() / "result.json", lines);
  const TrialCheckpoints again(directory(), {}, kNames);
  EXPECT_EQ(again.best("reward", ScoreOrder::max), directory() / "checkpoint_000002");
  EXPECT_EQ(again.last(), directory() / "checkpoint_000003");
}

TEST_F(Trial, CuttingForgetsLaterCheckpoints) {
  keep({}, {1, 2, 3});
  TrialCheckpoints checkpoints(directory(), {}, kNames);
  checkpoints.cut(2);
  EXPECT_EQ(checkpoints.last(), directory() / "checkpoint_000002");
  EXPECT_FALSE(fs::exists(directory() / "checkpoint_000003"));
}

TEST_F(Trial, DirectoriesHaveSafeShortNamesOfTheirOwn) {
  const fs::path first = make_trial_directory(directory(), "PPO_my/env:1 (x)");
  EXPECT_EQ(first.filename(), "PPO_my_env_1__x_");
  EXPECT_EQ(make_trial_directory(directory(), "PPO_my/env:1 (x)").filename(), "PPO_my_env_1__x__1");
  const fs::path longest = make_trial_directory(directory(), std::string(400, 'x'));
  EXPECT_LE(longest.filename().string().size(), 130U);
  std::string umlauts;
  for (int i = 0; i < 200; ++i) umlauts += "ü";
  const std::string name = make_trial_directory(directory(), umlauts).filename();
  EXPECT_EQ(name.size() % 2, 0U);  // no letter is cut in two
}

/// Gets one better each iteration, and fails when told to.
class Climber final : public Trainable {
 public:
  explicit Climber(int fail_at = 0) : fail_at_(fail_at) {}
  Result train() override {
    if (++iteration_ == fail_at_) throw std::runtime_error("lost its footing");
    return result_of(iteration_, iteration_);
  }
  [[nodiscard]] std::int64_t iteration() const override { return iteration_; }
  CheckpointData save_state() override {
    CheckpointData out;
    out.add_json("state.json", std::to_string(iteration_));
    return out;
  }
  void load_state(const CheckpointData& state) override {
    iteration_ = std::stoi(state.json("state.json"));
  }
  [[nodiscard]] const MetricNames& metric_names() const override { return kNames; }

 private:
  int fail_at_;
  int iteration_ = 0;
};

TEST_F(Trial, RunsUntilItsConditionAndReportsTheEnd) {
  Climber climber;
  TrialObserver nobody;
  const TrialOutcome outcome = run_trial(
      climber,
      {.directory = directory(),
       .stop = stop_of("{reward: 5}"),
       .checkpoints = {.checkpoint_frequency = 2, .checkpoint_score_attribute = "reward"}},
      nullptr, nobody);
  EXPECT_EQ(outcome.reason, "reward 5 >= 5");
  EXPECT_EQ(outcome.signal, std::nullopt);
  EXPECT_EQ(outcome.last_checkpoint, directory() / "checkpoint_000005");
  EXPECT_EQ(outcome.best_checkpoint, directory() / "checkpoint_000005");
  EXPECT_EQ(read_checkpoint(directory() / "checkpoint_000004").json("state.json"), "4");
  const std::string lines = read_text_file(directory() / "result.json");
  EXPECT_EQ(std::ranges::count(lines, '\n'), 5);
}

TEST_F(Trial, WhatTrainThrowsIsKeptInAFileAndGoesOn) {
  Climber climber(3);
  TrialObserver nobody;
  EXPECT_THROW(run_trial(climber, {.directory = directory(), .stop = stop_of("{reward: 5}")},
                         nullptr, nobody),
               std::runtime_error);
  EXPECT_EQ(read_text_file(directory() / "error.txt"), "lost its footing\n");
}

TEST_F(Trial, WhatFailsLeavesTheStateFromBefore) {
  Climber climber(3);
  climber.train();  // as a resumed one, at iteration 1
  TrialObserver nobody;
  const TrialOptions options{.directory = directory(), .stop = stop_of("{reward: 5}")};
  EXPECT_THROW(run_trial(climber, options, nullptr, nobody), std::runtime_error);
  EXPECT_EQ(find_checkpoint(directory()).state.json("state.json"), "1");
}

TEST_F(Trial, WhatFailsLeavesNoStateOlderThanTheLastCheckpointOrOfNoTraining) {
  TrialObserver nobody;
  Climber first(1);
  const TrialOptions plain{.directory = directory(), .stop = stop_of("{reward: 5}")};
  EXPECT_THROW(run_trial(first, plain, nullptr, nobody), std::runtime_error);
  EXPECT_THROW(find_checkpoint(directory()), Error);

  Climber third(4);
  third.train();
  EXPECT_THROW(run_trial(third,
                         {.directory = directory(),
                          .stop = stop_of("{reward: 5}"),
                          .checkpoints = {.checkpoint_frequency = 2}},
                         nullptr, nobody),
               std::runtime_error);
  EXPECT_EQ(find_checkpoint(directory()).directory, directory() / "checkpoint_000002");
  EXPECT_FALSE(fs::exists(directory() / "checkpoint_000001"));
}

TEST_F(Trial, TheNewestWholeCheckpointIsFound) {
  keep({}, {1, 2, 3});
  replace_text_file(directory() / "checkpoint_000003" / "manifest.json", "{");
  EXPECT_EQ(find_checkpoint(directory()).directory, directory() / "checkpoint_000002");
  EXPECT_EQ(find_checkpoint(directory() / "checkpoint_000001").directory,
            directory() / "checkpoint_000001");
  EXPECT_THROW(find_checkpoint(directory() / "checkpoint_000003"), Error);
  EXPECT_THROW(find_checkpoint("/nowhere"), Error);
}

TEST(FileLock, OneHolderAtATime) {
  const Scratch scratch;
  const fs::path path = scratch / "lock";
  {
    const FileLock lock(path, "the thing");
    EXPECT_EQ(refusal([&] { const FileLock second(path, "the thing"); }),
              "the thing is in use by another process");
  }
  EXPECT_EQ(refusal([&] { const FileLock again(path, "the thing"); }), "accepted");
}

}  // namespace
}  // namespace knurl::tune
