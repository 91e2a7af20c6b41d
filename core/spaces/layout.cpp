#include "knurl/core/spaces/layout.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include <fmt/ranges.h>

namespace knurl {
namespace {

void collect_leaves(const Space& space, const std::string& path, std::vector<Leaf>& out) {
  const auto below = [&](std::string_view name) {
    return path.empty() ? std::string(name) : fmt::format("{}/{}", path, name);
  };
  if (const auto* tuple = space.as<Tuple>()) {
    for (std::size_t i = 0; i < tuple->spaces.size(); ++i) {
      collect_leaves(tuple->spaces[i], below(fmt::to_string(i)), out);
    }
  } else if (const auto* dict = space.as<Dict>()) {
    for (const auto& [name, part] : dict->spaces) collect_leaves(part, below(name), out);
  } else if (const auto* box = space.as<Box>()) {
    out.push_back({path, box->dtype, box->shape, space});
  } else if (const auto* multi = space.as<MultiDiscrete>()) {
    out.push_back({path, DType::int64, {static_cast<std::int64_t>(multi->nvec.size())}, space});
  } else if (const auto* binary = space.as<MultiBinary>()) {
    out.push_back({path, DType::uint8, binary->shape, space});
  } else {
    out.push_back({path, DType::int64, {}, space});
  }
}

double element(const ConstRow& value, std::size_t leaf, std::int64_t index) {
  return visit(value.layout().leaves()[leaf].dtype, [&]<class T>(T*) {
    return static_cast<double>(reinterpret_cast<const T*>(value.bytes(leaf))[index]);
  });
}

void set_element(const Row& value, std::size_t leaf, std::int64_t index, double number) {
  visit(value.layout().leaves()[leaf].dtype, [&]<class T>(T*) {
    reinterpret_cast<T*>(value.bytes(leaf))[index] = static_cast<T>(number);
  });
}

/// The numbers that an element of a leaf may take.
struct Interval {
  double low;
  double high;
};

Interval interval(const Leaf& leaf, std::int64_t index) {
  const auto at = static_cast<std::size_t>(index);
  if (const auto* discrete = leaf.space.as<Discrete>()) {
    return {static_cast<double>(discrete->start),
            static_cast<double>(discrete->start + discrete->n - 1)};
  }
  if (const auto* multi = leaf.space.as<MultiDiscrete>()) {
    return {static_cast<double>(multi->start[at]),
            static_cast<double>(multi->start[at] + multi->nvec[at] - 1)};
  }
  if (const auto* box = leaf.space.as<Box>()) {
    if (leaf.dtype == DType::float32) {  // bounds as the values can be: 0.1F is above 0.1
      return {static_cast<float>(box->low.at(index)), static_cast<float>(box->high.at(index))};
    }
    return {box->low.at(index), box->high.at(index)};
  }
  return {0.0, 1.0};
}

double sample_element(const Leaf& leaf, std::int64_t index, Rng& rng) {
  const auto [low, high] = interval(leaf, index);
  const bool real = leaf.dtype == DType::float32 || leaf.dtype == DType::float64;
  if (!real)
    return low + static_cast<double>(rng.below(static_cast<std::uint64_t>(high - low) + 1));
  const bool from = std::isfinite(low);
  const bool to = std::isfinite(high);
  if (from && to) return rng.uniform(low, high);
  if (from) return low - std::log(1.0 - rng.uniform());
  if (to) return high + std::log(1.0 - rng.uniform());
  return rng.normal();
}

/// Categories of each element that is written as one-hot; none for arrays of numbers.
std::vector<std::int64_t> categories(const Leaf& leaf) {
  if (const auto* discrete = leaf.space.as<Discrete>()) return {discrete->n};
  if (const auto* multi = leaf.space.as<MultiDiscrete>()) return multi->nvec;
  return {};
}

std::int64_t saturating_sum(std::int64_t a, std::int64_t b) {
  std::int64_t sum = 0;
  return __builtin_add_overflow(a, b, &sum) ? std::numeric_limits<std::int64_t>::max() : sum;
}

std::int64_t flat_size(const Leaf& leaf) {
  const std::vector<std::int64_t> one_hots = categories(leaf);
  if (one_hots.empty()) return leaf.size();
  return std::accumulate(one_hots.begin(), one_hots.end(), std::int64_t{0}, saturating_sum);
}

}  // namespace

SpaceLayout::SpaceLayout(Space space) : space_(std::move(space)) {
  collect_leaves(space_, "", leaves_);
  plain_float_ = leaves_.size() == 1 && leaves_[0].dtype == DType::float32;
}

std::size_t SpaceLayout::leaf_index(std::string_view path) const {
  const auto found = std::ranges::find(leaves_, path, &Leaf::path);
  if (found == leaves_.end()) {
    std::vector<std::string> paths;
    for (const Leaf& leaf : leaves_) paths.push_back(leaf.path);
    fail(ErrorKind::env, "no leaf \"{}\"; there are \"{}\"", path, fmt::join(paths, "\", \""));
  }
  return static_cast<std::size_t>(found - leaves_.begin());
}

std::vector<ColumnSpec> SpaceLayout::columns(std::string_view name) const {
  std::vector<ColumnSpec> out;
  for (const Leaf& leaf : leaves_) {
    out.push_back({leaf.path.empty() ? std::string(name) : fmt::format("{}/{}", name, leaf.path),
                   leaf.dtype, leaf.shape});
  }
  return out;
}

std::string violation(const ConstRow& value, std::size_t leaf) {
  const Leaf& each = value.layout().leaves()[leaf];
  for (std::int64_t i = 0; i < each.size(); ++i) {
    const double number = element(value, leaf, i);
    const auto [low, high] = interval(each, i);
    if (number >= low && number <= high) continue;
    const std::string where = each.path.empty() ? "" : fmt::format("leaf {}, ", each.path);
    return fmt::format("{}element {}: {} is not in [{}, {}]", where, i, number, low, high);
  }
  return "";
}

std::string violation(const ConstRow& value) {
  for (std::size_t leaf = 0; leaf < value.layout().leaves().size(); ++leaf) {
    const std::string found = violation(value, leaf);
    if (!found.empty()) return found;
  }
  return "";
}

std::string unusable(const ConstRow& value, std::size_t leaf) {
  const Leaf& each = value.layout().leaves()[leaf];
  if (!each.space.as<Box>()) {
    const std::string wrong = violation(value, leaf);
    return wrong.empty() ? "" : ", " + wrong;
  }
  for (std::int64_t i = 0; i < each.size(); ++i) {
    const double number = element(value, leaf, i);
    if (std::isfinite(static_cast<float>(number))) continue;
    const std::string where = each.path.empty() ? "" : " " + each.path;
    return fmt::format("{}[{}] is {}: must be finite", where, i, number);
  }
  return "";
}

bool contains(const ConstRow& value) {
  return violation(value).empty();
}

void sample(const Row& value, Rng& rng) {
  const std::vector<Leaf>& leaves = value.layout().leaves();
  for (std::size_t k = 0; k < leaves.size(); ++k) {
    for (std::int64_t i = 0; i < leaves[k].size(); ++i) {
      set_element(value, k, i, sample_element(leaves[k], i, rng));
    }
  }
}

std::int64_t flat_size(const SpaceLayout& layout) {
  std::int64_t size = 0;
  for (const Leaf& leaf : layout.leaves()) size = saturating_sum(size, flat_size(leaf));
  return size;
}

void flatten(const ConstRow& value, std::span<float> out) {
  const std::vector<Leaf>& leaves = value.layout().leaves();
  std::size_t at = 0;
  for (std::size_t k = 0; k < leaves.size(); ++k) {
    const std::vector<std::int64_t> one_hots = categories(leaves[k]);
    for (std::int64_t i = 0; i < leaves[k].size(); ++i) {
      const double number = element(value, k, i);
      if (one_hots.empty()) {
        out[at++] = static_cast<float>(number);
        continue;
      }
      const std::int64_t n = one_hots[static_cast<std::size_t>(i)];
      const auto hot = static_cast<std::int64_t>(number - interval(leaves[k], i).low);
      for (std::int64_t c = 0; c < n; ++c) out[at++] = c == hot ? 1.0F : 0.0F;
    }
  }
}

void unflatten(std::span<const float> flat, const Row& value) {
  const std::vector<Leaf>& leaves = value.layout().leaves();
  for (std::size_t k = 0; k < leaves.size(); ++k) {
    const std::vector<std::int64_t> one_hots = categories(leaves[k]);
    for (std::int64_t i = 0; i < leaves[k].size(); ++i) {
      const std::size_t n =
          one_hots.empty() ? 1 : static_cast<std::size_t>(one_hots[static_cast<std::size_t>(i)]);
      if (one_hots.empty()) {
        set_element(value, k, i, flat[0]);
      } else {
        const auto hot = std::ranges::max_element(flat.first(n)) - flat.begin();
        set_element(value, k, i, interval(leaves[k], i).low + static_cast<double>(hot));
      }
      flat = flat.subspan(n);
    }
  }
}

}  // namespace knurl
