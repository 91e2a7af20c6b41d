#include "knurl/core/metrics/sinks.h"

#include <filesystem>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "knurl/core/base/error.h"
#include "knurl/core/base/file.h"
#include "scratch.h"

namespace knurl {
namespace {

namespace fs = std::filesystem;

class Sinks : public ::testing::Test {
 protected:
  [[nodiscard]] fs::path path(const char* name) const { return scratch_ / name; }

 private:
  Scratch scratch_;
};

Result row(int iteration) {
  Result out;
  out.set("training_iteration", iteration);
  return out;
}

TEST_F(Sinks, ALateMetricGetsAColumnAndTheRowsBeforeAreEmptyThere) {
  CsvSink csv(path("p.csv"));
  csv.write(row(1));
  Result second = row(2);
  second.set("a/b", 0.5);
  second.set("text", "with, comma and \"quotes\"");
  second.set("list", std::vector<double>{1});
  second.set("none", Result::Nothing{});
  csv.write(second);
  csv.write(row(3));
  EXPECT_EQ(read_text_file(path("p.csv")),
            "training_iteration,a/b,text,none\n"
            "1,,,\n"
            "2,0.5,\"with, comma and \"\"quotes\"\"\",\n"
            "3,,,\n");
}

TEST_F(Sinks, ATableIsGoneOnWith) {
  CsvSink(path("p.csv")).write(row(1));
  Result second = row(2);
  second.set("x", 7);
  CsvSink(path("p.csv")).write(second);
  EXPECT_EQ(read_text_file(path("p.csv")), "training_iteration,x\n1,\n2,7\n");
}

TEST_F(Sinks, CuttingTakesLaterRowsAndBrokenLastLines) {
  JsonSink json(path("r.json"));
  CsvSink csv(path("p.csv"));
  for (int i = 1; i <= 5; ++i) {
    json.write(row(i));
    csv.write(row(i));
  }
  replace_text_file(path("r.json"), read_text_file(path("r.json")) + "{\"training_iterati");
  cut_results(path("r.json"), path("p.csv"), 3);
  EXPECT_EQ(read_text_file(path("r.json")),
            "{\"training_iteration\":1}\n{\"training_iteration\":2}\n{\"training_iteration\":3}\n");
  EXPECT_EQ(read_text_file(path("p.csv")), "training_iteration\n1\n2\n3\n");
  EXPECT_NO_THROW(cut_results(path("none"), path("none"), 3));
}

TEST_F(Sinks, WhatCannotBeWrittenIsAnErrorWithItsPath) {
  try {
    JsonSink(path("no/such/dir/r.json")).write(row(1));
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::io);
    EXPECT_NE(std::string(error.what()).find("no/such/dir/r.json"), std::string::npos);
  }
  EXPECT_THROW(JsonSink("/dev/full").write(row(1)), Error);
}

TEST(Csv, LinesSplitAsTheyWereJoined) {
  EXPECT_EQ(split_csv_line("a,\"b,\"\"c\"\"\",,d"),
            (std::vector<std::string>{"a", "b,\"c\"", "", "d"}));
  EXPECT_EQ(split_csv_line(""), std::vector<std::string>{""});
}

}  // namespace
}  // namespace knurl
