#include "chart.h"

#include <gtest/gtest.h>

namespace knurl::learning {
namespace {

TEST(Ticks, AreRoundNumbersAroundTheRange) {
  EXPECT_EQ(ticks(0, 100), (std::vector<double>{0, 20, 40, 60, 80, 100}));
  EXPECT_EQ(ticks(-1510, -150),
            (std::vector<double>{-1600, -1400, -1200, -1000, -800, -600, -400, -200, 0}));
  EXPECT_EQ(ticks(0.5, 4.5), (std::vector<double>{0, 1, 2, 3, 4, 5}));
}

TEST(Ticks, AnEmptyRangeHasTwo) {
  const std::vector<double> marks = ticks(500, 500);
  ASSERT_EQ(marks.size(), 2U);
  EXPECT_EQ(marks[0], 500.0);
  EXPECT_GT(marks[1], 500.0);
}

TEST(ChartSvg, PutsPointsWhereTheAxesSay) {
  // env steps 0 to 100 are pixels 70 to 620, values 0 to 10 pixels 310 to 40
  const std::vector<ChartSeries> series{{"knurl",
                                         {{.env_steps = 0, .mean = 0, .interval = {0, 0}},
                                          {.env_steps = 100, .mean = 5, .interval = {2, 10}}}}};
  const std::string svg = chart_svg("PPO on A", "return", series);
  EXPECT_NE(svg.find("<polyline points=\"70.0,310.0 620.0,175.0\""), std::string::npos) << svg;
  EXPECT_NE(svg.find("<polygon points=\"70.0,310.0 620.0,40.0 620.0,256.0 70.0,310.0\""),
            std::string::npos)
      << svg;
  EXPECT_TRUE(svg.starts_with("<svg ")) << svg;
  EXPECT_TRUE(svg.ends_with("</svg>\n")) << svg;
}

TEST(ChartSvg, NamesAreEscapedAndASecondSeriesHasItsOwnColour) {
  const std::vector<BandPoint> points{{.env_steps = 1, .mean = 1, .interval = {1, 2}}};
  const std::vector<ChartSeries> series{{"a", points}, {"b", points}};
  const std::string svg = chart_svg("x < y & z", "v", series);
  EXPECT_NE(svg.find("x &lt; y &amp; z"), std::string::npos);
  EXPECT_NE(svg.find("<g fill=\"#1f77b4\"><text x=\"620.0\" y=\"22.0\" text-anchor=\"end\">a<"),
            std::string::npos)
      << svg;
  EXPECT_NE(svg.find("<g fill=\"#ff7f0e\">"), std::string::npos);
}

}  // namespace
}  // namespace knurl::learning
