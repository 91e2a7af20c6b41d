#include "knurl/core/metrics/tensorboard.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "knurl/core/base/error.h"
#include "knurl/core/base/file.h"
#include "scratch.h"

namespace knurl {
namespace {

namespace fs = std::filesystem;

class Tensorboard : public ::testing::Test {
 protected:
  [[nodiscard]] const fs::path& directory() const { return scratch_.path(); }
  [[nodiscard]] fs::path path(const std::string& name) const { return scratch_ / name; }
  /// The names of the files, in the order in which TensorBoard reads them.
  [[nodiscard]] std::vector<std::string> files() const {
    std::vector<std::string> out;
    for (const auto& entry : fs::directory_iterator(directory())) {
      out.push_back(entry.path().filename());
    }
    std::ranges::sort(out);
    return out;
  }

 private:
  Scratch scratch_;
};

Result at_step(std::int64_t step) {
  Result out;
  out.set("timesteps_total", step);
  return out;
}

std::string record_at(std::int64_t step) {
  return tfevents::record_of(at_step(step), 1.0);
}

TEST(Tfevents, TheChecksumIsTheCastagnoliOneMasked) {
  // the check value of CRC-32C is e3069283
  EXPECT_EQ(tfevents::masked_crc32c("123456789"), 0xC78AB0E5U);
}

TEST(Tfevents, BytesAreThoseOfTensorboardsOwnWriter) {
  Result first;
  first.set("episode_reward_mean", -0.1);
  first.set("timesteps_total", 200);
  first.set("not_yet", Result::Nothing{});
  first.set("not_a_number", std::nan(""));
  first.set("training_iteration", 1);
  first.set("done", false);
  first.set("hostname", "here");
  first.set("pid", 7);
  first.set("timestamp", 1700000001);
  first.set("hist_stats/episode_reward", std::vector<double>{1, 2});
  first.set("info/learner/default_policy/learner_stats/kl", 1e-30);
  first.set("huge", std::numeric_limits<double>::infinity());
  Result second;
  second.set("timesteps_total", std::int64_t{5'000'000'000});
  second.set("done", true);
  EXPECT_EQ(tfevents::first_record(1700000000.25) + tfevents::record_of(first, 1700000001.5) +
                tfevents::record_of(second, 1700000002.0),
            read_text_file(KNURL_GOLDEN_DIR "/reference.tfevents"));
}

TEST(Tfevents, WhereStepsAreNotCountedIterationsAre) {
  Result counted = at_step(3);
  Result not_counted;
  not_counted.set("training_iteration", 3);
  // key and value of the step stand behind the record's header and the wall time
  EXPECT_EQ(tfevents::record_of(counted, 1.0).substr(12 + 9, 2), "\x10\x03");
  EXPECT_EQ(tfevents::record_of(not_counted, 1.0).substr(12 + 9, 2), "\x10\x03");
}

TEST_F(Tensorboard, EachSinkMakesAFileOfItsOwnWithItsFirstResult) {
  TensorboardSink first(directory());
  EXPECT_EQ(files(), std::vector<std::string>{});
  first.write(at_step(1));
  first.write(at_step(2));
  const std::vector<std::string> one = files();
  ASSERT_EQ(one.size(), 1U);
  EXPECT_TRUE(one[0].starts_with("events.out.tfevents.")) << one[0];
  EXPECT_EQ(fs::file_size(path(one[0])),
            tfevents::first_record(1.0).size() + record_at(1).size() + record_at(2).size());
  TensorboardSink(directory()).write(at_step(3));  // within the same second, most likely
  ASSERT_EQ(files().size(), 2U);
  EXPECT_EQ(files()[0], one[0]);
}

TEST_F(Tensorboard, CuttingTakesLaterEventsAndWhatWasNotFinished) {
  const std::string begin = tfevents::first_record(1.0);
  const std::string whole = begin + record_at(100) + record_at(300) + record_at(400);
  const auto cut = [&](const std::string& file, std::int64_t last_step) {
    replace_text_file(path("events.out.tfevents.1.host"), file);
    cut_events(directory(), last_step);
    return fs::exists(path("events.out.tfevents.1.host"))
               ? read_text_file(path("events.out.tfevents.1.host"))
               : "removed";
  };
  EXPECT_EQ(cut(whole, 400), whole);
  EXPECT_EQ(cut(whole, 399), begin + record_at(100) + record_at(300));
  EXPECT_EQ(cut(whole, 300), begin + record_at(100) + record_at(300));
  EXPECT_EQ(cut(whole, 299), begin + record_at(100));
  EXPECT_EQ(cut(whole, 99), "removed");
  for (std::size_t lost = 1; lost < record_at(400).size(); ++lost) {
    EXPECT_EQ(cut(whole.substr(0, whole.size() - lost), 1000),
              begin + record_at(100) + record_at(300));
  }
  EXPECT_EQ(cut("not of ours", 1000), "not of ours");
  EXPECT_EQ(cut(begin, 1000), "removed");
  replace_text_file(path("result.json"), "other files are left alone");
  cut_events(directory(), 0);
  EXPECT_EQ(files(), std::vector<std::string>{"result.json"});
}

TEST_F(Tensorboard, WhatCannotBeWrittenIsAnErrorWithItsPath) {
  try {
    TensorboardSink(path("gone")).write(at_step(1));
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::io);
    EXPECT_NE(std::string(error.what()).find("gone/events.out.tfevents."), std::string::npos);
  }
}

}  // namespace
}  // namespace knurl
