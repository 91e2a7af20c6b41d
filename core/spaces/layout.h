#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "knurl/core/base/error.h"
#include "knurl/core/base/rng.h"
#include "knurl/core/data/dtype.h"
#include "knurl/core/data/record_batch.h"
#include "knurl/core/spaces/space.h"

namespace knurl {

/// One typed array of a space: the space itself, or a part of a Tuple or Dict.
struct Leaf {
  std::string path = {};  ///< "" for a space that is its own leaf, else "arm/0"
  DType dtype = DType::float32;
  Shape shape = {};
  Space space = {};  ///< Discrete, MultiDiscrete, MultiBinary or Box

  [[nodiscard]] std::int64_t size() const { return num_elements(shape); }
  [[nodiscard]] std::size_t bytes() const {
    return static_cast<std::size_t>(size()) * size_of(dtype);
  }
};

/// How values of a space lie in memory: its leaves in order (a Tuple's by position, a Dict's by
/// name), whole numbers as int64, binaries as uint8, boxes as their type.
class SpaceLayout {
 public:
  SpaceLayout() : SpaceLayout(Space{}) {}
  explicit SpaceLayout(Space space);

  [[nodiscard]] const Space& space() const { return space_; }
  [[nodiscard]] const std::vector<Leaf>& leaves() const { return leaves_; }
  /// Throws Error(env) naming the leaves where there is none of this path.
  [[nodiscard]] std::size_t leaf_index(std::string_view path) const;
  /// One leaf of float32: a plain array of numbers.
  [[nodiscard]] bool plain_float() const { return plain_float_; }

  /// Columns for rows of this space: "obs", or "obs/camera", "obs/speed".
  [[nodiscard]] std::vector<ColumnSpec> columns(std::string_view name) const;

 private:
  Space space_;
  std::vector<Leaf> leaves_;
  bool plain_float_ = false;
};

/// Rows of a space in columns: where each leaf's column starts. Byte is std::byte or const. Copying
/// allocates nothing for spaces of up to four leaves.
template <class Byte>
class BasicRows {
 public:
  BasicRows() = default;
  /// Columns made by SpaceLayout::columns(name) inside `batch`.
  template <class Batch>
  BasicRows(const SpaceLayout& layout, Batch& batch, std::string_view name) : layout_(&layout) {
    const std::vector<ColumnSpec> columns = layout.columns(name);
    if (columns.size() > few_.size()) many_.resize(columns.size());
    for (std::size_t leaf = 0; leaf < columns.size(); ++leaf) {
      base(leaf) = batch.data(batch.index_of(columns[leaf].name));
    }
  }
  operator BasicRows<const std::byte>() const {  // NOLINT(*-explicit-*)
    BasicRows<const std::byte> out;
    out.layout_ = layout_;
    out.first_row_ = first_row_;
    out.many_.assign(many_.begin(), many_.end());
    std::copy(few_.begin(), few_.end(), out.few_.begin());
    return out;
  }

  [[nodiscard]] const SpaceLayout& layout() const { return *layout_; }
  [[nodiscard]] Byte* leaf_row(std::size_t leaf, std::int64_t row) const {
    return (many_.empty() ? few_[leaf] : many_[leaf]) +
           static_cast<std::size_t>(first_row_ + row) * layout_->leaves()[leaf].bytes();
  }
  /// The same columns seen from row `row` on.
  [[nodiscard]] BasicRows from(std::int64_t row) const {
    BasicRows moved = *this;
    moved.first_row_ += row;
    return moved;
  }
  /// The columns of some leaves, in order, as rows of a space that has these. `layout` must outlive
  /// them.
  [[nodiscard]] BasicRows part(const SpaceLayout& layout,
                               std::span<const std::size_t> leaves) const {
    BasicRows out;
    out.layout_ = &layout;
    out.first_row_ = first_row_;
    if (leaves.size() > few_.size()) out.many_.resize(leaves.size());
    for (std::size_t leaf = 0; leaf < leaves.size(); ++leaf) {
      out.base(leaf) = many_.empty() ? few_[leaves[leaf]] : many_[leaves[leaf]];
    }
    return out;
  }

 private:
  template <class>
  friend class BasicRows;

  Byte*& base(std::size_t leaf) { return many_.empty() ? few_[leaf] : many_[leaf]; }

  const SpaceLayout* layout_ = nullptr;
  std::int64_t first_row_ = 0;
  std::array<Byte*, 4> few_{};
  std::vector<Byte*> many_;  ///< in place of few_ where there are more leaves
};

using Rows = BasicRows<std::byte>;
using ConstRows = BasicRows<const std::byte>;

/// One value of a space: a row of its columns. Cheap to copy; lives as long as the columns.
template <class Byte>
class BasicRow {
 public:
  template <class T>
  using Element = std::conditional_t<std::is_const_v<Byte>, const T, T>;

  BasicRow(const BasicRows<Byte>& rows, std::int64_t row) : rows_(&rows), row_(row) {}

  [[nodiscard]] const SpaceLayout& layout() const { return rows_->layout(); }

  /// Element `index` of a space that is one array of float32.
  Element<float>& operator[](std::size_t index) const {
    if (!layout().plain_float()) refuse_type(0, DType::float32);
    return reinterpret_cast<Element<float>*>(rows_->leaf_row(0, row_))[index];
  }
  /// The elements of a leaf, which must be of type T.
  template <class T>
  [[nodiscard]] std::span<Element<T>> leaf(std::size_t index) const {
    const Leaf& leaf = layout().leaves().at(index);
    if (leaf.dtype != dtype_of<T>()) refuse_type(index, dtype_of<T>());
    return {reinterpret_cast<Element<T>*>(rows_->leaf_row(index, row_)),
            static_cast<std::size_t>(leaf.size())};
  }
  template <class T>
  [[nodiscard]] std::span<Element<T>> leaf(std::string_view path) const {
    return leaf<T>(layout().leaf_index(path));
  }
  /// The elements of a space that is one array of T.
  template <class T>
  [[nodiscard]] std::span<Element<T>> as() const {
    return leaf<T>(std::size_t{0});
  }
  [[nodiscard]] Byte* bytes(std::size_t leaf) const { return rows_->leaf_row(leaf, row_); }

  /// A Discrete value counted from 0, whatever its start.
  [[nodiscard]] std::int64_t index() const {
    return leaf<std::int64_t>(std::size_t{0})[0] - start();
  }
  /// Sets a Discrete value counted from 0.
  void set_index(std::int64_t index) const requires(!std::is_const_v<Byte>) {
    leaf<std::int64_t>(std::size_t{0})[0] = index + start();
  }

 private:
  [[nodiscard]] std::int64_t start() const {
    const auto* discrete = layout().leaves().front().space.template as<Discrete>();
    if (!discrete) fail(ErrorKind::env, "{} has no index", layout().space().text());
    return discrete->start;
  }
  [[noreturn]] void refuse_type(std::size_t index, DType asked) const {
    const Leaf& leaf = layout().leaves().at(index);
    fail(ErrorKind::env, "{}{}{} holds {}, not {}", layout().space().text(),
         leaf.path.empty() ? "" : " leaf ", leaf.path, name_of(leaf.dtype), name_of(asked));
  }

  const BasicRows<Byte>* rows_;
  std::int64_t row_;
};

using Row = BasicRow<std::byte>;
using ConstRow = BasicRow<const std::byte>;

/// A value that owns its memory.
class SpaceValue {
 public:
  /// All zeros.
  explicit SpaceValue(const SpaceLayout& layout)
      : batch_(layout.columns("value"), 1), rows_(layout, batch_, "value"), const_rows_(rows_) {}
  SpaceValue(const SpaceValue&) = delete;
  SpaceValue& operator=(const SpaceValue&) = delete;

  [[nodiscard]] Row row() { return {rows_, 0}; }
  [[nodiscard]] ConstRow row() const { return {const_rows_, 0}; }

 private:
  RecordBatch batch_;
  Rows rows_;
  ConstRows const_rows_;
};

/// The value lies in the space of its layout: whole numbers in range, binaries 0 or 1, boxes within
/// their bounds and not NaN.
bool contains(const ConstRow& value);
/// Why `contains` is false ("leaf speed, element 2: 7.5 is not in [0, 5]"), or nothing.
std::string violation(const ConstRow& value);
/// The same of one leaf.
std::string violation(const ConstRow& value, std::size_t leaf);
/// Why nothing can be computed from a leaf, to stand after what it is (", element 0: 7 is not in
/// [0, 1]", "[0] is nan: must be finite"), or nothing: numbers are to be finite as float32, whole
/// things in their space. Bounds of boxes are not looked at: that an env leaves them is its own
/// affair, as with Gymnasium.
std::string unusable(const ConstRow& value, std::size_t leaf);

/// Draws a value: uniform where bounded on both sides, exponential beyond one bound, normal where
/// unbounded (as Gymnasium does).
void sample(const Row& value, Rng& rng);

/// Length of a value as one vector of numbers: a Discrete is one-hot, a MultiDiscrete one-hots in a
/// row, binaries and boxes their elements, a Tuple or Dict its leaves in order.
std::int64_t flat_size(const SpaceLayout& layout);
/// Writes the flat vector, `flat_size` numbers.
void flatten(const ConstRow& value, std::span<float> out);
/// The value whose flat vector this is; of one-hots the largest element counts.
void unflatten(std::span<const float> flat, const Row& value);

}  // namespace knurl
