#pragma once

#include <string>

#include "knurl/core/base/clock.h"
#include "knurl/core/tune/trial.h"

namespace knurl::cli {

/// How much a command prints, and as what.
enum class Output { live, lines, json, quiet };

/// Shows a trial while it runs: one line that is rewritten in a terminal, a line an iteration
/// elsewhere, results as JSON lines, or nothing.
class Console final : public tune::TrialObserver {
 public:
  Console(Output output, const tune::StopConditions& stop, const MetricNames& names)
      : output_(output), stop_(stop), names_(names), start_(clock_.now()) {}
  ~Console() override;

  void on_result(const Result& result) override;

 private:
  [[nodiscard]] std::string line_of(const Result& result);

  Output output_;
  const tune::StopConditions& stop_;
  const MetricNames& names_;
  SteadyClock clock_;
  Clock::Duration start_;
  double first_progress_ = -1.0;  ///< before the first iteration; resumed runs begin above 0
  bool line_open_ = false;
};

/// Live in a terminal, lines elsewhere.
Output output_for(bool quiet, bool json);

/// 83_s -> "1:23", 3_723_s -> "1:02:03".
std::string clock_text(double seconds);
/// 12345 -> "12,345".
std::string grouped(std::int64_t number);
/// A path as a shell takes it.
std::string shell_quoted(const std::string& path);

}  // namespace knurl::cli
