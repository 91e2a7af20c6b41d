#include "knurl/envs/wrappers/run_wrappers.h"

#include <gtest/gtest.h>

#include "../single_env.h"
#include "../test_envs.h"
#include "knurl/core/config/yaml.h"
#include "knurl/envs/registry.h"

namespace knurl {
namespace {

using testing::SingleEnv;

std::string refusal(const std::string& wrappers, const std::string& env = "Pendulum-v1") {
  try {
    (void)make_env(env, parse_yaml("wrappers:\n" + wrappers, "a.yaml"));
  } catch (const Error& error) {
    return fmt::format("{}: {}", name_of(error.kind()), error.what());
  }
  return "accepted";
}

RunWrappers read(const std::string& yaml) {
  return run_wrappers(wrappers_of("Pendulum-v1", parse_yaml(yaml, "a.yaml")));
}

TEST(RunWrappers, PutNothingAroundAnEnv) {
  const std::string list = "wrappers: [NormalizeObservation, NormalizeReward, RecordEpisode]";
  SingleEnv plain(make_env("Pendulum-v1"), 3);
  SingleEnv wrapped(make_env("Pendulum-v1", parse_yaml(list, "a.yaml")), 3);
  EXPECT_EQ(wrapped.env().spec(), plain.env().spec());
  plain.reset();
  wrapped.reset();
  for (int i = 0; i < 5; ++i) {
    EXPECT_EQ(plain.step_by(1.0F).reward, wrapped.step_by(1.0F).reward);
    EXPECT_EQ(plain.observation()[0], wrapped.observation()[0]);
  }
}

TEST(RunWrappers, AreReadWithTheirOptions) {
  const RunWrappers none = read("wrappers: [{ClipReward: {sign: true}}]");
  EXPECT_FALSE(none.observations || none.rewards || none.recording);
  const RunWrappers given = read(
      "wrappers: [NormalizeObservation, {NormalizeReward: {gamma: 0.5, epsilon: 1e-4}}, "
      "{RecordEpisode: {directory: films, every: 7, max_episodes: 2, frame_step: 3, fps: 20, "
      "format: both}}]");
  EXPECT_EQ(given.observations.value().epsilon, 1e-8);
  EXPECT_EQ(given.rewards.value().gamma, 0.5);
  EXPECT_EQ(given.rewards.value().epsilon, 1e-4);
  const RecordEpisode& recording = given.recording.value();
  EXPECT_EQ(recording.directory, "films");
  EXPECT_EQ(recording.every, 7);
  EXPECT_EQ(recording.max_episodes, 2);
  EXPECT_EQ(recording.frame_step, 3);
  EXPECT_EQ(recording.fps, 20);
  EXPECT_EQ(recording.format, RecordingFormat::both);
}

TEST(RunWrappers, ThatNormaliseStandAfterWhatChangesTheSame) {
  EXPECT_EQ(
      refusal("- NormalizeObservation\n- FrameStack"),
      "config: a.yaml:3: env_config.wrappers[1].FrameStack: is about observations: must stand "
      "before NormalizeObservation, since a run normalises what comes out of the whole list");
  EXPECT_EQ(
      refusal("- NormalizeReward\n- TimeLimit: {max_episode_steps: 9}\n- ClipReward: {low: 0}"),
      "config: a.yaml:4: env_config.wrappers[2].ClipReward: is about rewards: must stand "
      "before NormalizeReward, since a run normalises what comes out of the whole list");
  for (const char* wrapper : {"TransformReward", "EpisodeStatistics"}) {
    EXPECT_NE(refusal(fmt::format("- NormalizeReward\n- {}", wrapper)).find("must stand before"),
              std::string::npos)
        << wrapper;
  }
  EXPECT_EQ(refusal("- FrameStack\n- EpisodeStatistics\n- NormalizeReward\n- RecordEpisode\n"
                    "- NormalizeObservation\n- TimeLimit: {max_episode_steps: 9}"),
            "accepted");
  EXPECT_EQ(refusal("- NormalizeReward\n- FrameStack"), "accepted") << "of another subject";
}

TEST(RunWrappers, StandInTheListOnceWithOptionsThatCanBe) {
  for (const char* wrapper : {"NormalizeObservation", "NormalizeReward", "RecordEpisode"}) {
    EXPECT_EQ(refusal(fmt::format("- {0}\n- {0}", wrapper)),
              fmt::format("config: a.yaml:3: env_config.wrappers[1].{}: stands in the list twice",
                          wrapper));
  }
  EXPECT_EQ(refusal("- RecordEpisode: {evry: 2}"),
            "config: a.yaml:2: env_config.wrappers[0].RecordEpisode.evry: unknown option; did you "
            "mean every?");
  EXPECT_EQ(refusal("- RecordEpisode: {fps: 60}"),
            "config: a.yaml:2: env_config.wrappers[0].RecordEpisode.fps = 60: must be in [1, 50]");
  EXPECT_NE(refusal("- RecordEpisode: {format: mp4}").find("must be png or gif or both"),
            std::string::npos)
      << refusal("- RecordEpisode: {format: mp4}");
  EXPECT_NE(refusal("- NormalizeReward: {gamma: 2}").find("NormalizeReward.gamma = 2"),
            std::string::npos);
}

/// A Counter to nine whose reward is 0.1 a step, in wrappers.
SingleEnv counter(const std::string& yaml) {
  const auto list = ValueType<std::vector<WrapperChoice>>::read(parse_yaml(yaml, "a.yaml"),
                                                                "env_config.wrappers", {});
  return SingleEnv(wrap(std::make_unique<testing::Counter>(9), list));
}

TEST(EpisodeStatistics, AreThoseAtTheirPlaceInTheList) {
  SingleEnv env = counter(
      "[EpisodeStatistics, {TransformReward: {scale: 10}}, {EpisodeStatistics: {name: scaled}}]");
  EXPECT_EQ(env.env().spec().info,
            (std::vector<std::string>{"episode/r", "episode/l", "scaled/r", "scaled/l"}));
  for (int episode = 0; episode < 2; ++episode) {
    env.reset();
    EXPECT_EQ(env.info(), (std::vector<double>{0, 0, 0, 0}));
    env.step(0);
    env.step(0);
    EXPECT_EQ(env.info(), (std::vector<double>{0.2, 2, 2, 2}));
  }
}

TEST(EpisodeStatistics, NeedNamesThatAreFree) {
  EXPECT_EQ(refusal("- EpisodeStatistics\n- EpisodeStatistics"),
            "config: a.yaml:3: env_config.wrappers[1].EpisodeStatistics: name = episode: there is "
            "an info number episode/r already; give another name");
  EXPECT_EQ(refusal("- EpisodeStatistics: {name: \"\"}"),
            "config: a.yaml:2: env_config.wrappers[0].EpisodeStatistics: name: must not be empty");
}

}  // namespace
}  // namespace knurl
