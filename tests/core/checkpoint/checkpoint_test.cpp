#include "knurl/core/checkpoint/checkpoint.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "knurl/core/base/error.h"
#include "knurl/core/base/file.h"
#include "knurl/core/base/version.h"
#include "knurl/core/checkpoint/safetensors.h"
#include "scratch.h"

namespace knurl {
namespace {

namespace fs = std::filesystem;

class Checkpoint : public ::testing::Test {
 protected:
  [[nodiscard]] fs::path path(const std::string& name) const { return scratch_ / name; }

 private:
  Scratch scratch_;
};

RecordBatch tensors() {
  RecordBatch out(
      {{"w", DType::float32, {2, 3}}, {"n", DType::int64, {}}, {"none", DType::uint8, {0}}}, 1);
  for (int i = 0; i < 6; ++i) out.column<float>("w").data()[i] = static_cast<float>(i) / 2;
  out.column<std::int64_t>("n")[0] = -7;
  return out;
}

CheckpointData data(const std::string& text = "{\"a\": 1}") {
  CheckpointData out;
  out.add_json("state.json", text);
  out.add_tensors("policies/p.safetensors", tensors());
  return out;
}

std::string refusal(const fs::path& directory) {
  try {
    read_checkpoint(directory);
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::checkpoint);
    return error.what();
  }
  return "accepted";
}

TEST_F(Checkpoint, WhatIsWrittenReadsBack) {
  write_checkpoint(path("c"), data());
  const CheckpointData back = read_checkpoint(path("c"));
  EXPECT_EQ(back.json("state.json"), "{\"a\": 1}");
  const RecordBatch t = back.tensors("policies/p.safetensors");
  EXPECT_EQ(t.columns(), tensors().columns());
  EXPECT_EQ(t.column<float>("w").data()[5], 2.5F);
  EXPECT_EQ(t.column<std::int64_t>("n")[0], -7);
  EXPECT_EQ(back.files(), data().files());
}

TEST_F(Checkpoint, SavingAgainReplacesItInOneStep) {
  write_checkpoint(path("c"), data("{\"a\": 1}"));
  write_checkpoint(path("c/"), data("{\"a\": 2}"));
  EXPECT_EQ(read_checkpoint(path("c")).json("state.json"), "{\"a\": 2}");
  EXPECT_EQ(std::distance(fs::directory_iterator(path("")), {}), 1);  // nothing is left beside it
}

TEST_F(Checkpoint, AFailedWriteLeavesTheOldOneAndNothingElse) {
  write_checkpoint(path("c"), data());
  CheckpointData impossible = data("{\"a\": 2}");
  impossible.add_json("state.json/below a file", "");
  EXPECT_THROW(write_checkpoint(path("c"), impossible), Error);
  EXPECT_EQ(read_checkpoint(path("c")).json("state.json"), "{\"a\": 1}");
  EXPECT_EQ(std::distance(fs::directory_iterator(path("")), {}), 1);
  EXPECT_THROW(write_checkpoint("/proc/nowhere/c", data()), Error);
}

TEST_F(Checkpoint, ExtraFilesAndPathsOutsideAreNotRead) {
  write_checkpoint(path("c"), data());
  replace_text_file(path("c/extra.json"), "{}");
  EXPECT_FALSE(read_checkpoint(path("c")).has("extra.json"));
  CheckpointData outside;
  outside.add_json("../outside.json", "{}");
  write_checkpoint(path("d"), outside);
  EXPECT_NE(refusal(path("d")).find("lies outside the checkpoint"), std::string::npos);
}

TEST_F(Checkpoint, WhatIsMissingIsNamed) {
  EXPECT_NE(refusal(path("none")).find("no such checkpoint directory"), std::string::npos);
  EXPECT_NE(refusal(path("")).find("it has no manifest.json"), std::string::npos);
  write_checkpoint(path("c"), data());
  const CheckpointData back = read_checkpoint(path("c"));
  EXPECT_THROW((void)back.json("other.json"), Error);
}

TEST_F(Checkpoint, AnotherFormatIsRefusedWithBothNumbersAndItsWriter) {
  write_checkpoint(path("c"), data());
  const fs::path manifest = path("c/manifest.json");
  const std::string written = read_text_file(manifest);
  const auto with_version = [&](const std::string& version) {
    std::string text = written;
    const std::string line = "\"format_version\": 2";
    text.replace(text.find(line), line.size(), "\"format_version\": " + version);
    replace_text_file(manifest, text);
    return refusal(path("c"));
  };
  const std::string rest = fmt::format(
      " than 2, which this knurl ({0}) reads; go on with the knurl that wrote it ({0})", kVersion);
  EXPECT_EQ(with_version("1"), manifest.string() + ": format 1 is older" + rest);
  EXPECT_EQ(with_version("3"), manifest.string() + ": format 3 is newer" + rest);
  EXPECT_EQ(with_version("\"2\""), manifest.string() + ": damaged: format_version is \"2\"");
}

TEST_F(Checkpoint, EveryDamagedFileIsNamedAtOnce) {
  write_checkpoint(path("c"), data());
  EXPECT_EQ(problems_of_checkpoint(path("c")), std::vector<std::string>{});
  const CheckpointManifest manifest = read_manifest(path("c"));
  EXPECT_EQ(manifest.format_version, 2);
  ASSERT_EQ(manifest.files.size(), 2U);
  EXPECT_EQ(manifest.files[1].name, "state.json");
  EXPECT_EQ(manifest.files[1].bytes, 8);

  replace_text_file(path("c/state.json"), "{\"a\": 3}");
  fs::remove(path("c/policies/p.safetensors"));
  EXPECT_EQ(problems_of_checkpoint(path("c")),
            (std::vector<std::string>{
                path("c/policies/p.safetensors").string() + ": is missing",
                path("c/state.json").string() + ": damaged: its checksum is another"}));
  fs::remove(path("c/manifest.json"));
  EXPECT_EQ(problems_of_checkpoint(path("c")).size(), 1U);
  EXPECT_EQ(problems_of_checkpoint(path("none")).size(), 1U);
}

TEST_F(Checkpoint, NumberedOnesAreListedInOrderAndUnfinishedOnesRemoved) {
  for (const int n : {10, 9, 1000000}) write_checkpoint(path(checkpoint_name(n)), data());
  fs::create_directory(path("checkpoint_x"));
  fs::create_directory(path(".unfinished-1-checkpoint_000011"));
  std::vector<std::int64_t> found;
  for (const auto& checkpoint : list_checkpoints(path(""))) found.push_back(checkpoint.iteration);
  EXPECT_EQ(found, (std::vector<std::int64_t>{9, 10, 1000000}));
  remove_unfinished_checkpoints(path(""));
  EXPECT_FALSE(fs::exists(path(".unfinished-1-checkpoint_000011")));
}

TEST(Safetensors, ReadsWhatItsOwnLibraryWrote) {
  const std::string text = read_text_file(KNURL_GOLDEN_DIR "/reference.safetensors");
  const RecordBatch t = from_safetensors(std::as_bytes(std::span(text)), "reference");
  ASSERT_EQ(t.columns().size(), 5U);
  EXPECT_EQ(t.columns()[t.index_of("net.weight")].row_shape, (Shape{2, 3}));
  EXPECT_EQ(t.column<float>("net.weight").data()[5], 1.25F);
  EXPECT_EQ(t.column<std::int64_t>("steps")[0], 123456789012);
  EXPECT_EQ(t.column<bool>("mask").data()[0], true);
  EXPECT_EQ(t.column<bool>("mask").data()[1], false);
  EXPECT_EQ(t.column<std::uint8_t>("bytes").data()[2], 255);
  EXPECT_EQ(t.column<double>("double").data()[0], 0.1);
}

TEST(Safetensors, DamagedBytesAreRefusedNotRead) {
  const std::vector<std::byte> good = to_safetensors(tensors());
  for (std::size_t size = 0; size < good.size(); ++size) {
    EXPECT_THROW(from_safetensors(std::span(good).first(size), "cut"), Error) << size;
  }
  // whatever one byte of the header turns into, nothing worse than an error happens
  for (std::size_t at = 0; at < 200; ++at) {
    for (const int value : {0, 34, 44, 57, 125, 255}) {
      std::vector<std::byte> bad = good;
      bad[at] = static_cast<std::byte>(value);
      try {
        (void)from_safetensors(bad, "changed");
      } catch (const Error& error) {
        EXPECT_EQ(error.kind(), ErrorKind::checkpoint);
      }
    }
  }
}

}  // namespace
}  // namespace knurl
