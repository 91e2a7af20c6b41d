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
  allocate(shape_.steps);
  for (const ColumnSpec& column : shape_.policy_columns) {
    policy_columns_.push_back(steps_.columns.index_of(column.name));
  }
  if (shape_.memory) {
    for (const ColumnSpec& column : shape_.memory->columns()) {
      memory_columns_.push_back(steps_.columns.index_of(column.name));
    }
  }
  open_.resize(at(shape_.num_envs));
  grow_bootstrap(std::int64_t{2} * shape_.num_envs);
}

/// Room for so many steps; what is there is kept.
void FragmentBuilder::allocate(std::int64_t steps) {
  std::vector<ColumnSpec> columns = shape_.observations->columns(column::kObservations);
  columns.insert(columns.end(), shape_.policy_columns.begin(), shape_.policy_columns.end());
  if (shape_.memory) {
    columns.insert(columns.end(), shape_.memory->columns().begin(), shape_.memory->columns().end());
  }
  columns.push_back({column::kRewards, DType::float32, {}});
  for (const std::string& name : shape_.info) {
    columns.push_back({"info/" + name, DType::float64, {}});
  }
  RecordBatch batch(std::move(columns), (steps + 1) * shape_.num_envs);
  const std::int64_t filled = steps_.columns.rows();
  if (filled > 0) batch.copy_rows(0, steps_.columns, 0, filled);
  steps_.columns = std::move(batch);
  shape_.steps = steps;
  observations_ = Rows(*shape_.observations, steps_.columns, column::kObservations);
  rewards_ = steps_.columns.column<float>(column::kRewards);
  info_.clear();
  for (const std::string& name : shape_.info) {
    info_.push_back(steps_.columns.column<double>("info/" + name));
  }
}

void FragmentBuilder::make_room(std::int64_t step) {
  if (step >= shape_.steps) allocate(2 * shape_.steps);
}

void FragmentBuilder::stay(int env, std::int64_t step) {
  const std::int64_t row = step * shape_.num_envs + env;
  copy_row(observations_, row, observations_, row + shape_.num_envs);
}

std::span<float> FragmentBuilder::rewards(std::int64_t step) const {
  const auto n = static_cast<std::size_t>(shape_.num_envs);
  return rewards_.span().subspan(static_cast<std::size_t>(step) * n, n);
}

/// A row an env.
void FragmentBuilder::copy_column(std::int64_t step, std::size_t to, const std::byte* from) {
  const std::size_t bytes = at(shape_.num_envs) * steps_.columns.row_bytes(to);
  std::memcpy(steps_.columns.data(to) + static_cast<std::size_t>(step) * bytes, from, bytes);
}

void FragmentBuilder::add_policy_columns(std::int64_t step, const RecordBatch& said) {
  for (std::size_t k = 0; k < policy_columns_.size(); ++k) {
    copy_column(step, policy_columns_[k], said.data(said.index_of(shape_.policy_columns[k].name)));
  }
}

void FragmentBuilder::add_memory(std::int64_t step) {
  for (std::size_t k = 0; k < memory_columns_.size(); ++k) {
    copy_column(step, memory_columns_[k], shape_.memory->data(k));
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

PolicySteps FragmentBuilder::finish(std::int64_t steps) {
  bool idle = false;
  for (int env = 0; env < shape_.num_envs; ++env) {
    const Open& open = open_[at(env)];
    idle = idle || (open.stopped && open.first_step < steps);
    if (open.stopped || open.first_step == steps) continue;
    end_segment(env, steps, Ending::cut, observations_, steps * shape_.num_envs + env);
  }
  steps_.columns.set_rows(steps * shape_.num_envs);
  steps_.bootstrap.set_rows(bootstrap_rows_);
  if (idle) drop_idle_rows();
  return std::move(steps_);
}

/// Leaves only rows of segments, one segment after the other.
void FragmentBuilder::drop_idle_rows() {
  std::vector<std::int32_t> rows;
  for (Segment& segment : steps_.segments) {
    const std::int64_t first = std::ssize(rows);
    for (std::int64_t step = 0; step < segment.length; ++step) {
      rows.push_back(static_cast<std::int32_t>(segment.row(step)));
    }
    segment.first_row = first;
    segment.row_stride = 1;
  }
  RecordBatch packed(steps_.columns.columns(), std::ssize(rows));
  packed.gather(steps_.columns, rows);
  steps_.columns = std::move(packed);
}

void FragmentBuilder::end_segment(int env, std::int64_t end_step, Ending ending, const Rows& from,
                                  std::int64_t from_row) {
  if (bootstrap_rows_ == steps_.bootstrap.rows()) grow_bootstrap(2 * bootstrap_rows_);
  copy_row(from, from_row, bootstrap_, bootstrap_rows_);
  for (std::size_t k = 0; k < memory_columns_.size(); ++k) {
    const std::size_t to = steps_.bootstrap.index_of(shape_.memory->columns()[k].name);
    const std::size_t bytes = steps_.bootstrap.row_bytes(to);
    std::memcpy(steps_.bootstrap.data(to) + static_cast<std::size_t>(bootstrap_rows_) * bytes,
                shape_.memory->data(k) + at(env) * bytes, bytes);
  }
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
  if (shape_.memory) {
    columns.insert(columns.end(), shape_.memory->columns().begin(), shape_.memory->columns().end());
  }
  RecordBatch larger(std::move(columns), rows);
  if (bootstrap_rows_ > 0) larger.copy_rows(0, steps_.bootstrap, 0, bootstrap_rows_);
  steps_.bootstrap = std::move(larger);
  bootstrap_ = Rows(*shape_.observations, steps_.bootstrap, column::kObservations);
}

Rows FragmentBuilder::bootstrap_rows(const SpaceLayout& layout, PolicySteps& steps) {
  return {layout, steps.bootstrap, column::kObservations};
}

}  // namespace knurl
