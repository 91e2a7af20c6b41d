#pragma once

#include <type_traits>
#include <utility>
#include <variant>

#include "knurl/core/data/record_batch.h"
#include "knurl/core/spaces/space.h"
#include "knurl/models/columns.h"
#include "knurl/models/distributions/categorical.h"
#include "knurl/models/distributions/diag_gaussian.h"

namespace knurl {

/// How a net's outputs become actions. Loops over rows stand inside std::visit, so that a row costs
/// no dispatch. A distribution is a struct with: Element, the type of an action's elements;
/// inputs() and width(), numbers a row of net outputs and of actions has; sample, mode, log_prob,
/// entropy and kl_from; and the gradients of the last three with respect to the inputs.
using ActionDistribution = std::variant<Categorical, DiagGaussian>;

/// The distribution for a space: Categorical for Discrete, DiagGaussian for Box. Throws
/// Error(config) naming the space where there is none yet.
ActionDistribution distribution_for(const Space& action_space);

/// Numbers that a net must put out for one row.
inline int num_inputs(const ActionDistribution& distribution) {
  return std::visit([](const auto& d) { return d.inputs(); }, distribution);
}

/// The column of the policy's actions: int64 indices from 0, or float32 vectors.
inline ColumnSpec action_column(const ActionDistribution& distribution) {
  return std::visit(
      [](const auto& d) {
        using Element = typename std::remove_cvref_t<decltype(d)>::Element;
        const bool scalar = std::is_integral_v<Element>;
        return ColumnSpec{.name = column::kActions,
                          .dtype = dtype_of<Element>(),
                          .row_shape = scalar ? Shape{} : Shape{d.width()}};
      },
      distribution);
}

}  // namespace knurl
