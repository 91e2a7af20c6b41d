#include "knurl/apps/cli/console.h"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <utility>

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "knurl/core/base/error.h"
#include "knurl/core/base/log.h"
#include "knurl/core/base/text.h"

namespace knurl::cli {
namespace {

constexpr const char* kReturn = "episode_reward_mean";

/// The terminal's width; without end where it has none.
std::size_t columns() {
  winsize size = {};
  if (::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_col == 0) {
    return std::numeric_limits<std::size_t>::max();
  }
  return size.ws_col;
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

/// Writes over the terminal's line. A line that wraps could not be written over.
void tell_over(std::vector<LinePart> parts) {
  tell("\r\033[K" + fitted(std::move(parts), columns()));
}

}  // namespace

WaitingLine::WaitingLine()
    : thread_([this](const std::stop_token& stop) {
        const double start = steady_seconds();
        std::unique_lock lock(mutex_);
        bool shown = false;
        while (true) {
          over_.wait_for(lock, stop, std::chrono::seconds(1), [] { return false; });
          if (stop.stop_requested()) break;
          const std::string time = clock_text(steady_seconds() - start);
          tell_over({{.text = fmt::format("first iteration: {} so far", time)}});
          shown = true;
        }
        if (shown) tell_over({});
      }) {}

void print_line(const std::string& text) {
  if (!write_out(text + "\n")) {
    fail(ErrorKind::io, "standard output cannot be written: {}", std::strerror(errno));
  }
}

void tell_line(const std::string& text) {
  tell(text + "\n");
}

Console::Console(Output output, const tune::StopConditions& stop, const MetricNames& names)
    : output_(output), stop_(stop), names_(names) {
  if (output_ == Output::live) waiting_.emplace();
}

Console::~Console() {
  if (line_open_) tell("\n");
}

void Console::on_result(const Result& result) {
  if (const auto mean = result.number(kReturn)) curve_.add(*mean);
  phases_.add(result);
  waiting_.reset();
  switch (output_) {
    case Output::live:
      tell_over(live_parts(parts_of(result)));
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
  Parts parts{
      .iteration = fmt::format("iter {:.0f}", number("training_iteration")),
      .steps = fmt::format(" | {} steps", grouped(std::llround(number("timesteps_total")))),
      .rate = fmt::format(", {}/s", rate_text(number("num_env_steps_sampled_throughput_per_sec"))),
      .mean = " | return: no episode yet"};
  if (const auto mean = result.number(kReturn)) {
    parts.mean = fmt::format(" | return {}", figures(*mean));
    parts.spread =
        fmt::format(" ({} to {})", figures(result.number("episode_reward_min").value_or(*mean)),
                    figures(result.number("episode_reward_max").value_or(*mean)));
    if (const auto evaluated = result.number("evaluation/episode_reward_mean")) {
      parts.spread += fmt::format(", evaluated {}", figures(*evaluated));
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
          fmt::format(" | {} {} of {:.6g}", condition.metric, figures(*value), condition.bound);
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
  return p.iteration + p.bar + p.percent + p.steps + p.rate + p.mean + p.spread + p.left;
}

/// The same with the curve of returns and where time goes.
std::vector<LinePart> Console::live_parts(const Parts& p) const {
  const std::string curve = curve_.text(glyphs_);
  const std::string phases = phases_.text();
  return {{p.iteration, 0}, {p.bar, 8},
          {p.percent, 3},   {p.steps, 4},
          {p.rate, 5},      {p.mean, 1},
          {p.spread, 7},    {curve.empty() ? "" : " " + curve, 6},
          {p.left, 2},      {phases.empty() ? "" : " | " + phases, 9}};
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

std::string rate_text(double per_second) {
  if (per_second < 1e3) return fmt::format("{:.3g}", per_second);
  const double unit = std::pow(10.0, std::floor(std::log10(per_second)) - 2.0);
  return grouped(std::llround(std::round(per_second / unit) * unit));
}

}  // namespace knurl::cli
