#include "knurl/apps/cli/run_view.h"

#include <cmath>
#include <cstdlib>

#include <gtest/gtest.h>

#include "knurl/apps/cli/console.h"
#include "knurl/apps/cli/paths.h"
#include "knurl/core/base/text.h"

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

TEST(PhaseTimes, ThatRoundToNothingAreLeftOut) {
  Result result;
  result.set("timers/training_iteration_time_ms", 1000.0);
  result.set("timers/env_time_ms", 996.0);
  result.set("timers/learn_time_ms", 4.0);
  PhaseTimes times;
  times.add(result);
  EXPECT_EQ(times.text(), "env 100%");
}

TEST(Fitted, LeavesOutWholePartsWhereThereIsNoRoom) {
  const std::vector<LinePart> parts{{"iter 5", 0}, {" ██", 2}, {" | 0:01 left", 1}};
  EXPECT_EQ(fitted(parts, 22), "iter 5 ██ | 0:01 left");
  EXPECT_EQ(fitted(parts, 21), "iter 5 | 0:01 left") << "a line has fewer columns than there are";
  EXPECT_EQ(fitted(parts, 18), "iter 5");
  EXPECT_EQ(fitted(parts, 6), "");
}

TEST(Numbers, HaveTheDigitsThatMeanSomething) {
  EXPECT_EQ(figures(-0.584423), "-0.5844");
  EXPECT_EQ(figures(88.3333), "88.33");
  EXPECT_EQ(figures(500.0), "500");
  EXPECT_EQ(figures(12345.67), "12346");
  EXPECT_EQ(rate_text(16144.2), "16,100");
  EXPECT_EQ(rate_text(999.96), "1e+03");
  EXPECT_EQ(rate_text(12.345), "12.3");
}

TEST(SafeName, IsADirectoryThatIsSeen) {
  EXPECT_EQ(safe_name("../../evil"), "_._.._evil");
  EXPECT_EQ(safe_name(".."), "_.");
  EXPECT_EQ(safe_name(""), "experiment");
  EXPECT_EQ(safe_name(std::string(300, 'x')), std::string(120, 'x'));
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
