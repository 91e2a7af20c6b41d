#include "knurl/models/fast/net_policy.h"

#include <algorithm>

#include "knurl/core/base/check.h"
#include "knurl/core/base/error.h"
#include "knurl/models/columns.h"
#include "knurl/models/noisy.h"

namespace knurl {

NetPolicy::NetPolicy(Parts parts)
    : action_layout_(std::move(parts.actions)),
      distribution_(distribution_for(action_layout_.space(), parts.action_options.box)),
      adapter_(action_layout_, parts.action_options),
      mask_(std::move(parts.mask)),
      encoder_(mask_.rest(parts.observations), parts.net.extras),
      exploration_(std::move(parts.exploration)),
      spec_(std::move(parts.net)),
      net_(without_noise(spec_)),
      q_head_(parts.q_head),
      noise_(std::move(parts.noise)),
      distribution_columns_(parts.distribution_columns),
      weights_{.tensors = RecordBatch(tensors_of(spec_), 1)},
      has_values_(std::ranges::count(spec_.outputs, column::kValues, &NetOutput::name) > 0),
      memory_columns_(memory_of(spec_).size()) {
  const auto sde = std::ranges::find(spec_.layers, LayerKind::sde_log_std, &LayerSpec::kind);
  if (sde != spec_.layers.end()) {
    sde_layer_ = static_cast<std::size_t>(sde - spec_.layers.begin());
  }
  if (q_head_) combined_.resize(static_cast<std::size_t>(q_head_->size()));
}

std::vector<ColumnSpec> NetPolicy::output_columns() const {
  std::vector<ColumnSpec> out{action_column(distribution_)};
  if (distribution_columns_) {
    out.push_back({column::kActionLogProb, DType::float32, {}});
    out.push_back({column::kDistInputs, DType::float32, {num_inputs(distribution_)}});
  }
  if (has_values_) out.push_back({column::kValues, DType::float32, {}});
  return out;
}

void NetPolicy::make_room(std::int64_t rows) {
  if (columns_.rows() >= rows && !columns_.columns().empty()) return;
  columns_ = RecordBatch(output_columns(), rows);
  env_action_columns_ = RecordBatch(action_layout_.columns(column::kActions), rows);
  env_actions_ = Rows(action_layout_, env_action_columns_, column::kActions);
}

void NetPolicy::forward(const PolicyInput& input) {
  check(input.memory != nullptr || memory_columns_ == 0, "a policy with a memory is given it");
  inputs_ = encoder_.encode(mask_.rest(input.observations), input.rows, input.memory);
  net_.forward(inputs_, input.rows, encoder_.size(), input.memory);
}

/// Notes what the next step of each row is to read.
void NetPolicy::remember(const PolicyInput& input) const {
  if (const auto layer = lstm_layer(spec_)) {
    const auto h = input.memory->column<float>(column::kStateH);
    const auto c = input.memory->column<float>(column::kStateC);
    const fast::FastNet::Output out = net_.layer_output(*layer);
    const fast::FastNet::Output cells = net_.lstm_cells();
    for (std::int64_t row = 0; row < input.rows; ++row) {
      std::ranges::copy(out.row(row), h.row(row).data());
      std::ranges::copy(cells.row(row), c.row(row).data());
    }
  }
  if (std::ranges::count(spec_.extras, column::kPreviousActions, &ColumnSpec::name) > 0) {
    encode_actions(distribution_, columns_, input.rows,
                   input.memory->column<float>(column::kPreviousActions));
  }
}

/// Combines one row's scores of the last forward into combined_.
void NetPolicy::combine_row(std::int64_t row) {
  const float* state =
      q_head_->dueling ? net_.output(column::kStateScores).row(row).data() : nullptr;
  q_head_->combine(net_.output(column::kActionScores).row(row).data(), state, combined_.data());
}

/// What the distribution reads of the last forward.
DistributionRows NetPolicy::distribution_inputs(std::int64_t rows) {
  if (!q_head_) {
    const fast::FastNet::Output out = net_.output(column::kDistInputs);
    return {.data = out.data, .rows = rows, .stride = out.stride, .sde = sde_features()};
  }
  q_.resize(static_cast<std::size_t>(rows * q_head_->actions));
  for (std::int64_t row = 0; row < rows; ++row) {
    combine_row(row);
    q_head_->values(combined_.data(), q_.data() + row * q_head_->actions);
  }
  return {.data = q_.data(), .rows = rows, .stride = q_head_->actions};
}

/// The same without the actions that observations do not allow.
DistributionRows NetPolicy::masked(const DistributionRows& in, const ConstRows& observations) {
  if (!mask_) return in;
  const auto size = static_cast<std::size_t>(num_inputs(distribution_));
  masked_.resize(static_cast<std::size_t>(in.rows) * size);
  for (std::int64_t row = 0; row < in.rows; ++row) {
    if (!mask_.allows_any(observations, row)) {
      fail(ErrorKind::env, "observation {}: its action mask allows no action", row);
    }
    const std::span<float> logits =
        std::span(masked_).subspan(static_cast<std::size_t>(row) * size, size);
    std::copy_n(in.data + row * in.stride, size, logits.begin());
    mask_.apply(observations, row, logits);
  }
  return {.data = masked_.data(), .rows = in.rows, .stride = static_cast<std::int64_t>(size)};
}

SdeFeatures NetPolicy::sde_features() const {
  if (!sde_layer_) return {};
  const LayerSpec& layer = spec_.layers[*sde_layer_];
  SdeFeatures out{.data = inputs_,
                  .stride = encoder_.size(),
                  .size = layer.inputs,
                  .actions = layer.outputs,
                  .log_std = weights_.tensors.column<float>(layer.name + ".value").data()};
  if (layer.source) {
    const fast::FastNet::Output features = net_.layer_output(*layer.source);
    out.data = features.data;
    out.stride = features.stride;
  }
  return out;
}

PolicyOutput NetPolicy::act(const PolicyInput& input) {
  make_room(input.rows);
  forward(input);
  const DistributionRows in = masked(distribution_inputs(input.rows), input.observations);
  exploration_->choose(distribution_, in, input.rngs, columns_);
  if (distribution_columns_) add_distribution_columns(in);
  if (has_values_) {
    const fast::FastNet::Output value = net_.output(column::kValues);
    const auto values = columns_.column<float>(column::kValues);
    for (std::int64_t row = 0; row < input.rows; ++row) values[row] = value.row(row)[0];
  }
  adapter_.to_env(columns_, input.rows, env_actions_);
  if (memory_columns_ > 0) remember(input);
  return {.columns = &columns_, .env_actions = env_actions_};
}

void NetPolicy::add_distribution_columns(const DistributionRows& in) {
  const auto log_prob = columns_.column<float>(column::kActionLogProb);
  const auto dist_inputs = columns_.column<float>(column::kDistInputs);
  std::visit(
      [&](const auto& d) {
        using Element = typename std::remove_cvref_t<decltype(d)>::Element;
        const auto actions = columns_.column<Element>(column::kActions);
        for (std::int64_t row = 0; row < in.rows; ++row) {
          const float* x = in.data + row * in.stride;
          std::copy(x, x + d.inputs(), dist_inputs.row(row).data());
          log_prob[row] = d.log_prob(x, actions.row(row).data());
        }
      },
      distribution_);
}

void NetPolicy::q_values(const ConstRows& observations, std::int64_t rows, std::span<float> out) {
  check(q_head_.has_value(), "only a Q net gives action values");
  forward({.observations = observations, .rows = rows});
  const DistributionRows q = distribution_inputs(rows);
  std::copy_n(q.data, rows * q.stride, out.data());
}

void NetPolicy::q_distributions(const ConstRows& observations, std::int64_t rows,
                                std::span<float> out) {
  check(q_head_.has_value(), "only a Q net gives distributions of values");
  forward({.observations = observations, .rows = rows});
  const auto atoms = static_cast<std::size_t>(q_head_->atoms);
  for (std::int64_t row = 0; row < rows; ++row) {
    combine_row(row);
    for (int action = 0; action < q_head_->actions; ++action) {
      q_head_->probabilities(combined_.data(), action, out.first(atoms));
      out = out.subspan(atoms);
    }
  }
}

void NetPolicy::values(const PolicyInput& input, std::span<float> out) {
  forward(input);
  const fast::FastNet::Output value = net_.output(column::kValues);
  for (std::int64_t row = 0; row < input.rows; ++row) {
    out[static_cast<std::size_t>(row)] = value.row(row)[0];
  }
}

void NetPolicy::set_weights(const Weights& weights) {
  require_same_tensors(weights.tensors, weights_.tensors);
  weights_ = weights;
  if (!has_noise(spec_)) return net_.set_weights(weights_);
  std::optional<RecordBatch> noise;
  if (noise_) {
    noise =
        draw_noise(spec_, noise_->split("weights", static_cast<std::uint64_t>(weights.version)));
  }
  net_.set_weights(plain_weights(spec_, weights_, noise ? &*noise : nullptr));
}

std::string NetPolicy::summary(const std::string& part) const {
  return knurl::summary(spec_, part);
}

}  // namespace knurl
