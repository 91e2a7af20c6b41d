#include "knurl/algorithms/ppo/ppo_batch.h"

#include <algorithm>
#include <cstring>
#include <functional>
#include <utility>

#include "knurl/algorithms/losses/gae.h"
#include "knurl/algorithms/losses/ppo_loss.h"
#include "knurl/models/columns.h"
#include "knurl/models/observation_encoder.h"

namespace knurl {
namespace {

constexpr const char* kFromPolicy[] = {column::kActions, column::kActionLogProb,
                                       column::kDistInputs, column::kValues};

std::vector<ColumnSpec> batch_columns(const RecordBatch& steps, int net_inputs) {
  std::vector<ColumnSpec> out{{column::kNetInputs, DType::float32, {net_inputs}}};
  for (const char* name : kFromPolicy) out.push_back(steps.columns()[steps.index_of(name)]);
  out.push_back({column::kAdvantages, DType::float32, {}});
  out.push_back({column::kValueTargets, DType::float32, {}});
  return out;
}

/// Copies a fragment's steps to the batch's rows from `first` on, and judges them.
void add_steps(const PolicySteps& steps, std::int64_t first, const JudgeOptions& options,
               RecordBatch& batch) {
  const auto at = static_cast<std::size_t>(first);
  const auto size = static_cast<std::size_t>(steps.columns.rows());
  for (const char* name : kFromPolicy) {
    const std::size_t from = steps.columns.index_of(name);
    const std::size_t to = batch.index_of(name);
    const std::size_t bytes = batch.row_bytes(to);
    std::memcpy(batch.data(to) + at * bytes, steps.columns.data(from), size * bytes);
  }
  const std::vector<float> nothing(
      options.use_critic ? 0 : std::max(size, static_cast<std::size_t>(steps.bootstrap.rows())));
  const auto values_of = [&](const RecordBatch& columns) {
    return options.use_critic ? columns.column<float>(column::kValues).span()
                              : std::span<const float>(nothing);
  };
  gae({.segments = steps.segments,
       .rewards = steps.columns.column<float>(column::kRewards).span(),
       .values = values_of(steps.columns),
       .bootstrap_values = values_of(steps.bootstrap),
       .gamma = static_cast<float>(options.gamma),
       .lambda = static_cast<float>(options.use_critic ? options.lambda : 1.0)},
      batch.column<float>(column::kAdvantages).span().subspan(at, size),
      batch.column<float>(column::kValueTargets).span().subspan(at, size));
}

/// Cuts the segments into sequences, for a recurrent net.
void add_sequences(const std::vector<Fragment>& fragments, const BatchReader& reader,
                   PpoBatch& batch) {
  const std::vector<ColumnSpec> state = state_of(reader.net);
  if (state.empty()) return;
  std::vector<std::pair<const PolicySteps*, std::int64_t>> starts;  // rows of fragments
  std::int32_t first = 0;
  for (const SegmentPlace& place : in_order(fragments)) {
    const std::int64_t length = place.segment->length;
    for (std::int64_t step = 0; step < length; step += reader.max_seq_len) {
      const auto steps =
          static_cast<std::int32_t>(std::min<std::int64_t>(reader.max_seq_len, length - step));
      batch.sequences.push_back({.first = first, .length = steps});
      starts.emplace_back(&fragments[place.fragment].policies[0], place.segment->row(step));
      first += steps;
    }
  }
  batch.states = RecordBatch(state, std::ssize(starts));
  for (const ColumnSpec& column : state) {
    const auto to = batch.states.column<float>(column.name);
    for (std::size_t i = 0; i < starts.size(); ++i) {
      const auto from = starts[i].first->columns.column<float>(column.name);
      std::ranges::copy(from.row(starts[i].second), to.row(static_cast<std::int64_t>(i)).data());
    }
  }
}

}  // namespace

PpoBatch make_ppo_batch(const std::vector<Fragment>& fragments, const BatchReader& reader,
                        const JudgeOptions& options) {
  std::vector<std::int64_t> first_rows;
  std::int64_t rows = 0;
  for (const Fragment& fragment : fragments) {
    first_rows.push_back(rows);
    rows += fragment.policies[0].columns.rows();
  }
  ObservationEncoder encoder(reader.mask.rest(reader.observations), reader.net.extras);
  PpoBatch batch{
      .rows = RecordBatch(batch_columns(fragments[0].policies[0].columns, encoder.size()), rows),
      .order = {}};
  const auto net_inputs = batch.rows.column<float>(column::kNetInputs);
  for (std::size_t i = 0; i < fragments.size(); ++i) {
    const PolicySteps& steps = fragments[i].policies[0];
    const std::int64_t count = steps.columns.rows();
    const ConstRows seen(reader.observations, steps.columns, column::kObservations);
    std::copy_n(encoder.encode(reader.mask.rest(seen), count, &steps.columns),
                count * encoder.size(), net_inputs.row(first_rows[i]).data());
    add_steps(steps, first_rows[i], options, batch.rows);
  }
  for (const SegmentPlace& place : in_order(fragments)) {
    for (std::int64_t step = 0; step < place.segment->length; ++step) {
      batch.order.push_back(
          static_cast<std::int32_t>(first_rows[place.fragment] + place.segment->row(step)));
    }
  }
  add_sequences(fragments, reader, batch);
  return batch;
}

PackedSequences pack(const PpoBatch& batch, std::span<const std::int32_t> chosen) {
  const auto sequence = [&](std::int32_t i) -> const PpoBatch::Sequence& {
    return batch.sequences[static_cast<std::size_t>(i)];
  };
  std::vector<std::int32_t> longest_first(chosen.begin(), chosen.end());
  std::ranges::stable_sort(longest_first, std::greater{},
                           [&](std::int32_t i) { return sequence(i).length; });
  PackedSequences out;
  const std::int32_t steps = chosen.empty() ? 0 : sequence(longest_first.front()).length;
  for (std::int32_t step = 0; step < steps; ++step) {
    const auto before = std::ssize(out.rows);
    for (const std::int32_t i : longest_first) {
      if (sequence(i).length <= step) break;
      out.rows.push_back(batch.order[static_cast<std::size_t>(sequence(i).first + step)]);
    }
    out.sequences.batch_sizes.push_back(std::ssize(out.rows) - before);
  }
  out.sequences.states = RecordBatch(batch.states.columns(), std::ssize(longest_first));
  out.sequences.states.gather(batch.states, longest_first);
  return out;
}

void standardise_advantages(PpoBatch& batch) {
  const auto advantages = batch.rows.column<float>(column::kAdvantages);
  std::vector<float> ordered;
  ordered.reserve(batch.order.size());
  for (const std::int32_t row : batch.order) ordered.push_back(advantages[row]);
  standardise(ordered);
  for (std::size_t i = 0; i < ordered.size(); ++i) advantages[batch.order[i]] = ordered[i];
}

}  // namespace knurl
