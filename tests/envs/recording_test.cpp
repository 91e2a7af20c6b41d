#include <fstream>

#include <gtest/gtest.h>

#include "batch_driver.h"
#include "picture/read_pictures.h"
#include "test_envs.h"

namespace knurl {
namespace {

namespace fs = std::filesystem;
using testing::BatchDriver;
using testing::Gif;
using testing::ScratchDirectory;
using Names = std::vector<std::string>;

/// A Counter that shows its count as that many dark pixels in a row of eight.
class ShownCounter final : public testing::Counter {
 public:
  explicit ShownCounter(int length) : Counter(length) {}
  [[nodiscard]] Image render_rgb() const override {
    Image out(8, 1, {255, 255, 255});
    for (int i = 0; i < count(); ++i) out.at(i, 0) = {0, 0, 0};
    return out;
  }
};

/// Throws as soon as it is looked at after the reset.
class ShyCounter final : public testing::Counter {
 public:
  explicit ShyCounter(int length) : Counter(length) {}
  [[nodiscard]] std::string render() const override {
    if (count() > 0) throw std::runtime_error("do not look");
    return "?";
  }
};

template <class E>
BatchDriver driver_of(int length, const VectorEnvOptions& options) {
  return BatchDriver(make_vector_env(
      "Counter", [=] { return std::make_unique<E>(length); }, Rng(1), options));
}

int dark_pixels(const Image& image) {
  return static_cast<int>(std::ranges::count(image.pixels, Color{0, 0, 0}));
}

Recording to(const fs::path& directory, const RecordEpisode& options) {
  Recording out;
  out.options = options;
  out.directory = directory;
  return out;
}

/// Records `steps` steps of two envs whose episodes last three, and then lets go of them.
Names recorded(const ScratchDirectory& scratch, const RecordEpisode& options, int steps) {
  {
    BatchDriver driver = driver_of<ShownCounter>(3, {.num_envs = 2});
    Recording recording = to(scratch.path(), options);
    recording.worker = 1;
    driver.env().record(recording);
    driver.reset();
    for (int i = 0; i < steps; ++i) driver.step();
  }
  return scratch.names();
}

TEST(Recording, HasThePicturesOfTheResetAndOfEachStep) {
  const ScratchDirectory scratch;
  EXPECT_EQ(recorded(scratch, {.every = 4, .fps = 10, .format = RecordingFormat::both}, 3),
            (Names{"training_episode_000000_worker_1_env_0",
                   "training_episode_000000_worker_1_env_0.gif"}));
  const Gif gif = testing::read_gif(scratch.path() / "training_episode_000000_worker_1_env_0.gif");
  ASSERT_EQ(gif.pictures.size(), 4U);
  for (int i = 0; i < 4; ++i) {
    EXPECT_EQ(dark_pixels(gif.pictures[static_cast<std::size_t>(i)]), i);
    EXPECT_EQ(gif.pictures[static_cast<std::size_t>(i)].width, 8);
  }
  EXPECT_EQ(gif.delays, std::vector<int>(4, 10));
  const std::string folder = "training_episode_000000_worker_1_env_0";
  EXPECT_EQ(scratch.names(folder),
            (Names{"step_000000.png", "step_000001.png", "step_000002.png", "step_000003.png"}));
  EXPECT_EQ(dark_pixels(testing::read_png(scratch.path() / folder / "step_000002.png")), 2);
}

TEST(Recording, TakesEveryKthEpisodeOfTheRun) {
  const ScratchDirectory scratch;  // env 0 plays episodes 0, 2, 4, env 1 1, 3, 5
  EXPECT_EQ(recorded(scratch, {.every = 3}, 9),
            (Names{"training_episode_000000_worker_1_env_0.gif",
                   "training_episode_000003_worker_1_env_1.gif"}));
}

TEST(Recording, StopsAtTheMostEpisodes) {
  const ScratchDirectory scratch;
  EXPECT_EQ(recorded(scratch, {.every = 1, .max_episodes = 2}, 9),
            (Names{"training_episode_000000_worker_1_env_0.gif",
                   "training_episode_000001_worker_1_env_1.gif"}));
}

TEST(Recording, SkipsStepsButNeverTheLast) {
  const ScratchDirectory scratch;
  EXPECT_EQ(recorded(scratch, {.every = 9, .frame_step = 2, .format = RecordingFormat::png}, 3),
            (Names{"training_episode_000000_worker_1_env_0"}));
  EXPECT_EQ(scratch.names("training_episode_000000_worker_1_env_0"),
            (Names{"step_000000.png", "step_000002.png", "step_000003.png"}));
}

TEST(Recording, GivesNamesToWholeEpisodesOnly) {
  const ScratchDirectory scratch;
  {
    BatchDriver driver = driver_of<ShownCounter>(3, {});
    driver.env().record(to(scratch.path(), {.every = 1, .format = RecordingFormat::both}));
    driver.reset();
    driver.step();
    EXPECT_EQ(scratch.names(), (Names{".training_episode_000000_worker_0_env_0.gif.unfinished",
                                      ".training_episode_000000_worker_0_env_0.unfinished"}));
  }
  EXPECT_EQ(scratch.names(), Names());
}

TEST(Recording, RemovesWhatAKilledProcessLeft) {
  const ScratchDirectory scratch;
  const Names others{".evaluation_0_episode_000000_worker_0_env_0.gif.unfinished",
                     ".training_episode_000000_worker_2_env_1.gif.unfinished", "mine.txt"};
  for (const std::string& name : others) std::ofstream(scratch.path() / name) << "half";
  std::ofstream(scratch.path() / ".training_episode_000007_worker_0_env_0.gif.unfinished")
      << "half";
  BatchDriver driver = driver_of<ShownCounter>(3, {});
  driver.env().record(to(scratch.path(), {}));
  EXPECT_EQ(scratch.names(), others);
}

TEST(Recording, SkipsAnEpisodeWhoseBeginningItDidNotSee) {
  const ScratchDirectory scratch;
  BatchDriver driver = driver_of<ShownCounter>(3, {});
  driver.env().record(to(scratch.path(), {.every = 1}));
  driver.reset();
  driver.step();
  ByteWriter out;
  driver.env().save(out);
  const std::vector<std::byte> state = out.take_bytes();
  ByteReader in(state);
  driver.env().load(in);
  for (int i = 0; i < 5; ++i) driver.step();  // two more of episode 0, and episode 1
  EXPECT_FALSE(fs::exists(scratch.path() / "training_episode_000000_worker_0_env_0.gif"));
  EXPECT_TRUE(fs::exists(scratch.path() / "training_episode_000001_worker_0_env_0.gif"));
}

TEST(Recording, ReplacesARecordingOfTheSameName) {
  const ScratchDirectory scratch;
  const RecordEpisode options{.every = 9, .format = RecordingFormat::both};
  const std::string folder = "training_episode_000000_worker_1_env_0";
  fs::create_directory(scratch.path() / folder);
  std::ofstream(scratch.path() / folder / "step_000009.png") << "old";
  recorded(scratch, options, 3);
  EXPECT_EQ(scratch.names(folder).size(), 4U);
}

TEST(Recording, ThatFailsIsWarnedOfOnceAndChangesNothing) {
  BatchDriver plain = driver_of<ShyCounter>(3, {.num_envs = 2});
  BatchDriver watched = driver_of<ShyCounter>(3, {.num_envs = 2});
  const ScratchDirectory scratch;
  watched.env().record(to(scratch.path(), {.every = 1}));
  std::ofstream(scratch.path() / "file") << "in the way";
  BatchDriver nowhere = driver_of<ShownCounter>(3, {.num_envs = 2});
  nowhere.env().record(to(scratch.path() / "file", {.every = 1}));
  ::testing::internal::CaptureStderr();
  plain.reset();
  watched.reset();
  for (int i = 0; i < 9; ++i) EXPECT_EQ(plain.step(), watched.step());
  nowhere.reset();
  for (int i = 0; i < 9; ++i) nowhere.step();
  const std::string told = ::testing::internal::GetCapturedStderr();
  EXPECT_EQ(told,
            "knurl: warning: training_episode_000000_worker_0_env_0 could not be recorded; the "
            "run goes on: do not look\n");
  for (const std::string& name : scratch.names()) {
    EXPECT_TRUE(name == "file" || name.starts_with("."))
        << name << " is of an episode that was not recorded";
  }
}

TEST(Recording, IsTheSameOverThreads) {
  const auto names_of = [](Stepping stepping) {
    const ScratchDirectory scratch;
    {
      BatchDriver driver =
          driver_of<ShownCounter>(3, {.num_envs = 6, .stepping = stepping, .num_threads = 4});
      driver.env().record(to(scratch.path(), {.every = 1}));
      driver.reset();
      for (int i = 0; i < 6; ++i) driver.step();
    }
    std::vector<std::pair<std::string, std::vector<Image>>> out;
    for (const std::string& name : scratch.names()) {
      out.emplace_back(name, testing::read_gif(scratch.path() / name).pictures);
    }
    return out;
  };
  const auto expected = names_of(Stepping::serial);
  EXPECT_EQ(expected.size(), 12U);
  EXPECT_EQ(names_of(Stepping::parallel), expected);
}

}  // namespace
}  // namespace knurl
