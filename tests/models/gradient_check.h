#pragma once

#include <algorithm>
#include <cmath>
#include <functional>
#include <span>
#include <vector>

#include <gtest/gtest.h>

/// Gradients against finite differences, near enough to tell apart what differs by a thousandth.
namespace knurl::testing {

/// The derivative of f by x, from five points: the error is of order step^4. Leaves x as it was.
template <class T>
double slope_of(T& x, double step, const std::function<double()>& f) {
  const T before = x;
  const auto at = [&](double offset) {
    x = static_cast<T>(before + offset);
    const double value = f();
    x = before;
    return value;
  };
  return (8.0 * (at(step) - at(-step)) - (at(2.0 * step) - at(-2.0 * step))) / (12.0 * step);
}

/// Which of some numbers are checked, and by which steps.
struct Differences {
  double step = 1.0 / 16;  ///< 1/16 for functions in float, 1e-3 for those in double
  std::size_t stride = 1;  ///< every so many numbers are moved
};

/// The largest distance between a gradient and the differences of f, over the largest slope there
/// is. Numbers at which steps of two sizes disagree lie at a kink of f and do not count; more than
/// a tenth of them is a failure.
template <class T>
double gradient_error(std::span<T> x, std::span<const float> gradient,
                      const std::function<double()>& f, const Differences& differences = {}) {
  std::vector<double> wide;
  std::vector<double> narrow;
  for (std::size_t i = 0; i < x.size(); i += differences.stride) {
    wide.push_back(slope_of(x[i], differences.step, f));
    narrow.push_back(slope_of(x[i], 0.5 * differences.step, f));
  }
  double largest = 0.0;
  for (const double slope : narrow) largest = std::max(largest, std::abs(slope));
  double error = 0.0;
  std::size_t kinks = 0;
  for (std::size_t k = 0; k < narrow.size(); ++k) {
    if (std::abs(wide[k] - narrow[k]) > 1e-4 * largest) {
      ++kinks;
    } else {
      error = std::max(error, std::abs(gradient[k * differences.stride] - narrow[k]));
    }
  }
  EXPECT_LE(10 * kinks, narrow.size()) << "numbers where the function is not smooth";
  EXPECT_GT(largest, 0.0) << "nothing moves the function";
  return error / largest;
}

/// What gradient_error() may be: a relative error of a thousandth of the largest slope is more.
inline constexpr double kGradientError = 3e-4;

}  // namespace knurl::testing
