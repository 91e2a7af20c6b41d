#include "knurl/apps/cli/run_view.h"

#include <cmath>
#include <cstdlib>

#include <gtest/gtest.h>

namespace knurl::cli {
namespace {

Curve curve_of(const std::vector<double>& values) {
  Curve out;
  for (const double value : values) out.add(value);
  return out;
}

TEST(Curve, IsDrawnFromItsLeastToItsLargestValue) {
  const Curve rising = curve_of({-3, -2, -1, 0, 1, 2, 3, 4});
  EXPECT_EQ(rising.text(Glyphs::unicode), "▁▂▃▄▅▆▇█");
  EXPECT_EQ(rising.text(Glyphs::ascii), "_.:-=+*#");
  EXPECT_EQ(curve_of({0, 100, 49, 51}).text(Glyphs::ascii), "_#-=");
}

TEST(Curve, NeedsTwoValuesAndKeepsLevelWhereNothingChanges) {
  EXPECT_EQ(curve_of({}).text(Glyphs::ascii), "");
  EXPECT_EQ(curve_of({5}).text(Glyphs::ascii), "");
  EXPECT_EQ(curve_of({5, 5, 5}).text(Glyphs::ascii), "___");
}

TEST(Curve, LeavesOutWhatIsNoNumber) {
  EXPECT_EQ(curve_of({0, std::nan(""), 1, INFINITY}).text(Glyphs::ascii), "_#");
}

TEST(Curve, JoinsValuesWhenItsCellsAreFull) {
  std::vector<double> values(Curve::kMostCells, 0.0);
  values[2] = 6;
  values[3] = 8;  // the second pair: 7
  values.push_back(1);
  EXPECT_EQ(curve_of(values).text(Glyphs::ascii), "_#______.");
  for (std::size_t n = 2; n < 1000; ++n) {
    EXPECT_LE(curve_of(std::vector<double>(n, 1.0)).text(Glyphs::ascii).size(), Curve::kMostCells);
  }
}

TEST(PhaseTimes, AreSharesOfAllIterations) {
  Result first;
  first.set("timers/training_iteration_time_ms", 100.0);
  first.set("timers/env_time_ms", 10.0);
  first.set("timers/inference_time_ms", 20.0);
  first.set("timers/learn_time_ms", 60.0);
  first.set("timers/transport_time_ms", 3.0);
  first.set("timers/synch_weights_time_ms", 1.0);
  Result second;
  second.set("timers/training_iteration_time_ms", 100.0);
  second.set("timers/env_time_ms", 90.0);
  PhaseTimes times;
  EXPECT_EQ(times.text(), "");
  times.add(first);
  times.add(second);
  EXPECT_EQ(times.text(), "env 50%, inference 10%, learning 30%, transport 2%, rest 8%");
}

TEST(TerminalGlyphs, AreThoseOfTheFirstLocaleThatIsSet) {
  const auto with = [](const char* all, const char* type, const char* lang) {
    ::setenv("LC_ALL", all, 1);
    ::setenv("LC_CTYPE", type, 1);
    ::setenv("LANG", lang, 1);
    return terminal_glyphs();
  };
  EXPECT_EQ(with("", "", "de_DE.UTF-8"), Glyphs::unicode);
  EXPECT_EQ(with("C", "", "de_DE.UTF-8"), Glyphs::ascii);
  EXPECT_EQ(with("", "C.utf8", "C"), Glyphs::unicode);
  EXPECT_EQ(with("", "", ""), Glyphs::ascii);
}

}  // namespace
}  // namespace knurl::cli
