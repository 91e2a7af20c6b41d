#include "knurl/apps/cli/console.h"

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstdio>
#include <cstring>

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "knurl/core/base/error.h"
#include "knurl/core/base/log.h"
#include "knurl/core/base/text.h"

namespace knurl::cli {
namespace {

/// The terminal's width; nothing where there is none.
std::optional<std::size_t> columns() {
  winsize size = {};
  if (::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_col == 0) return std::nullopt;
  return size.ws_col;
}

/// What fits on one line of the terminal, because a line that wraps cannot be written over: with
/// the bar, or without it, or as much of the beginning as there is room for.
std::string fitted(const LiveLine& line) {
  const auto width = columns();
  if (!width || line.wide.size() < *width) return line.wide;
  return line.narrow.substr(0, *width - 1);
}

std::string return_text(const Result& result) {
  const auto mean = result.number("episode_reward_mean");
  if (!mean) return "return: no episode yet";
  std::string text = fmt::format("return {:.2f} ({:.6g} to {:.6g})", *mean,
                                 result.number("episode_reward_min").value_or(*mean),
                                 result.number("episode_reward_max").value_or(*mean));
  if (const auto evaluated = result.number("evaluation/episode_reward_mean")) {
    text += fmt::format(", evaluated {:.2f}", *evaluated);
  }
  return text;
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
  switch (output_) {
    case Output::live:
      tell("\r\033[K" + fitted(line_of(result)));
      line_open_ = true;
      break;
    case Output::lines:
      tell_line(line_of(result).wide);
      break;
    case Output::json:
      tell_line(result.to_json());
      break;
    case Output::quiet:
      break;
  }
}

LiveLine Console::line_of(const Result& result) {
  const auto number = [&](const char* name) { return result.number(name).value_or(0.0); };
  const std::string iteration = fmt::format("iter {:.0f}", number("training_iteration"));
  std::string rest =
      fmt::format(" | {} steps, {}/s | {}", grouped(std::llround(number("timesteps_total"))),
                  grouped(std::llround(number("num_env_steps_sampled_throughput_per_sec"))),
                  return_text(result));
  const auto progress = stop_.progress(result, names_);
  if (!progress) return {.wide = iteration + rest, .narrow = iteration + rest};
  if (!progress_at_start_) {
    const double share =
        number("timesteps_since_restore") / std::max(1.0, number("timesteps_total"));
    progress_at_start_ = *progress * (1.0 - share);
  }
  const double made = *progress - *progress_at_start_;
  const double elapsed = steady_seconds() - start_;
  if (made > 0.0) {
    rest += fmt::format(" | {} left", clock_text(elapsed / made * (1.0 - *progress)));
  }
  const std::string percent = fmt::format("{:3.0f}%", 100.0 * *progress);
  return {.wide = fmt::format("{} [{}] {}{}", iteration, bar(*progress), percent, rest),
          .narrow = fmt::format("{} {}{}", iteration, percent, rest)};
}

Output output_for(bool quiet, bool json) {
  if (quiet) return Output::quiet;
  if (json) return Output::json;
  return ::isatty(STDOUT_FILENO) ? Output::live : Output::lines;
}

std::string clock_text(double seconds) {
  const auto total = static_cast<std::int64_t>(std::llround(seconds));
  if (total >= 3600) {
    return fmt::format("{}:{:02}:{:02}", total / 3600, total / 60 % 60, total % 60);
  }
  return fmt::format("{}:{:02}", total / 60, total % 60);
}

}  // namespace knurl::cli
