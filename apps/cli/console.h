#pragma once

#include <condition_variable>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "knurl/apps/cli/run_view.h"
#include "knurl/core/base/clock.h"
#include "knurl/core/tune/trial.h"

namespace knurl::cli {

/// How much a command prints, and as what.
enum class Output { live, lines, json, quiet };

/// Shows in a terminal that a run is under way before it has a result: a line with the time so far,
/// anew each second. A thread writes it until this is destroyed; the line is empty then.
class WaitingLine {
 public:
  WaitingLine();

 private:
  std::mutex mutex_;
  std::condition_variable_any over_;
  std::jthread thread_;  // last: ends before what it waits with
};

/// Shows a trial while it runs: one line that is rewritten in a terminal, a line an iteration
/// elsewhere, results as JSON lines, or nothing.
class Console final : public tune::TrialObserver {
 public:
  Console(Output output, const tune::StopConditions& stop, const MetricNames& names);
  ~Console() override;

  void on_result(const Result& result) override;

  /// Where the time of the iterations shown went: "env 31%, …"; nothing without iterations.
  [[nodiscard]] std::string phases() const { return phases_.text(); }

 private:
  /// A result on one line: iteration, progress, steps, return, time left.
  struct Parts {
    std::string iteration = {};
    std::string bar = {};
    std::string percent = {};
    std::string steps = {};
    std::string rate = {};
    std::string mean = {};    ///< the return
    std::string spread = {};  ///< of the episodes, and what evaluation found
    std::string left = {};
  };
  [[nodiscard]] Parts parts_of(const Result& result);
  void add_progress(const Result& result, Parts& parts);
  [[nodiscard]] static std::string plain_line(const Parts& parts);
  [[nodiscard]] std::vector<LinePart> live_parts(const Parts& parts) const;

  Output output_;
  const tune::StopConditions& stop_;
  const MetricNames& names_;
  double start_ = steady_seconds();
  std::optional<double>
      progress_at_start_;  ///< known after the first result; resumed runs: above 0
  Curve curve_;
  PhaseTimes phases_;
  Glyphs glyphs_ = terminal_glyphs();
  bool line_open_ = false;
  std::optional<WaitingLine> waiting_;  ///< until the first result, in a terminal
};

/// Writes a line to standard output at once. Throws Error(io) where it cannot be written.
void print_line(const std::string& text);
/// The same, for what training goes on without: where it cannot be written, warns once instead.
void tell_line(const std::string& text);

/// Live in a terminal that can be written over, lines elsewhere.
Output output_for(bool quiet, bool json);

/// 83 s -> "1:23", 3723 s -> "1:02:03".
std::string clock_text(double seconds);

/// Three digits of a rate: 16144.2 -> "16,100".
std::string rate_text(double per_second);

}  // namespace knurl::cli
