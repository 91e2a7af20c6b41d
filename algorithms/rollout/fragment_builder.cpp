#include "knurl/algorithms/rollout/fragment_builder.h"

#include <cstring>

#include "knurl/models/columns.h"

namespace knurl {
namespace {

/// Copies a row of a space from some columns to others.
void copy_row(const Rows& from, std::int64_t from_row, const Rows& to, std::int64_t to_row) {
  const std::vector<Leaf>& leaves = from.layout().leaves();
  for (std::size_t leaf = 0; leaf < leaves.size(); ++leaf) {
    std::memcpy(to.leaf_row(leaf, to_row), from.leaf_row(leaf, from_row), leaves[leaf].bytes());
  }
}

}  // namespace

FragmentBuilder::FragmentBuilder(Shape shape) : shape_(std::move(shape)) {
  std::vector<ColumnSpec> columns = shape_.observations->columns(column::kObservations);
  columns.insert(columns.end(), shape_.policy_columns.begin(), shape_.policy_columns.end());
  columns.push_back({column::kRewards, DType::float32, {}});
  for (const std::string& name : shape_.info) {
    columns.push_back({"info/" + name, DType::float64, {}});
  }
  steps_.columns = RecordBatch(std::move(columns), (shape_.steps + 1) * shape_.num_envs);
  RecordBatch& batch = steps_.columns;
  observations_ = Rows(*shape_.observations, batch, column::kObservations);
  rewards_ = batch.column<float>(column::kRewards);
  for (const ColumnSpec& column : shape_.policy_columns) {
    policy_columns_.push_back(batch.index_of(column.name));
  }
  for (const std::string& name : shape_.info) {
    info_.push_back(batch.column<double>("info/" + name));
  }
  open_.resize(at(shape_.num_envs));
  grow_bootstrap(std::int64_t{2} * shape_.num_envs);
}

std::span<float> FragmentBuilder::rewards(std::int64_t step) const {
  const auto n = static_cast<std::size_t>(shape_.num_envs);
  return rewards_.span().subspan(static_cast<std::size_t>(step) * n, n);
}

void FragmentBuilder::add_policy_columns(std::int64_t step, const RecordBatch& said) {
  const auto n = static_cast<std::size_t>(shape_.num_envs);
  for (std::size_t k = 0; k < policy_columns_.size(); ++k) {
    const std::size_t to = policy_columns_[k];
    const std::size_t bytes = n * steps_.columns.row_bytes(to);
    std::memcpy(steps_.columns.data(to) + static_cast<std::size_t>(step) * bytes,
                said.data(said.index_of(shape_.policy_columns[k].name)), bytes);
  }
}

void FragmentBuilder::add_info(std::int64_t step, const std::vector<double>& numbers) {
  const std::size_t width = info_.size();
  for (std::size_t k = 0; k < width; ++k) {
    for (int env = 0; env < shape_.num_envs; ++env) {
      info_[k][step * shape_.num_envs + env] = numbers[at(env) * width + k];
    }
  }
}

void FragmentBuilder::end_episode(int env, std::int64_t step, Ending ending,
                                  const Rows& final_observations, std::int64_t next_episode) {
  end_segment(env, step + 1, ending, final_observations, env);
  open_[at(env)] = {.episode = next_episode, .first_step = step + 1};
}

PolicySteps FragmentBuilder::finish() {
  const std::int64_t end = shape_.steps;
  for (int env = 0; env < shape_.num_envs; ++env) {
    if (open_[at(env)].first_step == end) continue;
    end_segment(env, end, Ending::cut, observations_, end * shape_.num_envs + env);
  }
  steps_.columns.set_rows(end * shape_.num_envs);
  steps_.bootstrap.set_rows(bootstrap_rows_);
  return std::move(steps_);
}

void FragmentBuilder::end_segment(int env, std::int64_t end_step, Ending ending, const Rows& from,
                                  std::int64_t from_row) {
  if (bootstrap_rows_ == steps_.bootstrap.rows()) grow_bootstrap(2 * bootstrap_rows_);
  copy_row(from, from_row, bootstrap_, bootstrap_rows_);
  const Open& open = open_[at(env)];
  steps_.segments.push_back({.env = shape_.first_env + env,
                             .episode = open.episode,
                             .first_row = open.first_step * shape_.num_envs + env,
                             .length = end_step - open.first_step,
                             .row_stride = shape_.num_envs,
                             .ending = ending,
                             .bootstrap_row = bootstrap_rows_++});
}

void FragmentBuilder::grow_bootstrap(std::int64_t rows) {
  std::vector<ColumnSpec> columns = shape_.observations->columns(column::kObservations);
  if (shape_.has_values) columns.push_back({column::kValues, DType::float32, {}});
  RecordBatch larger(std::move(columns), rows);
  if (bootstrap_rows_ > 0) larger.copy_rows(0, steps_.bootstrap, 0, bootstrap_rows_);
  steps_.bootstrap = std::move(larger);
  bootstrap_ = Rows(*shape_.observations, steps_.bootstrap, column::kObservations);
}

Rows FragmentBuilder::bootstrap_rows(const SpaceLayout& layout, PolicySteps& steps) {
  return {layout, steps.bootstrap, column::kObservations};
}

}  // namespace knurl
