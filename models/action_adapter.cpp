#include "knurl/models/action_adapter.h"

#include <algorithm>
#include <cmath>

#include "knurl/core/base/error.h"
#include "knurl/models/columns.h"

namespace knurl {

ActionAdapter::ActionAdapter(const SpaceLayout& space, const ActionOptions& options)
    : space_(space), squash_(options.box == BoxDistribution::squashed_gaussian) {
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

/// Discrete, MultiDiscrete and MultiBinary: indices count from the space's start.
void ActionAdapter::choices_to_env(const RecordBatch& policy_actions, std::int64_t rows,
                                   const Rows& env_actions) const {
  const auto actions = policy_actions.column<std::int64_t>(column::kActions);
  const auto* multi = space_.space().as<MultiDiscrete>();
  for (std::int64_t row = 0; row < rows; ++row) {
    const Row to(env_actions, row);
    if (space_.space().as<Discrete>()) {
      to.set_index(actions[row]);
    } else if (multi) {
      std::ranges::copy(actions.row(row), to.as<std::int64_t>().begin());
      for (std::size_t i = 0; i < multi->start.size(); ++i) {
        to.as<std::int64_t>()[i] += multi->start[i];
      }
    } else {
      std::ranges::transform(actions.row(row), to.as<std::uint8_t>().begin(),
                             [](std::int64_t bit) { return static_cast<std::uint8_t>(bit); });
    }
  }
}

void ActionAdapter::to_env(const RecordBatch& policy_actions, std::int64_t rows,
                           const Rows& env_actions) const {
  if (dimensions_.empty()) return choices_to_env(policy_actions, rows, env_actions);
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
        if (squash_) value = std::tanh(value);
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
