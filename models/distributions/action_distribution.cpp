#include "knurl/models/distributions/action_distribution.h"

#include <algorithm>
#include <numeric>

#include "knurl/core/base/error.h"

namespace knurl {

namespace {

/// A size that a net can put out.
int narrow(const Space& action_space, std::int64_t size) {
  constexpr std::int64_t kMost = 1'000'000;
  if (size > kMost) {
    fail(ErrorKind::config, "action space {}: {} is more than the {} that a policy can choose from",
         action_space.text(), size, kMost);
  }
  return static_cast<int>(size);
}

}  // namespace

ActionDistribution distribution_for(const Space& action_space, BoxDistribution box) {
  if (const auto* discrete = action_space.as<Discrete>()) {
    return Categorical{.n = narrow(action_space, discrete->n)};
  }
  if (const auto* space = action_space.as<Box>()) {
    const DiagGaussian gaussian{.n = narrow(action_space, num_elements(space->shape))};
    if (box == BoxDistribution::squashed_gaussian) return SquashedGaussian{gaussian};
    return gaussian;
  }
  if (const auto* multi = action_space.as<MultiDiscrete>()) {
    MultiCategorical out;
    for (const std::int64_t n : multi->nvec) out.sizes.push_back(narrow(action_space, n));
    narrow(action_space, std::accumulate(multi->nvec.begin(), multi->nvec.end(), std::int64_t{0}));
    return out;
  }
  if (const auto* binary = action_space.as<MultiBinary>()) {
    const int n = narrow(action_space, num_elements(binary->shape));
    return MultiCategorical{.sizes = std::vector<int>(static_cast<std::size_t>(n), 2)};
  }
  fail(ErrorKind::config,
       "action space {}: policies for it are not available yet; those for Discrete, MultiDiscrete, "
       "MultiBinary and Box are",
       action_space.text());
}

int encoded_action_size(const ActionDistribution& distribution) {
  return std::visit(
      [](const auto& d) {
        using Element = typename std::remove_cvref_t<decltype(d)>::Element;
        return std::is_same_v<Element, std::int64_t> ? d.inputs() : d.width();
      },
      distribution);
}

void encode_actions(const ActionDistribution& distribution, const RecordBatch& actions,
                    std::int64_t rows, const ColumnView<float>& out) {
  if (actions.columns()[actions.index_of(column::kActions)].dtype == DType::float32) {
    const auto from = actions.column<float>(column::kActions).span();
    std::copy_n(from.data(), rows * out.width(), out.data());
    return;
  }
  const auto* multi = std::get_if<MultiCategorical>(&distribution);
  const auto chosen = actions.column<std::int64_t>(column::kActions);
  for (std::int64_t row = 0; row < rows; ++row) {
    std::ranges::fill(out.row(row), 0.0F);
    float* choice = out.row(row).data();
    for (std::size_t i = 0; i < chosen.row(row).size(); ++i) {
      choice[chosen.row(row)[i]] = 1.0F;
      if (multi) choice += multi->sizes[i];
    }
  }
}

}  // namespace knurl
