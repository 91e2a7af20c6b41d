#include "knurl/apps/cli/run_view.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <string_view>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "knurl/core/base/text.h"

namespace knurl::cli {
namespace {

/// A phase, and the timers that it is made of.
struct Phase {
  const char* name;
  std::array<const char*, 2> timers;
};
constexpr std::array kPhaseTimers{
    Phase{"env", {"timers/env_time_ms", nullptr}},
    Phase{"inference", {"timers/inference_time_ms", nullptr}},
    Phase{"learning", {"timers/learn_time_ms", nullptr}},
    Phase{"transport", {"timers/transport_time_ms", "timers/synch_weights_time_ms"}},
};

constexpr std::array kUnicode{"▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
constexpr std::array kAscii{"_", ".", ":", "-", "=", "+", "*", "#"};

/// Columns that a text takes: its characters, each of UTF-8's several bytes being one.
std::size_t width_of(const std::string& text) {
  return static_cast<std::size_t>(std::ranges::count_if(
      text, [](char c) { return (static_cast<unsigned char>(c) & 0xC0U) != 0x80U; }));
}

}  // namespace

std::string fitted(std::vector<LinePart> parts, std::size_t width) {
  while (true) {
    std::string line;
    for (const LinePart& part : parts) line += part.text;
    if (parts.empty() || width_of(line) < width) return line;
    parts.erase(std::ranges::max_element(parts, {}, &LinePart::rank));
  }
}

Glyphs terminal_glyphs() {
  for (const char* name : {"LC_ALL", "LC_CTYPE", "LANG"}) {  // the first that is set decides
    const char* value = std::getenv(name);
    if (!value || *value == '\0') continue;
    const std::string locale = folded(value);
    const bool utf8 = locale.ends_with("utf_8") || locale.ends_with("utf8");
    return utf8 ? Glyphs::unicode : Glyphs::ascii;
  }
  return Glyphs::ascii;
}

void Curve::add(double value) {
  if (!std::isfinite(value)) return;
  if (cells_.empty() || cells_.back().count == values_a_cell_) {
    if (cells_.size() == kMostCells) {  // two become one
      for (std::size_t i = 0; i < kMostCells / 2; ++i) {
        const Cell& left = cells_[2 * i];
        const Cell& right = cells_[2 * i + 1];
        cells_[i] = {.sum = left.sum + right.sum, .count = left.count + right.count};
      }
      cells_.resize(kMostCells / 2);
      values_a_cell_ *= 2;
    }
    cells_.emplace_back();
  }
  cells_.back().sum += value;
  ++cells_.back().count;
}

std::string Curve::text(Glyphs glyphs) const {
  if (cells_.size() < 2) return "";
  std::vector<double> means;
  for (const Cell& cell : cells_) means.push_back(cell.sum / static_cast<double>(cell.count));
  const auto [low, high] = std::ranges::minmax(means);
  const auto& bars = glyphs == Glyphs::unicode ? kUnicode : kAscii;
  std::string out;
  for (const double mean : means) {
    const double share = high > low ? (mean - low) / (high - low) : 0.0;
    out +=
        bars[static_cast<std::size_t>(std::lround(share * static_cast<double>(bars.size() - 1)))];
  }
  return out;
}

void PhaseTimes::add(const Result& result) {
  static_assert(kPhaseTimers.size() == kPhases);
  total_ms_ += result.number("timers/training_iteration_time_ms").value_or(0.0);
  for (std::size_t i = 0; i < kPhases; ++i) {
    for (const char* timer : kPhaseTimers[i].timers) {
      if (timer) ms_[i] += result.number(timer).value_or(0.0);
    }
  }
}

std::string PhaseTimes::text() const {
  if (total_ms_ <= 0.0) return "";
  std::vector<std::string> shares;
  const auto add = [&](const char* name, double ms) {
    const auto percent = std::lround(100.0 * ms / total_ms_);
    if (percent > 0) shares.push_back(fmt::format("{} {}%", name, percent));
  };
  double rest = total_ms_;
  for (std::size_t i = 0; i < kPhases; ++i) {
    add(kPhaseTimers[i].name, ms_[i]);
    rest -= ms_[i];
  }
  add("rest", rest);
  return fmt::format("{}", fmt::join(shares, ", "));
}

}  // namespace knurl::cli
