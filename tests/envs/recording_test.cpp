#include <filesystem>
#include <fstream>
#include <set>

#include <gif_lib.h>
#include <gtest/gtest.h>
#include <png.h>

#include "batch_driver.h"
#include "knurl/core/config/yaml.h"
#include "knurl/envs/builtin/cartpole.h"
#include "knurl/envs/picture/files.h"
#include "knurl/envs/vector_env.h"

namespace knurl {
namespace {

namespace fs = std::filesystem;
using testing::BatchDriver;

constexpr Color kRed{200, 10, 20};
constexpr Color kWhite{255, 255, 255};

/// A directory of its own, gone in the end.
class Folder {
 public:
  Folder()
      : path_(fs::temp_directory_path() /
              fmt::format("knurl-recording-{}-{}", ::getpid(),
                          ::testing::UnitTest::GetInstance()->current_test_info()->name())) {
    fs::remove_all(path_);
    fs::create_directories(path_);
  }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  ~Folder() {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
  }
  [[nodiscard]] const fs::path& path() const { return path_; }
  [[nodiscard]] std::set<std::string> names() const {
    std::set<std::string> out;
    for (const auto& entry : fs::directory_iterator(path_)) out.insert(entry.path().filename());
    return out;
  }

 private:
  fs::path path_;
};

Image read_png(const fs::path& path) {
  png_image png{};
  png.version = PNG_IMAGE_VERSION;
  EXPECT_NE(png_image_begin_read_from_file(&png, path.c_str()), 0) << png.message;
  png.format = PNG_FORMAT_RGB;
  Image out(static_cast<int>(png.width), static_cast<int>(png.height), {});
  EXPECT_NE(png_image_finish_read(&png, nullptr, out.pixels.data(), 0, nullptr), 0) << png.message;
  return out;
}

/// All pictures of a GIF.
std::vector<Image> read_gif(const fs::path& path) {
  int error = 0;
  GifFileType* gif = DGifOpenFileName(path.c_str(), &error);
  EXPECT_NE(gif, nullptr) << path;
  std::vector<Image> out;
  if (!gif) return out;
  EXPECT_EQ(DGifSlurp(gif), GIF_OK) << path;
  for (int i = 0; i < gif->ImageCount; ++i) {
    const SavedImage& saved = gif->SavedImages[i];
    const ColorMapObject* colors =
        saved.ImageDesc.ColorMap ? saved.ImageDesc.ColorMap : gif->SColorMap;
    Image image(saved.ImageDesc.Width, saved.ImageDesc.Height, {});
    for (std::size_t pixel = 0; pixel < image.pixels.size(); ++pixel) {
      const GifColorType& color = colors->Colors[saved.RasterBits[pixel]];
      image.pixels[pixel] = {color.Red, color.Green, color.Blue};
    }
    out.push_back(std::move(image));
  }
  DGifCloseFile(gif, &error);
  return out;
}

TEST(Recording, APngIsThePicture) {
  const Folder folder;
  Image image(5, 3, kWhite);
  image.at(4, 2) = kRed;
  image.at(0, 1) = {1, 2, 3};
  write_png(folder.path() / "a.png", image);
  EXPECT_EQ(read_png(folder.path() / "a.png"), image);
  EXPECT_THROW(write_png(folder.path() / "nowhere" / "a.png", image), Error);
}

TEST(Recording, AGifIsItsPicturesInOrder) {
  const Folder folder;
  std::vector<Image> pictures(3, Image(7, 4, kWhite));
  pictures[1].at(6, 3) = kRed;
  pictures[2].at(0, 0) = {0, 0, 255};
  GifWriter gif(folder.path() / "a.gif", {.width = 7, .height = 4});
  for (const Image& picture : pictures) gif.add(picture);
  gif.close();
  EXPECT_EQ(read_gif(folder.path() / "a.gif"), pictures);
}

TEST(Recording, MoreColoursThanAGifHasAreRounded) {
  const Folder folder;
  Image image(64, 64, kWhite);
  for (int y = 0; y < 64; ++y) {
    for (int x = 0; x < 64; ++x) {
      image.at(x, y) = {static_cast<std::uint8_t>(4 * x), static_cast<std::uint8_t>(4 * y), 128};
    }
  }
  GifWriter gif(folder.path() / "a.gif", {.width = 64, .height = 64});
  gif.add(image);
  gif.close();
  const std::vector<Image> read = read_gif(folder.path() / "a.gif");
  ASSERT_EQ(read.size(), 1U);
  for (int y = 0; y < 64; ++y) {
    for (int x = 0; x < 64; ++x) {
      ASSERT_NEAR(read[0].at(x, y).red, 4 * x, 26);
      ASSERT_NEAR(read[0].at(x, y).green, 4 * y, 26);
    }
  }
}

/// Two mazes that record below a folder, stepped for so long.
void run_mazes(const fs::path& directory, const RecordEpisode& options, int steps) {
  BatchDriver mazes(make_vector_env("Maze-v0", parse_yaml("{max_episode_steps: 4}", "test"), Rng(1),
                                    {.num_envs = 2, .total_envs = 2}));
  mazes.env().record({.options = options, .directory = directory, .worker = 3});
  mazes.reset();
  for (int i = 0; i < steps; ++i) mazes.step();
}

TEST(Recording, EachSoManyEpisodesAreKeptWhicheverEnvStepsThem) {
  const Folder folder;
  run_mazes(folder.path(), {.every = 3}, 18);  // four whole episodes of two envs, and a half
  EXPECT_EQ(folder.names(), (std::set<std::string>{"training_episode_000000_worker_3_env_0.gif",
                                                   "training_episode_000003_worker_3_env_1.gif",
                                                   "training_episode_000006_worker_3_env_0.gif"}));
  EXPECT_EQ(read_gif(folder.path() / "training_episode_000003_worker_3_env_1.gif").size(), 5U)
      << "the start and four steps";
}

TEST(Recording, NoMoreThanAskedFor) {
  const Folder folder;
  run_mazes(folder.path(), {.every = 1, .max_episodes = 2, .frame_step = 3}, 18);
  EXPECT_EQ(folder.names(), (std::set<std::string>{"training_episode_000000_worker_3_env_0.gif",
                                                   "training_episode_000001_worker_3_env_1.gif"}));
  EXPECT_EQ(read_gif(folder.path() / "training_episode_000000_worker_3_env_0.gif").size(), 3U)
      << "steps 0, 3 and the last";
}

TEST(Recording, PngsAreAFolderForEachEpisode) {
  const Folder folder;
  run_mazes(folder.path(), {.every = 100, .format = RecordingFormat::png}, 5);
  const fs::path episode = folder.path() / "training_episode_000000_worker_3_env_0";
  ASSERT_TRUE(fs::is_directory(episode));
  const auto files = std::distance(fs::directory_iterator(episode), fs::directory_iterator());
  EXPECT_EQ(files, 5);
  const Image last = read_png(episode / "step_000004.png");
  EXPECT_EQ(last.width, 320);
  EXPECT_EQ(last.height, 320);
}

TEST(Recording, WhereNothingCanBeWrittenTheRunGoesOn) {
  const Folder folder;
  std::ofstream(folder.path() / "file") << "in the way";
  EXPECT_NO_THROW(run_mazes(folder.path() / "file", {.every = 1}, 10));
  EXPECT_EQ(folder.names(), std::set<std::string>{"file"});
}

TEST(Recording, ThePictureMovesWithTheWorld) {
  CartPole env({});
  const SpaceLayout layout(env.spec().observation);
  const SpaceLayout actions(env.spec().action);
  SpaceValue observation(layout);
  SpaceValue action(actions);
  Rng rng(1);
  env.reset(rng, observation.row());
  const Image before = env.render_rgb();
  for (int i = 0; i < 5; ++i) env.step(std::as_const(action).row(), observation.row());
  const Image after = env.render_rgb();
  EXPECT_EQ(before.width, after.width);
  EXPECT_FALSE(before == after);
}

TEST(Recording, TextIsAPictureInASmallFont) {
  EXPECT_TRUE(text_image("").empty());
  const Image one = text_image("a");
  const Image two = text_image("ab\nc");
  EXPECT_EQ(two.width - one.width, text_image("abc").width - two.width);
  EXPECT_GT(two.height, one.height);
  EXPECT_FALSE(text_image("a") == text_image("b"));
}

}  // namespace
}  // namespace knurl
