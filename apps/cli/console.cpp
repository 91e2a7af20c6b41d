#include "knurl/apps/cli/console.h"

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "knurl/core/base/error.h"
#include "knurl/core/base/log.h"
#include "knurl/core/base/text.h"

namespace knurl::cli {
namespace {

constexpr const char* kReturn = "episode_reward_mean";

/// The terminal's width; nothing where there is none.
std::optional<std::size_t> columns() {
  winsize size = {};
  if (::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_col == 0) return std::nullopt;
  return size.ws_col;
}

/// Columns that a text takes: its characters, each of UTF-8's several bytes being one.
std::size_t width_of(const std::string& text) {
  return static_cast<std::size_t>(std::ranges::count_if(
      text, [](char c) { return (static_cast<unsigned char>(c) & 0xC0U) != 0x80U; }));
}

/// What fits on one line of the terminal, because a line that wraps cannot be written over: the
/// first that does, or as much of the last as there is room for.
std::string fitted(const std::vector<std::string>& lines) {
  const auto width = columns();
  for (const std::string& line : lines) {
    if (!width || width_of(line) < *width) return line;
  }
  return lines.back().substr(0, *width - 1);
}

/// 0.5 -> "##########----------"
std::string bar(double progress) {
  constexpr std::size_t kCells = 20;
  const auto full = static_cast<std::size_t>(std::lround(progress * kCells));
  return std::string(full, '#') + std::string(kCells - full, '-');
}

bool write_out(const std::string& text) {
  return std::fwrite(text.data(), 1, text.size(), stdout) == text.size() &&
         std::fflush(stdout) == 0;
}

/// For output that training goes on without.
void tell(const std::string& text) {
  if (!write_out(text)) {
    warn_once("standard output cannot be written; training goes on, results are in its directory");
  }
}

}  // namespace

void print_line(const std::string& text) {
  if (!write_out(text + "\n")) {
    fail(ErrorKind::io, "standard output cannot be written: {}", std::strerror(errno));
  }
}

void tell_line(const std::string& text) {
  tell(text + "\n");
}

Console::~Console() {
  if (line_open_) tell("\n");
}

void Console::on_result(const Result& result) {
  if (const auto mean = result.number(kReturn)) curve_.add(*mean);
  phases_.add(result);
  switch (output_) {
    case Output::live:
      tell("\r\033[K" + fitted(live_lines(parts_of(result))));
      line_open_ = true;
      break;
    case Output::lines:
      tell_line(plain_line(parts_of(result)));
      break;
    case Output::json:
      tell_line(result.to_json());
      break;
    case Output::quiet:
      break;
  }
}

Console::Parts Console::parts_of(const Result& result) {
  const auto number = [&](const char* name) { return result.number(name).value_or(0.0); };
  Parts parts{.iteration = fmt::format("iter {:.0f}", number("training_iteration")),
              .steps = fmt::format(
                  " | {} steps, {}/s", grouped(std::llround(number("timesteps_total"))),
                  grouped(std::llround(number("num_env_steps_sampled_throughput_per_sec")))),
              .mean = " | return: no episode yet"};
  if (const auto mean = result.number(kReturn)) {
    parts.mean = fmt::format(" | return {:.2f}", *mean);
    parts.spread =
        fmt::format(" ({:.6g} to {:.6g})", result.number("episode_reward_min").value_or(*mean),
                    result.number("episode_reward_max").value_or(*mean));
    if (const auto evaluated = result.number("evaluation/episode_reward_mean")) {
      parts.spread += fmt::format(", evaluated {:.2f}", *evaluated);
    }
  }
  for (const auto& condition : stop_.conditions()) {
    const MetricInfo* metric = names_.find(condition.metric);
    if (!metric || metric->kind == MetricKind::counter) continue;  // the bar shows counters
    const auto value = result.number(metric->name);
    if (!value) continue;
    if (metric->name == kReturn) {
      parts.mean += fmt::format(" of {:.6g}", condition.bound);
    } else {
      parts.spread +=
          fmt::format(" | {} {:.6g} of {:.6g}", condition.metric, *value, condition.bound);
    }
  }
  add_progress(result, parts);
  return parts;
}

void Console::add_progress(const Result& result, Parts& parts) {
  const auto progress = stop_.progress(result, names_);
  if (!progress) return;
  if (!progress_at_start_) {
    const double share = result.number("timesteps_since_restore").value_or(0.0) /
                         std::max(1.0, result.number("timesteps_total").value_or(0.0));
    progress_at_start_ = *progress * (1.0 - share);
  }
  parts.bar = fmt::format(" [{}]", bar(*progress));
  parts.percent = fmt::format(" {:3.0f}%", 100.0 * *progress);
  const double made = *progress - *progress_at_start_;
  const double elapsed = steady_seconds() - start_;
  if (made > 0.0) {
    parts.left = fmt::format(" | {} left", clock_text(elapsed / made * (1.0 - *progress)));
  }
}

std::string Console::plain_line(const Parts& p) {
  return p.iteration + p.bar + p.percent + p.steps + p.mean + p.spread + p.left;
}

/// The same with the curve of returns and where time goes; then without what matters less and less.
std::vector<std::string> Console::live_lines(const Parts& p) const {
  const std::string drawn = curve_.text(glyphs_);
  const std::string curve = drawn.empty() ? "" : " " + drawn;
  const std::string head = p.iteration + p.percent + p.steps + p.mean;
  const std::string all = p.iteration + p.bar + p.percent + p.steps + p.mean + p.spread + curve;
  return {all + p.left + " | " + phases_.text(), all + p.left, head + p.spread + curve + p.left,
          head + curve + p.left, head + p.left};
}

Output output_for(bool quiet, bool json) {
  if (quiet) return Output::quiet;
  if (json) return Output::json;
  const char* terminal = std::getenv("TERM");
  const bool dumb = !terminal || std::strcmp(terminal, "dumb") == 0;
  return ::isatty(STDOUT_FILENO) && !dumb ? Output::live : Output::lines;
}

std::string clock_text(double seconds) {
  const auto total = static_cast<std::int64_t>(std::llround(seconds));
  if (total >= 3600) {
    return fmt::format("{}:{:02}:{:02}", total / 3600, total / 60 % 60, total % 60);
  }
  return fmt::format("{}:{:02}", total / 60, total % 60);
}

}  // namespace knurl::cli
