#include "knurl/algorithms/determinism.h"

#include <algorithm>
#include <array>

#include "knurl/core/base/error.h"

namespace knurl {

void check_deterministic(const CommonOptions& options) {
  if (!options.debugging.deterministic) return;
  const EvaluationOptions& evaluation = options.evaluation;
  if (evaluation.evaluation_duration->is_auto() &&
      evaluation.evaluation_interval->value_or(0) > 0) {
    fail(ErrorKind::config,
         "evaluation.evaluation_duration = auto: how many episodes it is depends on time; give a "
         "number of them to a deterministic run");
  }
  if (const double seconds = options.reporting.min_time_s_per_iteration->value_or(0.0);
      seconds > 0.0) {
    fail(ErrorKind::config,
         "reporting.min_time_s_per_iteration = {}: where an iteration ends depends on time; give "
         "min_sample_timesteps_per_iteration to a deterministic run instead",
         seconds);
  }
  if (const int threads = options.resources.num_cpus_for_local_worker; threads > 1) {
    fail(ErrorKind::config,
         "resources.num_cpus_for_local_worker = {}: how threads share out sums decides their last "
         "bits; a deterministic run needs 1",
         threads);
  }
}

bool is_timed(std::string_view metric) {
  constexpr std::array<std::string_view, 4> kBeginnings{"time_", "timers/", "sampler_perf/",
                                                        "perf/"};
  return std::ranges::any_of(kBeginnings, [&](auto with) { return metric.starts_with(with); }) ||
         metric.find("throughput") != std::string_view::npos;
}

}  // namespace knurl
