#include "chart.h"

#include <algorithm>
#include <array>
#include <cmath>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "knurl/core/base/check.h"

namespace knurl::learning {
namespace {

constexpr double kWidth = 640;
constexpr double kHeight = 360;
constexpr double kLeft = 70;
constexpr double kRight = 620;
constexpr double kTop = 40;
constexpr double kBottom = 310;
constexpr std::array kColours{"#1f77b4", "#ff7f0e"};

/// A range of numbers on a range of pixels.
struct Axis {
  std::vector<double> marks;
  double from = 0.0;
  double to = 0.0;
  [[nodiscard]] double at(double value) const {
    return from + (value - marks.front()) / (marks.back() - marks.front()) * (to - from);
  }
};

/// "250k", "0.5", "-1600"
std::string label(double value) {
  if (std::abs(value) >= 1e6) return fmt::format("{:.6g}M", value / 1e6);
  if (std::abs(value) >= 1e4) return fmt::format("{:.6g}k", value / 1e3);
  return fmt::format("{:.6g}", std::abs(value) < 1e-9 ? 0.0 : value);
}

std::string escaped(const std::string& text) {
  std::string out;
  for (const char c : text) {
    out += c == '<' ? "&lt;" : c == '&' ? "&amp;" : std::string(1, c);
  }
  return out;
}

std::string text_at(double x, double y, const char* anchor, const std::string& text) {
  return fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"{}\">{}</text>\n", x, y, anchor,
                     escaped(text));
}

std::string line(double x1, double y1, double x2, double y2) {
  return fmt::format(
      "<line x1=\"{:.1f}\" y1=\"{:.1f}\" x2=\"{:.1f}\" y2=\"{:.1f}\" stroke=\"#ddd\"/>\n", x1, y1,
      x2, y2);
}

std::string axes(const Axis& x, const Axis& y, const std::string& value_label) {
  std::string out;
  for (const double mark : y.marks) {
    out += line(kLeft, y.at(mark), kRight, y.at(mark));
    out += text_at(kLeft - 6, y.at(mark) + 4, "end", label(mark));
  }
  for (const double mark : x.marks) {
    out += line(x.at(mark), kBottom, x.at(mark), kBottom + 5);
    out += text_at(x.at(mark), kBottom + 18, "middle", label(mark));
  }
  out += text_at((kLeft + kRight) / 2, kBottom + 38, "middle", "env steps");
  out += fmt::format(
      "<text transform=\"translate(16 {:.1f}) rotate(-90)\" "
      "text-anchor=\"middle\">{}</text>\n",
      (kTop + kBottom) / 2, escaped(value_label));
  return out;
}

std::string point(const Axis& x, const Axis& y, double env_steps, double value) {
  return fmt::format("{:.1f},{:.1f}", x.at(env_steps), y.at(value));
}

/// The band, along its upper edge and back along the lower one, then the line.
std::string drawing(const ChartSeries& series, const char* colour, const Axis& x, const Axis& y) {
  std::vector<std::string> edge;
  std::vector<std::string> middle;
  for (const BandPoint& p : series.points) {
    edge.push_back(point(x, y, p.env_steps, p.interval.high));
    middle.push_back(point(x, y, p.env_steps, p.mean));
  }
  for (auto p = series.points.rbegin(); p != series.points.rend(); ++p) {
    edge.push_back(point(x, y, p->env_steps, p->interval.low));
  }
  return fmt::format(
      "<polygon points=\"{}\" fill=\"{}\" fill-opacity=\"0.2\"/>\n"
      "<polyline points=\"{}\" fill=\"none\" stroke=\"{}\" stroke-width=\"2\"/>\n",
      fmt::join(edge, " "), colour, fmt::join(middle, " "), colour);
}

}  // namespace

std::vector<double> ticks(double low, double high) {
  const double range = high > low ? high - low : 1.0;
  const double power = std::pow(10.0, std::floor(std::log10(range / 4.0)));
  double step = power;
  for (const double factor : {2.0, 5.0, 10.0}) {
    if (range / (power * factor) >= 4.0) step = power * factor;
  }
  std::vector<double> out;
  for (double i = std::floor(low / step); i <= std::ceil(high / step) || out.size() < 2; ++i) {
    out.push_back(i * step);
  }
  return out;
}

std::string chart_svg(const std::string& title, const std::string& value_label,
                      std::span<const ChartSeries> series) {
  check(series.size() <= kColours.size(), "there is a colour for each series");
  std::vector<double> steps{0.0};
  std::vector<double> values;
  for (const ChartSeries& each : series) {
    for (const BandPoint& p : each.points) {
      steps.push_back(p.env_steps);
      values.insert(values.end(), {p.interval.low, p.interval.high});
    }
  }
  check(!values.empty(), "a chart shows something");
  const auto [least, most] = std::ranges::minmax(values);
  const Axis x{.marks = ticks(0.0, std::ranges::max(steps)), .from = kLeft, .to = kRight};
  const Axis y{.marks = ticks(least, most), .from = kBottom, .to = kTop};

  std::string out = fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {0} {1}\" width=\"{0}\" "
      "height=\"{1}\" font-family=\"sans-serif\" font-size=\"12\">\n"
      "<rect width=\"{0}\" height=\"{1}\" fill=\"white\"/>\n",
      kWidth, kHeight);
  out += text_at(kLeft, 22, "start", title);
  out += axes(x, y, value_label);
  double right = kRight;
  for (std::size_t i = 0; i < series.size(); ++i) {
    out += drawing(series[i], kColours[i], x, y);
    out += fmt::format("<g fill=\"{}\">{}</g>\n", kColours[i],
                       text_at(right, 22, "end", series[i].name));
    right -= 8.0 * static_cast<double>(series[i].name.size()) + 16.0;
  }
  return out + "</svg>\n";
}

}  // namespace knurl::learning
