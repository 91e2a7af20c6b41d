#include "knurl/algorithms/replay/replay_buffer.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "knurl/core/base/check.h"
#include "knurl/core/base/error.h"

namespace knurl {
namespace {

constexpr const char* kAdded = "added";
constexpr const char* kLargest = "largest_priority";
constexpr const char* kPriorities = "priorities";

/// The columns of a batch of `rows` rows as tensors of a batch of one row.
std::vector<ColumnSpec> as_tensors(std::vector<ColumnSpec> columns, std::int64_t rows) {
  for (ColumnSpec& column : columns) column.row_shape.insert(column.row_shape.begin(), rows);
  return columns;
}

}  // namespace

ReplayBuffer::ReplayBuffer(std::vector<ColumnSpec> columns, ReplayOptions options)
    : rows_(std::move(columns), options.capacity), options_(options) {
  if (options_.priorities) tree_.emplace(options.capacity);
}

std::int64_t ReplayBuffer::append() {
  const std::int64_t row = added_++ % capacity();
  size_ = std::min(added_, capacity());
  if (tree_) tree_->set(row, largest_);
  return row;
}

void ReplayBuffer::draw(Rng& rng, std::span<std::int32_t> out) const {
  check(size_ > 0, "there are rows to draw from");
  for (std::int32_t& row : out) {
    row = static_cast<std::int32_t>(tree_ ? tree_->find(rng.uniform() * tree_->total())
                                          : rng.below(static_cast<std::uint64_t>(size_)));
  }
}

double ReplayBuffer::chance(std::int64_t row) const {
  return tree_ ? (*tree_)[row] / tree_->total() : 1.0 / static_cast<double>(size_);
}

void ReplayBuffer::importance_weights(std::span<const std::int32_t> rows, double beta,
                                      std::span<float> out) const {
  if (!tree_) {
    std::ranges::fill(out, 1.0F);
    return;
  }
  // size and total cancel against those of the largest weight
  for (std::size_t i = 0; i < rows.size(); ++i) {
    out[i] = static_cast<float>(std::pow((*tree_)[rows[i]] / tree_->least(), -beta));
  }
}

void ReplayBuffer::update_priorities(std::span<const std::int32_t> rows,
                                     std::span<const float> errors) {
  if (!tree_) return;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const double priority = std::abs(static_cast<double>(errors[i])) + options_.priorities->epsilon;
    const double weight = std::pow(priority, options_.priorities->alpha);
    tree_->set(rows[i], weight);
    largest_ = std::max(largest_, weight);
  }
}

void ReplayBuffer::save(CheckpointData& out, const std::string& name) const {
  std::vector<ColumnSpec> columns = as_tensors(rows_.columns(), size_);
  columns.push_back({kAdded, DType::int64, {}});
  if (tree_) {
    columns.push_back({kLargest, DType::float64, {}});
    columns.push_back({kPriorities, DType::float64, {size_}});
  }
  RecordBatch tensors(std::move(columns), 1);
  for (std::size_t i = 0; i < rows_.columns().size(); ++i) {
    std::memcpy(tensors.data(i), rows_.data(i), tensors.row_bytes(i));
  }
  tensors.column<std::int64_t>(kAdded)[0] = added_;
  if (tree_) {
    tensors.column<double>(kLargest)[0] = largest_;
    const auto priorities = tensors.column<double>(kPriorities).span();
    std::ranges::copy(tree_->weights().first(priorities.size()), priorities.begin());
  }
  out.add_tensors(name, tensors);
}

void ReplayBuffer::load(const CheckpointData& in, const std::string& name) {
  const RecordBatch tensors = in.tensors(name);
  const auto refuse = [&] {
    fail(ErrorKind::checkpoint, "{}: is of a replay buffer with other columns or options",
         in.path_of(name));
  };
  if (!tensors.has(kAdded)) refuse();
  const std::int64_t added = tensors.column<std::int64_t>(kAdded)[0];
  const std::int64_t size = std::min(added, capacity());
  std::vector<ColumnSpec> expected = as_tensors(rows_.columns(), size);
  expected.push_back({kAdded, DType::int64, {}});
  if (tree_) {
    expected.push_back({kLargest, DType::float64, {}});
    expected.push_back({kPriorities, DType::float64, {size}});
  }
  if (added < 0 || tensors.columns() != expected) refuse();
  for (std::size_t i = 0; i < rows_.columns().size(); ++i) {
    std::memcpy(rows_.data(i), tensors.data(i), tensors.row_bytes(i));
  }
  added_ = added;
  size_ = size;
  if (!tree_) return;
  largest_ = tensors.column<double>(kLargest)[0];
  std::vector<double> weights(tree_->weights().size(), 0.0);
  std::ranges::copy(tensors.column<double>(kPriorities).span(), weights.begin());
  tree_->set_all(weights);
}

}  // namespace knurl
