#include "knurl/algorithms/ppo/ppo_batch.h"

#include <algorithm>
#include <cstring>

#include "knurl/algorithms/losses/gae.h"
#include "knurl/algorithms/losses/ppo_loss.h"
#include "knurl/models/observation_encoder.h"

namespace knurl {
namespace {

constexpr const char* kFromPolicy[] = {"actions", "action_logp", "action_dist_inputs", "vf_preds"};

std::vector<ColumnSpec> batch_columns(const RecordBatch& steps, int net_inputs) {
  std::vector<ColumnSpec> out{{"net_inputs", DType::float32, {net_inputs}}};
  for (const char* name : kFromPolicy) out.push_back(steps.columns()[steps.index_of(name)]);
  out.push_back({"advantages", DType::float32, {}});
  out.push_back({"value_targets", DType::float32, {}});
  return out;
}

/// A segment's place in the batch's order, and its rows.
struct Run {
  int env;
  std::int64_t fragment;  ///< rounds of sampling, in order of time
  std::int64_t first_row;
  const Segment* segment;
};

std::vector<std::int32_t> order_of(std::vector<Run> runs) {
  std::ranges::sort(runs, [](const Run& a, const Run& b) {
    return std::tie(a.env, a.fragment, a.first_row) < std::tie(b.env, b.fragment, b.first_row);
  });
  std::vector<std::int32_t> order;
  for (const Run& run : runs) {
    for (std::int64_t step = 0; step < run.segment->length; ++step) {
      order.push_back(static_cast<std::int32_t>(run.first_row + step * run.segment->row_stride));
    }
  }
  return order;
}

}  // namespace

PPOBatch make_ppo_batch(const std::vector<Fragment>& fragments, const SpaceLayout& observations,
                        double gamma, double lambda) {
  ObservationEncoder encoder(observations);
  std::int64_t rows = 0;
  for (const Fragment& fragment : fragments) rows += fragment.policies[0].columns.rows();
  PPOBatch batch{
      .rows = RecordBatch(batch_columns(fragments[0].policies[0].columns, encoder.size()), rows),
      .order = {}};
  std::vector<Run> runs;
  std::int64_t first = 0;
  std::int64_t number = 0;
  for (const Fragment& fragment : fragments) {
    const PolicySteps& steps = fragment.policies[0];
    const std::int64_t count = steps.columns.rows();
    const auto at = static_cast<std::size_t>(first);
    const auto size = static_cast<std::size_t>(count);
    const float* inputs = encoder.encode(ConstRows(observations, steps.columns, "obs"), count);
    const auto net_inputs = batch.rows.column<float>("net_inputs");
    std::copy_n(inputs, count * encoder.size(), net_inputs.row(first).data());
    for (const char* name : kFromPolicy) {
      const std::size_t from = steps.columns.index_of(name);
      const std::size_t to = batch.rows.index_of(name);
      const std::size_t bytes = batch.rows.row_bytes(to);
      std::memcpy(batch.rows.data(to) + at * bytes, steps.columns.data(from), size * bytes);
    }
    gae({.segments = steps.segments,
         .rewards = steps.columns.column<float>("rewards").span(),
         .values = steps.columns.column<float>("vf_preds").span(),
         .bootstrap_values = steps.bootstrap.column<float>("vf_preds").span(),
         .gamma = static_cast<float>(gamma),
         .lambda = static_cast<float>(lambda)},
        batch.rows.column<float>("advantages").span().subspan(at, size),
        batch.rows.column<float>("value_targets").span().subspan(at, size));
    for (const Segment& segment : steps.segments) {
      runs.push_back({segment.env, number, first + segment.first_row, &segment});
    }
    first += count;
    ++number;
  }
  batch.order = order_of(std::move(runs));
  return batch;
}

void standardise_advantages(PPOBatch& batch) {
  const auto advantages = batch.rows.column<float>("advantages");
  std::vector<float> ordered;
  ordered.reserve(batch.order.size());
  for (const std::int32_t row : batch.order) ordered.push_back(advantages[row]);
  standardise(ordered);
  for (std::size_t i = 0; i < ordered.size(); ++i) advantages[batch.order[i]] = ordered[i];
}

}  // namespace knurl
