#include "knurl/models/action_adapter.h"

#include <algorithm>
#include <cmath>

#include "knurl/core/base/error.h"
#include "knurl/models/columns.h"

namespace knurl {

ActionAdapter::ActionAdapter(const SpaceLayout& space, const ActionOptions& options)
    : space_(space) {
  const auto* box = space.space().as<Box>();
  if (!box) return;
  for (std::int64_t i = 0; i < num_elements(box->shape); ++i) {
    Dimension dimension{.low = box->low.at(i), .high = box->high.at(i)};
    const bool bounded = std::isfinite(dimension.low) && std::isfinite(dimension.high);
    const DType dtype = space.leaves()[0].dtype;
    const bool whole = dtype != DType::float32 && dtype != DType::float64;
    dimension.normalize = options.normalize_actions && bounded;
    dimension.clip = options.normalize_actions || options.clip_actions || whole;
    dimensions_.push_back(dimension);
  }
}

void ActionAdapter::to_env(const RecordBatch& policy_actions, std::int64_t rows,
                           const Rows& env_actions) const {
  if (dimensions_.empty()) {
    const auto actions = policy_actions.column<std::int64_t>(column::kActions);
    for (std::int64_t row = 0; row < rows; ++row) Row(env_actions, row).set_index(actions[row]);
    return;
  }
  const auto actions = policy_actions.column<float>(column::kActions);
  const DType dtype = space_.leaves()[0].dtype;
  visit(dtype, [&]<class T>(T*) {
    for (std::int64_t row = 0; row < rows; ++row) {
      const std::span<const float> from = actions.row(row);
      T* to = reinterpret_cast<T*>(env_actions.leaf_row(0, row));
      for (std::size_t i = 0; i < dimensions_.size(); ++i) {
        const Dimension& d = dimensions_[i];
        double value = from[i];
        if (!std::isfinite(value)) {
          fail(ErrorKind::env, "the policy's action is {}: its weights are spoilt", value);
        }
        if (d.normalize) {
          value = d.low + (std::clamp(value, -1.0, 1.0) + 1.0) * 0.5 * (d.high - d.low);
        }
        if (d.clip) value = std::clamp(value, d.low, d.high);
        to[i] = static_cast<T>(std::is_integral_v<T> ? std::round(value) : value);
      }
    }
  });
}

}  // namespace knurl
