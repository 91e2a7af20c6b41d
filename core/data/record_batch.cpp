#include "knurl/core/data/record_batch.h"

#include <algorithm>
#include <cstring>
#include <new>

#include <fmt/ranges.h>

#include "knurl/core/base/check.h"

namespace knurl {
namespace {

std::size_t aligned(std::size_t bytes) {
  return (bytes + RecordBatch::kAlignment - 1) / RecordBatch::kAlignment * RecordBatch::kAlignment;
}

/// Copies rows of kBytes bytes, or where it is 0 of `bytes`.
template <std::size_t kBytes>
void gather_rows(const std::byte* from, std::span<const std::int32_t> rows, std::size_t bytes,
                 std::byte* to) {
  const std::size_t size = kBytes > 0 ? kBytes : bytes;
  for (const std::int32_t row : rows) {
    std::memcpy(to, from + static_cast<std::size_t>(row) * size, size);
    to += size;
  }
}

}  // namespace

std::int64_t num_elements(const Shape& shape) {
  std::int64_t n = 1;
  for (const std::int64_t size : shape) n *= size;
  return n;
}

std::int64_t width_of(const std::vector<ColumnSpec>& columns) {
  std::int64_t width = 0;
  for (const ColumnSpec& column : columns) width += num_elements(column.row_shape);
  return width;
}

std::string text_of(const Shape& shape) {
  return fmt::format("[{}]", fmt::join(shape, ", "));
}

void RecordBatch::Free::operator()(std::byte* memory) const {
  ::operator delete[](memory, std::align_val_t{kAlignment});
}

RecordBatch::RecordBatch(std::vector<ColumnSpec> columns, std::int64_t rows)
    : columns_(std::move(columns)), rows_(rows), capacity_(rows) {
  check(rows >= 0, "a batch has no negative number of rows");
  for (std::size_t i = 0; i < columns_.size(); ++i) {
    for (std::size_t j = 0; j < i; ++j) {
      check(columns_[i].name != columns_[j].name, "column names differ: " + columns_[i].name);
    }
    offsets_.push_back(bytes_);
    bytes_ += aligned(row_bytes(i) * static_cast<std::size_t>(rows));
  }
  // one spare line: vector loads of a last, partly filled line stay inside
  const std::size_t allocated = bytes_ + kAlignment;
  memory_.reset(static_cast<std::byte*>(::operator new[](allocated, std::align_val_t{kAlignment})));
  std::memset(memory_.get(), 0, allocated);
}

RecordBatch::RecordBatch(const RecordBatch& other) : RecordBatch(other.columns_, other.capacity_) {
  set_rows(other.rows_);
  if (bytes_ > 0) std::memcpy(memory_.get(), other.memory_.get(), bytes_);
}

RecordBatch& RecordBatch::operator=(const RecordBatch& other) {
  if (this != &other) *this = RecordBatch(other);
  return *this;
}

void RecordBatch::set_rows(std::int64_t rows) {
  check(rows >= 0 && rows <= capacity_, "a batch shows rows that it has");
  rows_ = rows;
}

bool RecordBatch::has(std::string_view name) const {
  return std::ranges::count(columns_, name, &ColumnSpec::name) > 0;
}

std::size_t RecordBatch::index_of(std::string_view name) const {
  const auto found = std::ranges::find(columns_, name, &ColumnSpec::name);
  if (found == columns_.end()) {
    std::vector<std::string> names;
    for (const ColumnSpec& column : columns_) names.push_back(column.name);
    check(false, fmt::format("no column {}; there are {}", name, fmt::join(names, ", ")));
  }
  return static_cast<std::size_t>(found - columns_.begin());
}

std::size_t RecordBatch::typed_index(std::string_view name, DType dtype) const {
  const std::size_t index = index_of(name);
  if (columns_[index].dtype != dtype) {
    check(false, fmt::format("column {} holds {}, not {}", name, name_of(columns_[index].dtype),
                             name_of(dtype)));
  }
  return index;
}

std::int64_t RecordBatch::width(std::size_t index) const {
  return num_elements(columns_[index].row_shape);
}

std::size_t RecordBatch::row_bytes(std::size_t index) const {
  return static_cast<std::size_t>(width(index)) * size_of(columns_[index].dtype);
}

void RecordBatch::copy_rows(std::int64_t to_row, const RecordBatch& from, std::int64_t first,
                            std::int64_t count) {
  check(columns_ == from.columns_, "rows are copied between batches with the same columns");
  check(to_row + count <= rows_ && first + count <= from.rows_, "copied rows are inside");
  for (std::size_t i = 0; i < columns_.size(); ++i) {
    const std::size_t bytes = row_bytes(i);
    std::memcpy(data(i) + static_cast<std::size_t>(to_row) * bytes,
                from.data(i) + static_cast<std::size_t>(first) * bytes,
                static_cast<std::size_t>(count) * bytes);
  }
}

void RecordBatch::gather(const RecordBatch& from, std::span<const std::int32_t> rows) {
  check(columns_ == from.columns_, "rows are gathered between batches with the same columns");
  check(static_cast<std::int64_t>(rows.size()) <= rows_, "gathered rows fit");
  for (std::size_t i = 0; i < columns_.size(); ++i) {
    const std::size_t bytes = row_bytes(i);
    switch (bytes) {  // a number of bytes that the compiler knows costs no call
      case 4:
        gather_rows<4>(from.data(i), rows, bytes, data(i));
        break;
      case 8:
        gather_rows<8>(from.data(i), rows, bytes, data(i));
        break;
      case 16:
        gather_rows<16>(from.data(i), rows, bytes, data(i));
        break;
      default:
        gather_rows<0>(from.data(i), rows, bytes, data(i));
    }
  }
}

void RecordBatch::save(ByteWriter& out) const {
  write(out, columns_);
  write(out, rows_);
  for (std::size_t i = 0; i < columns_.size(); ++i) {
    out.write_bytes(data(i), row_bytes(i) * static_cast<std::size_t>(rows_));
  }
}

RecordBatch RecordBatch::load(ByteReader& in) {
  auto columns = read<std::vector<ColumnSpec>>(in);
  const auto rows = read<std::int64_t>(in);
  std::size_t bytes = 0;
  for (const ColumnSpec& column : columns) {
    bytes += static_cast<std::size_t>(num_elements(column.row_shape)) * size_of(column.dtype);
  }
  if (rows < 0 || (bytes > 0 && static_cast<std::size_t>(rows) > in.remaining() / bytes)) {
    fail(ErrorKind::io, "a batch promises {} rows of {} bytes in {} bytes", rows, bytes,
         in.remaining());
  }
  RecordBatch batch(std::move(columns), rows);
  for (std::size_t i = 0; i < batch.columns_.size(); ++i) {
    in.read_bytes(batch.data(i), batch.row_bytes(i) * static_cast<std::size_t>(rows));
  }
  return batch;
}

}  // namespace knurl
