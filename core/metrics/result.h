#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "knurl/core/base/bytes.h"

namespace knurl {

/// What a metric can be used for.
enum class MetricKind {
  measure,  ///< goes up and down
  counter,  ///< only grows: says how far a run has come
  list,     ///< numbers of several episodes: has no bound and makes no score
};

/// A metric as results, stop conditions and the glossary know it.
struct MetricInfo {
  std::string name = {};                  ///< "episode_reward_mean"; a path with "/" where nested
  std::vector<std::string> aliases = {};  ///< its other names
  std::string sentence = {};
  MetricKind kind = MetricKind::measure;
};

/// The other names of metrics: which one is meant.
class MetricNames {
 public:
  MetricNames() = default;
  /// `score` is the metric by which a state is good, high values best.
  explicit MetricNames(std::vector<MetricInfo> metrics, std::string score = {})
      : metrics_(std::move(metrics)), score_(std::move(score)) {}

  [[nodiscard]] const std::vector<MetricInfo>& metrics() const { return metrics_; }
  [[nodiscard]] const std::string& score() const { return score_; }
  /// The metric of this name or alias, or null.
  [[nodiscard]] const MetricInfo* find(std::string_view name) const;
  /// The name under which results hold it; the word itself where it is unknown.
  [[nodiscard]] std::string canonical(std::string_view name) const;
  /// What is wrong with a name from which one number is wanted: unknown, with the nearest known
  /// ones, or a list. Nothing where all is well.
  [[nodiscard]] std::optional<std::string> problem_with(std::string_view name) const;

 private:
  std::vector<MetricInfo> metrics_;
  std::string score_;
};

/// What an iteration has to report: named values in order, the names paths such as
/// "info/learner/default_policy/learner_stats/kl". A value that does not exist yet (a mean over
/// episodes before one has ended) is there as "nothing", never as NaN.
class Result {
 public:
  struct Nothing {
    std::string why = "nothing";  ///< "no episode yet": for people
    bool operator==(const Nothing&) const = default;
  };
  using Value = std::variant<Nothing, bool, std::int64_t, double, std::string, std::vector<double>>;
  struct Entry {
    std::string name;
    Value value;
    bool operator==(const Entry&) const = default;
  };

  /// Sets or replaces a value. A double that is NaN becomes Nothing.
  void set(std::string_view name, Value value);
  template <class T>
  requires std::is_arithmetic_v<T>
  void set(std::string_view name, T value) {
    using Kept =
        std::conditional_t<std::is_same_v<T, bool>, bool,
                           std::conditional_t<std::is_integral_v<T>, std::int64_t, double>>;
    set(name, Value(static_cast<Kept>(value)));
  }
  void set(std::string_view name, const char* text) { set(name, Value(std::string(text))); }
  /// Takes over every entry of `other`, its names below `prefix` ("evaluation/").
  void merge(const Result& other, std::string_view prefix = "");

  /// Null where there is no such name.
  [[nodiscard]] const Value* find(std::string_view name) const;
  /// The value as a number (a bool is 0 or 1); nothing where it is none, missing, or not there yet.
  [[nodiscard]] std::optional<double> number(std::string_view name) const;
  [[nodiscard]] static std::optional<double> number_of(const Value& value);
  [[nodiscard]] const std::vector<Entry>& entries() const { return entries_; }

  /// One line of JSON, nested along the paths; Nothing and infinities are null.
  [[nodiscard]] std::string to_json() const;

  bool operator==(const Result&) const = default;

 private:
  std::vector<Entry> entries_;
};

/// The numbers of a line that to_json wrote; nothing where it is none, or was cut off.
std::optional<Result> numbers_of_json(std::string_view line);

/// A result as YAML for people, nested, lists left out, Nothing as its reason.
std::string pretty_print(const Result& result);

}  // namespace knurl
