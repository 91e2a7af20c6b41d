#pragma once

#include <type_traits>
#include <utility>
#include <variant>

#include "knurl/core/data/record_batch.h"
#include "knurl/core/spaces/space.h"
#include "knurl/models/columns.h"
#include "knurl/models/distributions/categorical.h"
#include "knurl/models/distributions/diag_gaussian.h"
#include "knurl/models/distributions/multi_categorical.h"
#include "knurl/models/distributions/squashed_gaussian.h"

namespace knurl {

/// How a net's outputs become actions. Loops over rows stand inside std::visit, so that a row costs
/// no dispatch. A distribution is a struct with: Element, the type of an action's elements;
/// inputs() and width(), numbers a row of net outputs and of actions has; sample, mode, log_prob,
/// entropy and kl_from; and the gradients of the last three with respect to the inputs.
using ActionDistribution =
    std::variant<Categorical, DiagGaussian, SquashedGaussian, MultiCategorical>;

/// How actions of a Box are drawn.
enum class BoxDistribution { gaussian, squashed_gaussian };

/// The distribution for a space: Categorical for Discrete, MultiCategorical for MultiDiscrete and
/// MultiBinary, a Gaussian for Box. Throws Error(config) naming the space where there is none.
ActionDistribution distribution_for(const Space& action_space,
                                    BoxDistribution box = BoxDistribution::gaussian);

/// Numbers that a net must put out for one row.
inline int num_inputs(const ActionDistribution& distribution) {
  return std::visit([](const auto& d) { return d.inputs(); }, distribution);
}

/// The column of the policy's actions: int64 indices from 0, or float32 vectors.
inline ColumnSpec action_column(const ActionDistribution& distribution) {
  return std::visit(
      [](const auto& d) {
        using Element = typename std::remove_cvref_t<decltype(d)>::Element;
        constexpr bool kScalar = std::remove_cvref_t<decltype(d)>::kScalar;
        return ColumnSpec{.name = column::kActions,
                          .dtype = dtype_of<Element>(),
                          .row_shape = kScalar ? Shape{} : Shape{d.width()}};
      },
      distribution);
}

/// Numbers by which a net reads an action: a one-hot for each choice, or the vector itself.
int encoded_action_size(const ActionDistribution& distribution);
/// Writes them for the first `rows` rows of the column "actions" into rows of `out`
/// [rows, encoded_action_size].
void encode_actions(const ActionDistribution& distribution, const RecordBatch& actions,
                    std::int64_t rows, const ColumnView<float>& out);

}  // namespace knurl
