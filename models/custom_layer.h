#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "knurl/core/base/rng.h"
#include "knurl/core/data/record_batch.h"

namespace knurl {

/// Rows of `size` numbers, `stride` floats from one row to the next.
template <class Float>
struct FloatRows {
  Float* data = nullptr;
  std::int64_t rows = 0;
  std::int64_t stride = 0;
  int size = 0;

  [[nodiscard]] std::span<Float> row(std::int64_t index) const {
    return {data + index * stride, static_cast<std::size_t>(size)};
  }
  operator FloatRows<const Float>() const  // NOLINT(*-explicit-*): to be read only
      requires(!std::is_const_v<Float>) {
    return {data, rows, stride, size};
  }
};

/// A custom layer's tensors in the order in which it names them, each row-major.
template <class Float>
using LayerTensors = std::span<const std::span<Float>>;

/// A tensor of a custom layer.
struct TensorSpec {
  std::string name = {};  ///< "frequencies"; a checkpoint has "<layer's name>.frequencies"
  Shape shape = {};       ///< empty: one number
};

/// What CustomLayer::backward reads, and what it adds to.
struct LayerBackward {
  LayerTensors<const float> tensors;  ///< as forward had them
  FloatRows<const float> x;           ///< the same
  FloatRows<const float> y;           ///< what forward made of it
  FloatRows<const float> dy;          ///< d loss / d y
  FloatRows<float> dx;                ///< d loss / d x: comes as zeros
  LayerTensors<float> d_tensors;      ///< d loss / d tensors: come as zeros
};

/// A layer of one's own in a net (LayerKind::custom). The same code acts and learns. It keeps
/// nothing from call to call: several nets, in several threads, call one object at once.
/// check_layer (check_layer.h) tries what is promised here.
class CustomLayer {
 public:
  virtual ~CustomLayer() = default;

  /// Numbers in a row that it reads, and in one that it makes.
  [[nodiscard]] virtual int inputs() const = 0;
  [[nodiscard]] virtual int outputs() const = 0;
  /// What a model's summary calls it.
  [[nodiscard]] virtual std::string_view type() const { return "Custom"; }
  /// The tensors that it learns, if any.
  [[nodiscard]] virtual std::vector<TensorSpec> tensors() const { return {}; }
  /// Writes the tensors of a fresh model; they come as zeros.
  virtual void initialise(LayerTensors<float> /*tensors*/, Rng& /*rng*/) const {}

  /// Writes every number of y [x.rows, outputs()]. A row of y depends on the same row of x alone
  /// and has the same bits whatever the number of rows and its place among them.
  virtual void forward(LayerTensors<const float> tensors, FloatRows<const float> x,
                       FloatRows<float> y) const = 0;
  /// Adds the gradients to dx and d_tensors.
  virtual void backward(const LayerBackward& pass) const = 0;
};

/// A custom layer's tensors as columns whose names begin with `prefix`.
std::vector<ColumnSpec> custom_tensors(const CustomLayer& layer, const std::string& prefix);

/// A batch's columns of one row with these names as tensors.
template <class Float, class Batch>
std::vector<std::span<Float>> tensors_in(Batch& batch, const CustomLayer& layer,
                                         const std::string& prefix) {
  std::vector<std::span<Float>> out;
  for (const ColumnSpec& column : custom_tensors(layer, prefix)) {
    out.push_back(batch.template column<float>(column.name).span());
  }
  return out;
}

/// Throws the exception being handled as an Error naming the layer. Call inside a catch block only.
[[noreturn]] void rethrow_from_layer(const CustomLayer& layer, std::string_view name);

/// Calls a method of a layer. Where that throws, throws an Error naming the layer.
template <class Body>
void call_custom_layer(const CustomLayer& layer, std::string_view name, Body body) {
  try {
    body();
  } catch (...) {
    rethrow_from_layer(layer, name);
  }
}

/// CustomLayer::initialise of tensors that are zeros. Throws Error(config) naming the layer where
/// it writes a number that is not finite.
void initialise_custom_layer(const CustomLayer& layer, std::string_view name,
                             LayerTensors<float> tensors, Rng& rng);

/// CustomLayer::forward. Throws Error(env) naming the layer where a row of finite numbers becomes
/// one with a number that is not.
void run_custom_layer(const CustomLayer& layer, std::string_view name,
                      LayerTensors<const float> tensors, FloatRows<const float> x,
                      FloatRows<float> y);

}  // namespace knurl
