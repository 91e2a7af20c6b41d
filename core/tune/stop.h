#pragma once

#include <optional>
#include <string>
#include <vector>

#include "knurl/core/config/value.h"
#include "knurl/core/metrics/result.h"

namespace knurl::tune {

/// When a run is over: as soon as one of its metrics reaches its bound.
class StopConditions {
 public:
  struct Condition {
    std::string metric = {};  ///< as it was written
    double bound = 0.0;
    Place place = {};
  };

  StopConditions() = default;
  /// From a map of metrics and numbers; nested maps are paths ("sampler_results: {…}"). Throws
  /// Error(config) for anything else.
  static StopConditions from(const ConfigValue& map, const std::string& path);

  /// The condition that a result meets, as "timesteps_total 10000 >= 10000"; nothing where none is.
  [[nodiscard]] std::optional<std::string> met_by(const Result& result,
                                                  const MetricNames& known) const;

  /// How far a result is on the way to the condition that grows steadily and is nearest, in [0, 1].
  [[nodiscard]] std::optional<double> progress(const Result& result,
                                               const MetricNames& known) const;

  /// Adds conditions; those on a metric that has one, by whatever name, replace it.
  void update(const StopConditions& other, const MetricNames& known);

  [[nodiscard]] const std::vector<Condition>& conditions() const { return conditions_; }
  [[nodiscard]] bool empty() const { return conditions_.empty(); }
  [[nodiscard]] ConfigValue to_value() const;

 private:
  std::vector<Condition> conditions_;
};

}  // namespace knurl::tune
