#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "knurl/core/config/fields.h"

namespace knurl {

/// A number that may change over env steps: on lines between points of step and value, constant
/// before the first and after the last (RLlib's PiecewiseSchedule). Files write a number, or
/// [[step, value], ...] with ascending steps.
class Schedule {
 public:
  using Point = std::array<double, 2>;

  Schedule(double value = 0.0)
      : points_{{0.0, value}} {}  // NOLINT(*-explicit-*): reads as a number
  explicit Schedule(std::vector<Point> points) : points_(std::move(points)) {}

  [[nodiscard]] double at(std::int64_t step) const;
  [[nodiscard]] bool constant() const { return points_.size() == 1; }
  [[nodiscard]] const std::vector<Point>& points() const { return points_; }

  bool operator==(const Schedule&) const = default;

 private:
  std::vector<Point> points_;
};

inline double Schedule::at(std::int64_t step) const {
  const auto t = static_cast<double>(step);
  if (t <= points_.front()[0]) return points_.front()[1];
  for (std::size_t i = 1; i < points_.size(); ++i) {
    const auto& [from, low] = points_[i - 1];
    const auto& [to, high] = points_[i];
    if (t < to) return low + (t - from) / (to - from) * (high - low);
  }
  return points_.back()[1];
}

/// Schedules as options: the range bounds the values.
template <>
struct ValueType<Schedule> {
  static std::string text() { return "number or [[step, value], ...]"; }
  static Schedule read(const ConfigValue& value, const std::string& path, const Range& range) {
    if (!value.list()) return ValueType<double>::read(value, path, range);
    using Points = std::vector<Schedule::Point>;
    const Schedule schedule(ValueType<Points>::read(value, path, Range{}));
    check(schedule, value.place().prefix() + path, range);
    return schedule;
  }
  static ConfigValue write(const Schedule& value) {
    if (value.constant()) return ConfigValue::of(value.points().front()[1]);
    return ValueType<std::vector<Schedule::Point>>::write(value.points());
  }
  static void check(const Schedule& value, const std::string& path, const Range& range) {
    if (value.points().empty()) fail(ErrorKind::config, "{}: a schedule has points", path);
    for (std::size_t i = 0; i < value.points().size(); ++i) {
      const auto& [step, number] = value.points()[i];
      if (i > 0 && step <= value.points()[i - 1][0]) {
        fail(ErrorKind::config, "{}: step {} does not come after {}", path, step,
             value.points()[i - 1][0]);
      }
      ValueType<double>::check(number, path, range);
    }
  }
};

}  // namespace knurl
