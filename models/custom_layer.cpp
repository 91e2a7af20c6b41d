#include "knurl/models/custom_layer.h"

#include <algorithm>
#include <cmath>

#include "knurl/core/base/error.h"
#include "knurl/core/data/finite.h"

namespace knurl {

std::vector<ColumnSpec> custom_tensors(const CustomLayer& layer, const std::string& prefix) {
  std::vector<ColumnSpec> out;
  for (const TensorSpec& tensor : layer.tensors()) {
    out.push_back({prefix + tensor.name, DType::float32, tensor.shape});
  }
  return out;
}

void rethrow_from_layer(const CustomLayer& layer, std::string_view name) {
  try {
    throw;
  } catch (const Error& error) {
    fail(error.kind(), "layer {} ({}): {}", name, layer.type(), error.what());
  } catch (...) {
    fail(ErrorKind::env, "layer {} ({}): {}", name, layer.type(), current_exception_text());
  }
}

void initialise_custom_layer(const CustomLayer& layer, std::string_view name,
                             LayerTensors<float> tensors, Rng& rng) {
  call_custom_layer(layer, name, [&] { layer.initialise(tensors, rng); });
  const std::vector<TensorSpec> specs = layer.tensors();
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    const auto bad = std::ranges::find_if(tensors[i], [](float v) { return !std::isfinite(v); });
    if (bad == tensors[i].end()) continue;
    fail(ErrorKind::config, "layer {} ({}): a fresh {}[{}] is {}: must be finite", name,
         layer.type(), specs[i].name, bad - tensors[i].begin(), *bad);
  }
}

void run_custom_layer(const CustomLayer& layer, std::string_view name,
                      LayerTensors<const float> tensors, FloatRows<const float> x,
                      FloatRows<float> y) {
  call_custom_layer(layer, name, [&] { layer.forward(tensors, x, y); });
  for (std::int64_t row = 0; row < y.rows; ++row) {
    const auto numbers = y.row(row);
    if (all_finite(numbers) || !all_finite(x.row(row))) continue;
    const auto bad = std::ranges::find_if(numbers, [](float v) { return !std::isfinite(v); });
    fail(ErrorKind::env, "layer {} ({}): made output {} of finite numbers {}: must be finite", name,
         layer.type(), bad - numbers.begin(), *bad);
  }
}

}  // namespace knurl
