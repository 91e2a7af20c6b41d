#include <array>

#include <gtest/gtest.h>

#include "../single_env.h"
#include "../test_envs.h"
#include "knurl/core/base/error.h"
#include "knurl/envs/picture/canvas.h"
#include "knurl/envs/picture/files.h"
#include "knurl/envs/registry.h"
#include "read_pictures.h"

namespace knurl {
namespace {

constexpr Color kPaper{255, 255, 255};
constexpr Color kInk{10, 20, 30};

/// Rows of the image, '#' where it is not paper.
std::vector<std::string> drawn(const Image& image) {
  std::vector<std::string> out;
  for (int y = 0; y < image.height; ++y) {
    out.emplace_back();
    for (int x = 0; x < image.width; ++x) out.back() += image.at(x, y) == kPaper ? '.' : '#';
  }
  return out;
}

using Rows = std::vector<std::string>;

TEST(Canvas, FillsPixelsWhoseCentresAreInside) {
  Canvas canvas(5, 4, kPaper);
  canvas.rectangle({1.0, 1.0}, {3.0, 2.4}, kInk);  // the centres of the third row are at 2.5
  EXPECT_EQ(drawn(canvas.image()), (Rows{".....", ".##..", ".....", "....."}));
  EXPECT_EQ(canvas.image().at(1, 1), kInk);
}

TEST(Canvas, CutsOffWhatIsOutside) {
  Canvas canvas(3, 2, kPaper);
  canvas.rectangle({-10.0, -10.0}, {1.0, 10.0}, kInk);
  canvas.circle({100.0, 100.0}, 3.0, kInk);
  EXPECT_EQ(drawn(canvas.image()), (Rows{"#..", "#.."}));
}

TEST(Canvas, DrawsDiscsAndStrokes) {
  Canvas disc(5, 5, kPaper);
  disc.circle({2.5, 2.5}, 1.9, kInk);
  EXPECT_EQ(drawn(disc.image()), (Rows{".....", ".###.", ".###.", ".###.", "....."}));
  Canvas stroke(5, 3, kPaper);
  stroke.line({1.0, 1.5}, {4.0, 1.5}, 1.0, kInk);
  stroke.line({2.0, 2.0}, {2.0, 2.0}, 9.0, kInk);  // to the same point: nothing
  EXPECT_EQ(drawn(stroke.image()), (Rows{".....", ".###.", "....."}));
}

TEST(Canvas, FillsByEvenAndOddWhereALineCrossesItself) {
  Canvas canvas(4, 4, kPaper);
  const std::array<Point, 10> frame{
      {{0, 0}, {4, 0}, {4, 4}, {0, 4}, {0, 0}, {1, 1}, {3, 1}, {3, 3}, {1, 3}, {1, 1}}};
  canvas.polygon(frame, kInk);
  EXPECT_EQ(drawn(canvas.image()), (Rows{"####", "#..#", "#..#", "####"}));
  Canvas nothing(4, 4, kPaper);
  nothing.polygon(std::span(frame).first(2), kInk);
  EXPECT_EQ(drawn(nothing.image()), Rows(4, "...."));
}

TEST(Canvas, WritesLetters) {
  Canvas canvas(6, 7, kPaper);
  canvas.text({0.0, 0.0}, "T", 1, kInk);
  EXPECT_EQ(drawn(canvas.image()),
            (Rows{"#####.", "..#...", "..#...", "..#...", "..#...", "..#...", "..#..."}));
}

TEST(TextImage, IsAsLargeAsItsLines) {
  const Image image = text_image("ab\nlonger\n");
  EXPECT_EQ(image.width, 16 + 6 * 12);  // margins, six letters of 12
  EXPECT_EQ(image.height, 16 + 2 * 18);
  EXPECT_TRUE(text_image("").empty());
  EXPECT_TRUE(text_image("\n\n").empty());
}

TEST(TextImage, HasOneBoxForEachCharacterThatIsNotAscii) {
  EXPECT_EQ(text_image("\u00e4"), text_image("\u2192"));
  EXPECT_EQ(text_image("a\u2192b").width, text_image("a-b").width);
  EXPECT_EQ(text_image("\xff").width, text_image("?").width);  // no UTF-8 at all
  EXPECT_NE(text_image("\u2192"), text_image("?"));
}

TEST(Image, IsCutOrFilledUp) {
  Image image(2, 2, kInk);
  EXPECT_EQ(drawn(resized(image, 3, 1, kPaper)), (Rows{"##."}));
}

TEST(Png, IsReadBackAsItWasWritten) {
  const testing::ScratchDirectory scratch;
  Image image(3, 2, kPaper);
  image.at(2, 1) = {1, 128, 254};
  write_png(scratch.path() / "a.png", image);
  EXPECT_EQ(testing::read_png(scratch.path() / "a.png"), image);
}

TEST(Gif, KeepsUpTo256ColoursDelaysAndRepeats) {
  const testing::ScratchDirectory scratch;
  Image many(16, 16, {});
  for (int i = 0; i < 256; ++i) {
    many.at(i % 16, i / 16) = {static_cast<std::uint8_t>(i), 7, static_cast<std::uint8_t>(255 - i)};
  }
  const Image plain(16, 16, kInk);
  GifWriter writer(scratch.path() / "a.gif", {.width = 16, .height = 16, .delay = 5});
  writer.add(many);
  writer.add(plain);
  writer.close();
  const testing::Gif gif = testing::read_gif(scratch.path() / "a.gif");
  ASSERT_EQ(gif.pictures.size(), 2U);
  EXPECT_EQ(gif.pictures[0], many);
  EXPECT_EQ(gif.pictures[1], plain);
  EXPECT_EQ(gif.delays, (std::vector<int>{5, 5}));
  EXPECT_TRUE(gif.repeats);
}

TEST(Gif, RoundsMoreColoursToACube) {
  const testing::ScratchDirectory scratch;
  Image many(40, 10, {});
  for (int i = 0; i < 400; ++i) {
    many.at(i % 40, i / 40) = {static_cast<std::uint8_t>(i % 256), static_cast<std::uint8_t>(i / 2),
                               0};
  }
  many.at(0, 0) = {255, 255, 255};
  GifWriter writer(scratch.path() / "a.gif", {.width = 40, .height = 10});
  writer.add(many);
  writer.close();
  const Image back = testing::read_gif(scratch.path() / "a.gif").pictures.at(0);
  for (std::size_t i = 0; i < many.pixels.size(); ++i) {
    EXPECT_NEAR(back.pixels[i].red, many.pixels[i].red, 26);      // half of 255 / 5
    EXPECT_NEAR(back.pixels[i].green, many.pixels[i].green, 22);  // half of 255 / 6
  }
  EXPECT_EQ(back.at(0, 0), (Color{255, 255, 255}));
}

TEST(Pictures, ThatCannotBeWrittenAreErrorsThatNameTheFile) {
  const Image image(2, 2, kInk);
  for (const bool png : {true, false}) {
    try {
      if (png) {
        write_png("/nowhere/a.png", image);
      } else {
        GifWriter("/nowhere/a.gif", {.width = 2, .height = 2});
      }
      ADD_FAILURE() << "written";
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::io);
      EXPECT_NE(std::string(error.what()).find("/nowhere/a."), std::string::npos);
      EXPECT_NE(std::string(error.what()).find("No such file"), std::string::npos) << error.what();
    }
  }
}

TEST(Pictures, OfADiskThatIsFullAreErrors) {
  Image noise(64, 64, {});
  for (int i = 0; i < 64 * 64; ++i) noise.pixels[static_cast<std::size_t>(i)].red = i * 37 % 251;
  const auto write = [&] {
    GifWriter writer("/dev/full", {.width = 64, .height = 64});
    for (int i = 0; i < 20; ++i) writer.add(noise);
    writer.close();
  };
  EXPECT_THROW(write(), Error);
}

TEST(Pictures, OfBuiltInEnvsShowWhereThingsAre) {
  testing::SingleEnv maze(make_env("Maze-v0"));
  maze.reset();
  const Image start = maze.env().render_rgb();
  EXPECT_EQ(start.width, 320);  // five cells of 64
  EXPECT_EQ(start.at(288, 288), start.at(260, 260)) << "the goal's cell is of one colour";
  EXPECT_NE(start.at(32, 32), start.at(96, 32)) << "the seeker's is not";
  maze.step(3);  // right
  const Image moved = maze.env().render_rgb();
  EXPECT_EQ(moved.at(96, 32), start.at(32, 32));
  EXPECT_EQ(moved.at(32, 32), start.at(96, 32));
  const std::array<std::pair<const char*, int>, 9> widths{{{"CartPole-v1", 600},
                                                           {"StatelessCartPole", 600},
                                                           {"Pendulum-v1", 400},
                                                           {"MountainCar-v0", 600},
                                                           {"MountainCarContinuous-v0", 600},
                                                           {"Acrobot-v1", 440},
                                                           {"FrozenLake8x8-v1", 512},
                                                           {"CliffWalking-v1", 504},
                                                           {"Taxi-v4", 320}}};
  for (const auto& [name, width] : widths) {
    testing::SingleEnv env(make_env(name));
    env.reset();
    EXPECT_EQ(env.env().render_rgb().width, width) << name;
  }
}

TEST(Pictures, OfOtherEnvsAreTheirTextIfTheyHaveAny) {
  testing::SingleEnv said(make_env("RepeatAfterMe"));
  said.reset();
  EXPECT_EQ(said.env().render_rgb(), text_image(said.env().render()));
  testing::SingleEnv blank(std::make_unique<testing::Counter>(3));
  blank.reset();
  EXPECT_TRUE(blank.env().render_rgb().empty());
}

}  // namespace
}  // namespace knurl
