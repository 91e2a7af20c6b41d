#include "knurl/apps/cli/console.h"

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstdio>
#include <cstring>

#include <fmt/format.h>
#include <unistd.h>

#include "knurl/core/base/error.h"
#include "knurl/core/base/log.h"
#include "knurl/core/base/text.h"

namespace knurl::cli {
namespace {

std::string return_text(const Result& result) {
  const auto mean = result.number("episode_reward_mean");
  if (!mean) return "return: no episode yet";
  return fmt::format("return {:.2f} (min {:.2f}, max {:.2f})", *mean,
                     result.number("episode_reward_min").value_or(*mean),
                     result.number("episode_reward_max").value_or(*mean));
}

/// "[#####-----]  50%"
std::string bar(double progress) {
  constexpr int kCells = 20;
  const int full = static_cast<int>(std::lround(progress * kCells));
  return fmt::format("[{}{}] {:3.0f}%", std::string(static_cast<std::size_t>(full), '#'),
                     std::string(static_cast<std::size_t>(kCells - full), '-'), 100.0 * progress);
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
      tell("\r\033[K" + line_of(result));
      line_open_ = true;
      break;
    case Output::lines:
      tell_line(line_of(result));
      break;
    case Output::json:
      tell_line(result.to_json());
      break;
    case Output::quiet:
      break;
  }
}

std::string Console::line_of(const Result& result) {
  std::string line = fmt::format("iter {:.0f}", result.number("training_iteration").value_or(0.0));
  const auto progress = stop_.progress(result, names_);
  if (progress) line += " " + bar(*progress);
  line += fmt::format(
      " | {} steps, {}/s | {}",
      grouped(static_cast<std::int64_t>(result.number("timesteps_total").value_or(0.0))),
      grouped(
          std::llround(result.number("num_env_steps_sampled_throughput_per_sec").value_or(0.0))),
      return_text(result));
  if (progress) {
    if (!progress_at_start_) {
      const double share = result.number("timesteps_since_restore").value_or(1.0) /
                           std::max(1.0, result.number("timesteps_total").value_or(1.0));
      progress_at_start_ = *progress * (1.0 - share);
    }
    const double made = *progress - *progress_at_start_;
    const double elapsed = steady_seconds() - start_;
    if (made > 0.0) {
      line += fmt::format(" | {} left", clock_text(elapsed / made * (1.0 - *progress)));
    }
  }
  return line;
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
