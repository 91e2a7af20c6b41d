#include "knurl/models/fast/net_policy.h"

#include <algorithm>

#include "knurl/models/columns.h"

namespace knurl {

NetPolicy::NetPolicy(Parts parts)
    : action_layout_(std::move(parts.actions)),
      distribution_(distribution_for(action_layout_.space())),
      adapter_(action_layout_, parts.action_options),
      encoder_(parts.observations),
      exploration_(std::move(parts.exploration)),
      net_(std::move(parts.net)),
      weights_{.tensors = RecordBatch(tensors_of(net_.spec()), 1)},
      has_values_(std::ranges::count(net_.spec().outputs, column::kValues, &NetOutput::name) > 0) {}

std::vector<ColumnSpec> NetPolicy::output_columns() const {
  std::vector<ColumnSpec> out{action_column(distribution_),
                              {column::kActionLogProb, DType::float32, {}},
                              {column::kDistInputs, DType::float32, {num_inputs(distribution_)}}};
  if (has_values_) out.push_back({column::kValues, DType::float32, {}});
  return out;
}

void NetPolicy::make_room(std::int64_t rows) {
  if (columns_.rows() >= rows && !columns_.columns().empty()) return;
  columns_ = RecordBatch(output_columns(), rows);
  env_action_columns_ = RecordBatch(action_layout_.columns(column::kActions), rows);
  env_actions_ = Rows(action_layout_, env_action_columns_, column::kActions);
}

void NetPolicy::forward(const ConstRows& observations, std::int64_t rows) {
  net_.forward(encoder_.encode(observations, rows), rows, encoder_.size());
}

PolicyOutput NetPolicy::act(const PolicyInput& input) {
  make_room(input.rows);
  forward(input.observations, input.rows);
  const fast::FastNet::Output net_inputs = net_.output(column::kDistInputs);
  const DistributionRows in{
      .data = net_inputs.data, .rows = input.rows, .stride = net_inputs.stride};
  exploration_->choose(distribution_, in, input.rngs, columns_);

  const auto log_prob = columns_.column<float>(column::kActionLogProb);
  const auto dist_inputs = columns_.column<float>(column::kDistInputs);
  std::visit(
      [&](const auto& d) {
        using Element = typename std::remove_cvref_t<decltype(d)>::Element;
        const auto actions = columns_.column<Element>(column::kActions);
        for (std::int64_t row = 0; row < input.rows; ++row) {
          const float* x = in.data + row * in.stride;
          std::copy(x, x + d.inputs(), dist_inputs.row(row).data());
          log_prob[row] = d.log_prob(x, actions.row(row).data());
        }
      },
      distribution_);
  if (has_values_) {
    const fast::FastNet::Output value = net_.output(column::kValues);
    const auto values = columns_.column<float>(column::kValues);
    for (std::int64_t row = 0; row < input.rows; ++row) values[row] = value.row(row)[0];
  }
  adapter_.to_env(columns_, input.rows, env_actions_);
  return {.columns = &columns_, .env_actions = env_actions_};
}

void NetPolicy::values(const ConstRows& observations, std::int64_t rows, std::span<float> out) {
  forward(observations, rows);
  const fast::FastNet::Output value = net_.output(column::kValues);
  for (std::int64_t row = 0; row < rows; ++row) {
    out[static_cast<std::size_t>(row)] = value.row(row)[0];
  }
}

void NetPolicy::set_weights(const Weights& weights) {
  require_same_tensors(weights.tensors, weights_.tensors);
  net_.set_weights(weights);
  weights_ = weights;
}

std::string NetPolicy::summary() const {
  return knurl::summary(net_.spec());
}

}  // namespace knurl
