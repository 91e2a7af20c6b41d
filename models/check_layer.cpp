#include "knurl/models/check_layer.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <optional>

#include <fmt/format.h>

#include "knurl/core/data/finite.h"

namespace knurl {
namespace {

constexpr std::int64_t kRows = 7;
constexpr float kUntouched = 12345.0F;

/// Rows with a gap between them.
class Table {
 public:
  Table(std::int64_t rows, int size, int gap, float fill)
      : rows_(rows), size_(size), stride_(size + gap), numbers_(rows * stride_, fill) {}

  [[nodiscard]] FloatRows<float> view() { return {numbers_.data(), rows_, stride_, size_}; }
  /// Whether what lies between the rows still is what it was filled with.
  [[nodiscard]] bool gaps_hold(float fill) const {
    for (std::int64_t row = 0; row < rows_; ++row) {
      for (std::int64_t i = size_; i < stride_; ++i) {
        if (numbers_[static_cast<std::size_t>(row * stride_ + i)] != fill) return false;
      }
    }
    return true;
  }

 private:
  std::int64_t rows_;
  int size_;
  std::int64_t stride_;
  std::vector<float> numbers_;
};

void draw(std::span<float> numbers, Rng& rng, double scale) {
  for (float& x : numbers) x += static_cast<float>(scale * rng.normal());
}

/// What a check works on.
class LayerCheck {
 public:
  LayerCheck(const CustomLayer& layer, std::uint64_t seed)
      : layer_(layer),
        rng_(seed),
        batch_(custom_tensors(layer, ""), 1),
        gradients_(batch_.columns(), 1),
        x_(kRows, layer.inputs(), 2, kUntouched) {
    layer.initialise(tensors_in<float>(batch_, layer, ""), rng_);
    for (std::int64_t row = 0; row < kRows; ++row) {
      std::ranges::fill(x_.view().row(row), 0.0F);
      draw(x_.view().row(row), rng_, 1.0);
    }
  }

  std::vector<std::string> run() {
    check_fresh();
    if (problems_.empty()) check_writing();
    if (problems_.empty()) check_rows();
    if (problems_.empty()) check_gradients();
    return std::move(problems_);
  }

 private:
  void forward(FloatRows<const float> x, FloatRows<float> y) const {
    layer_.forward(tensors_in<const float>(batch_, layer_, ""), x, y);
  }

  void check_fresh() {
    for (const ColumnSpec& column : batch_.columns()) {
      if (all_finite(batch_.column<float>(column.name).span())) continue;
      problems_.push_back(fmt::format("tensor {} of a fresh model is not finite", column.name));
    }
  }

  void check_writing() {
    Table y(kRows, layer_.outputs(), 3, std::numeric_limits<float>::quiet_NaN());
    forward(x_.view(), y.view());
    for (int i = 0; i < layer_.outputs(); ++i) {
      if (std::isfinite(y.view().row(0)[static_cast<std::size_t>(i)])) continue;
      problems_.push_back(fmt::format("output {} is not written, or not finite", i));
    }
    Table other(kRows, layer_.outputs(), 3, kUntouched);
    forward(x_.view(), other.view());
    if (!other.gaps_hold(kUntouched) || !x_.gaps_hold(kUntouched)) {
      problems_.emplace_back("forward writes outside of the rows of y");
    }
  }

  void check_rows() {
    Table all(kRows, layer_.outputs(), 0, 0.0F);
    forward(x_.view(), all.view());
    for (std::int64_t first = 0; first < kRows; ++first) {
      for (std::int64_t count = 1; first + count <= kRows; ++count) {
        Table some(count, layer_.outputs(), 1, 0.0F);
        FloatRows<const float> x = x_.view();
        x.data += first * x.stride;
        x.rows = count;
        forward(x, some.view());
        for (std::int64_t row = 0; row < count; ++row) {
          const auto alone = some.view().row(row);
          if (std::memcmp(alone.data(), all.view().row(first + row).data(), alone.size_bytes()) ==
              0) {
            continue;
          }
          problems_.push_back(fmt::format(
              "row {} has other bits among {} rows than among {}: a row must not depend on others",
              first + row, count, kRows));
          return;
        }
      }
    }
  }

  /// A loss that is linear in y.
  double loss() {
    Table y(kRows, layer_.outputs(), 0, 0.0F);
    forward(x_.view(), y.view());
    double sum = 0.0;
    for (std::int64_t row = 0; row < kRows; ++row) {
      for (std::size_t i = 0; i < y.view().row(row).size(); ++i) {
        sum += static_cast<double>(y.view().row(row)[i]) * dy_.view().row(row)[i];
      }
    }
    return sum;
  }

  void check_gradients() {
    for (const auto tensor : tensors_in<float>(batch_, layer_, "")) draw(tensor, rng_, 0.1);
    for (std::int64_t row = 0; row < kRows; ++row) draw(dy_.view().row(row), rng_, 1.0);
    Table y(kRows, layer_.outputs(), 0, 0.0F);
    forward(x_.view(), y.view());
    Table dx(kRows, layer_.inputs(), 0, 0.0F);
    layer_.backward({.tensors = tensors_in<const float>(batch_, layer_, ""),
                     .x = x_.view(),
                     .y = y.view(),
                     .dy = dy_.view(),
                     .dx = dx.view(),
                     .d_tensors = tensors_in<float>(gradients_, layer_, "")});
    for (std::int64_t row = 0; row < kRows; ++row) {
      compare(fmt::format("x of row {}", row), x_.view().row(row), dx.view().row(row));
    }
    for (const ColumnSpec& column : batch_.columns()) {
      compare(column.name, batch_.column<float>(column.name).span(),
              gradients_.column<float>(column.name).span());
    }
  }

  /// Compares the gradient at some numbers with finite differences.
  void compare(const std::string& what, std::span<float> numbers, std::span<const float> gradient) {
    constexpr std::size_t kMost = 48;
    const std::size_t step = std::max<std::size_t>(1, numbers.size() / kMost);
    bool compared = false;
    for (std::size_t i = 0; i < numbers.size(); i += step) {
      const std::optional<double> slope = slope_at(numbers[i]);
      if (!slope) continue;
      compared = true;
      const double larger = std::max(std::abs(*slope), std::abs(double{gradient[i]}));
      if (std::abs(*slope - gradient[i]) <= 0.01 * larger + 3e-3) continue;
      problems_.push_back(
          fmt::format("d loss / d {}, element {}: backward says {}, finite "
                      "differences say {:.6}",
                      what, i, gradient[i], *slope));
      return;
    }
    if (!compared && !numbers.empty()) {
      problems_.push_back(fmt::format("{}: the function has a kink wherever it was tried", what));
    }
  }

  /// d loss / d number; nothing at a kink.
  std::optional<double> slope_at(float& number) {
    const float before = number;
    const float step = 1e-2F * std::max(1.0F, std::abs(before));
    const double middle = loss();
    number = before + step;
    const double right = (loss() - middle) / (number - before);
    number = before - step;
    const double left = (middle - loss()) / (before - number);
    number = before;
    const double larger = std::max(std::abs(left), std::abs(right));
    if (std::abs(left - right) > 0.1 * larger + 0.02) return std::nullopt;
    return (left + right) / 2.0;
  }

  const CustomLayer& layer_;
  Rng rng_;
  RecordBatch batch_;      ///< the tensors
  RecordBatch gradients_;  ///< of them
  Table x_;
  Table dy_ = Table(kRows, layer_.outputs(), 0, 0.0F);
  std::vector<std::string> problems_;
};

}  // namespace

std::vector<std::string> check_layer(const CustomLayer& layer, std::uint64_t seed) {
  if (layer.inputs() < 1 || layer.outputs() < 1) {
    return {fmt::format("it reads {} numbers and makes {}: at least 1 each", layer.inputs(),
                        layer.outputs())};
  }
  return LayerCheck(layer, seed).run();
}

}  // namespace knurl
