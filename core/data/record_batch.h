#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "knurl/core/base/bytes.h"
#include "knurl/core/data/dtype.h"

namespace knurl {

using Shape = std::vector<std::int64_t>;

/// Elements of a shape: 1 for the empty shape.
std::int64_t num_elements(const Shape& shape);

/// "[3, 4]"
std::string text_of(const Shape& shape);

/// A column's name and what one row of it holds.
struct ColumnSpec {
  std::string name = {};
  DType dtype = DType::float32;
  Shape row_shape = {};  ///< empty: one element a row

  bool operator==(const ColumnSpec&) const = default;
};

/// Elements that a row of all these columns has.
std::int64_t width_of(const std::vector<ColumnSpec>& columns);

/// A typed view of a column: `rows` rows of `width` elements, one after the other.
template <class T>
class ColumnView {
 public:
  ColumnView() = default;
  ColumnView(T* data, std::int64_t rows, std::int64_t width)
      : data_(data), rows_(rows), width_(width) {}

  [[nodiscard]] std::int64_t rows() const { return rows_; }
  [[nodiscard]] std::int64_t width() const { return width_; }
  [[nodiscard]] T* data() const { return data_; }
  /// All elements.
  [[nodiscard]] std::span<T> span() const {
    return {data_, static_cast<std::size_t>(rows_ * width_)};
  }
  [[nodiscard]] std::span<T> row(std::int64_t index) const {
    return {data_ + index * width_, static_cast<std::size_t>(width_)};
  }
  /// The only element of a row of width 1.
  T& operator[](std::int64_t index) const { return data_[index]; }

 private:
  T* data_ = nullptr;
  std::int64_t rows_ = 0;
  std::int64_t width_ = 1;
};

/// The carrier of RL data: named, typed columns of equal length in one allocation, each column
/// 64-byte aligned. Copies are deep, moves are cheap. Views live as long as the batch.
class RecordBatch {
 public:
  static constexpr std::size_t kAlignment = 64;

  RecordBatch() = default;
  /// Zeroed columns of `rows` rows. Throws std::logic_error for a name given twice.
  RecordBatch(std::vector<ColumnSpec> columns, std::int64_t rows);

  RecordBatch(const RecordBatch& other);
  RecordBatch(RecordBatch&&) noexcept = default;
  RecordBatch& operator=(const RecordBatch& other);
  RecordBatch& operator=(RecordBatch&&) noexcept = default;
  ~RecordBatch() = default;

  [[nodiscard]] std::int64_t rows() const { return rows_; }
  /// Shows only the first `rows` rows from now on; at most as many as were allocated.
  void set_rows(std::int64_t rows);
  [[nodiscard]] const std::vector<ColumnSpec>& columns() const { return columns_; }
  [[nodiscard]] bool has(std::string_view name) const;
  /// Position of a column. Throws std::logic_error naming the columns where there is none such.
  [[nodiscard]] std::size_t index_of(std::string_view name) const;

  /// A column as elements of T, which must be its type.
  template <class T>
  [[nodiscard]] ColumnView<T> column(std::string_view name) {
    const std::size_t index = typed_index(name, dtype_of<T>());
    return {reinterpret_cast<T*>(data(index)), rows_, width(index)};
  }
  template <class T>
  [[nodiscard]] ColumnView<const T> column(std::string_view name) const {
    const std::size_t index = typed_index(name, dtype_of<T>());
    return {reinterpret_cast<const T*>(data(index)), rows_, width(index)};
  }

  [[nodiscard]] std::byte* data(std::size_t index) { return memory_.get() + offsets_[index]; }
  [[nodiscard]] const std::byte* data(std::size_t index) const {
    return memory_.get() + offsets_[index];
  }
  /// Elements a row of a column has, and the bytes they take.
  [[nodiscard]] std::int64_t width(std::size_t index) const;
  [[nodiscard]] std::size_t row_bytes(std::size_t index) const;

  /// All columns with the gaps between them, which are zero where nobody wrote.
  [[nodiscard]] std::span<std::byte> memory() { return {memory_.get(), bytes_}; }
  [[nodiscard]] std::span<const std::byte> memory() const { return {memory_.get(), bytes_}; }

  /// Copies rows [first, first + count) of `from`, which has the same columns, to row `to_row` on.
  void copy_rows(std::int64_t to_row, const RecordBatch& from, std::int64_t first,
                 std::int64_t count);
  /// The rows named by `rows`, in that order, into this batch from its first row on.
  void gather(const RecordBatch& from, std::span<const std::int32_t> rows);

  void save(ByteWriter& out) const;
  static RecordBatch load(ByteReader& in);

 private:
  struct Free {
    void operator()(std::byte* memory) const;
  };

  [[nodiscard]] std::size_t typed_index(std::string_view name, DType dtype) const;

  std::vector<ColumnSpec> columns_;
  std::vector<std::size_t> offsets_;
  std::int64_t rows_ = 0;
  std::int64_t capacity_ = 0;
  std::size_t bytes_ = 0;
  std::unique_ptr<std::byte[], Free> memory_;
};

}  // namespace knurl
