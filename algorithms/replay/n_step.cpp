#include "knurl/algorithms/replay/n_step.h"

#include <cmath>
#include <cstring>

#include "knurl/core/base/error.h"
#include "knurl/models/columns.h"

namespace knurl {
namespace {

void copy_row(const ConstRow& from, const Row& to) {
  const std::vector<Leaf>& leaves = from.layout().leaves();
  for (std::size_t leaf = 0; leaf < leaves.size(); ++leaf) {
    std::memcpy(to.bytes(leaf), from.bytes(leaf), leaves[leaf].bytes());
  }
}

std::vector<ColumnSpec> waiting_columns(const SpaceLayout& observations) {
  std::vector<ColumnSpec> out = observations.columns(column::kObservations);
  out.push_back({column::kActions, DType::int64, {}});
  out.push_back({column::kRewards, DType::float32, {}});
  return out;
}

}  // namespace

NStepFolder::NStepFolder(int n, double gamma, SpaceLayout observations)
    : n_(n),
      gamma_(gamma),
      observations_(std::move(observations)),
      columns_(waiting_columns(observations_)) {
  for (ColumnSpec& column : observations_.columns(column::kNextObservations)) {
    columns_.push_back(std::move(column));
  }
  columns_.push_back({column::kDiscounts, DType::float32, {}});
}

void NStepFolder::add(const std::vector<Fragment>& fragments, const std::function<Place()>& next) {
  for (const SegmentPlace& place : in_order(fragments)) {
    add_segment(fragments[place.fragment].policies[0], *place.segment, next);
  }
}

NStepFolder::Waiting& NStepFolder::waiting_of(int env) {
  Waiting& waiting = waiting_[env];
  if (waiting.steps.columns().empty()) {
    waiting.steps = RecordBatch(waiting_columns(observations_), n_);
  }
  return waiting;
}

void NStepFolder::add_segment(const PolicySteps& steps, const Segment& segment,
                              const std::function<Place()>& next) {
  Waiting& waiting = waiting_of(segment.env);
  const ConstRows seen(observations_, steps.columns, column::kObservations);
  const ConstRows ends(observations_, steps.bootstrap, column::kObservations);
  const Rows kept(observations_, waiting.steps, column::kObservations);
  const auto actions = steps.columns.column<std::int64_t>(column::kActions);
  const auto rewards = steps.columns.column<float>(column::kRewards);
  for (std::int64_t step = 0; step < segment.length; ++step) {
    const std::int64_t row = segment.row(step);
    const std::int64_t slot = (waiting.first + waiting.count++) % n_;
    copy_row(ConstRow(seen, row), Row(kept, slot));
    waiting.steps.column<std::int64_t>(column::kActions)[slot] = actions[row];
    waiting.steps.column<float>(column::kRewards)[slot] = rewards[row];

    const bool last = step + 1 == segment.length;
    const ConstRow after =
        last ? ConstRow(ends, segment.bootstrap_row) : ConstRow(seen, segment.row(step + 1));
    const bool ended = last && segment.ending != Ending::cut;
    const bool terminal = last && segment.ending == Ending::terminated;
    while (waiting.count == n_ || (ended && waiting.count > 0)) {
      fold(waiting, after, terminal, next);
    }
  }
}

void NStepFolder::fold(Waiting& waiting, const ConstRow& after, bool terminal,
                       const std::function<Place()>& next) const {
  const auto rewards = waiting.steps.column<float>(column::kRewards);
  double sum = 0.0;
  double discount = 1.0;
  for (std::int64_t k = 0; k < waiting.count; ++k) {
    sum += discount * rewards[(waiting.first + k) % n_];
    discount *= gamma_;
  }
  const Place place = next();
  const Rows first(observations_, *place.batch, column::kObservations);
  const Rows then(observations_, *place.batch, column::kNextObservations);
  const Rows kept(observations_, waiting.steps, column::kObservations);
  copy_row(ConstRow(ConstRows(kept), waiting.first), Row(first, place.row));
  copy_row(after, Row(then, place.row));
  place.batch->column<std::int64_t>(column::kActions)[place.row] =
      waiting.steps.column<std::int64_t>(column::kActions)[waiting.first];
  place.batch->column<float>(column::kRewards)[place.row] = static_cast<float>(sum);
  place.batch->column<float>(column::kDiscounts)[place.row] =
      terminal ? 0.0F : static_cast<float>(discount);
  waiting.first = (waiting.first + 1) % n_;
  --waiting.count;
}

void NStepFolder::save(ByteWriter& out) const {
  write(out, waiting_.size());
  for (const auto& [env, waiting] : waiting_) {
    write(out, env);
    write(out, waiting.first);
    write(out, waiting.count);
    write(out, waiting.steps);
  }
}

void NStepFolder::load(ByteReader& in) {
  waiting_.clear();
  for (auto left = read<std::size_t>(in); left > 0; --left) {
    const int env = read<int>(in);
    Waiting& waiting = waiting_[env];
    waiting.first = read<std::int64_t>(in);
    waiting.count = read<std::int64_t>(in);
    waiting.steps = read<RecordBatch>(in);
    const bool whole = waiting.steps.columns() == waiting_columns(observations_) &&
                       waiting.steps.rows() == n_ && waiting.first >= 0 && waiting.first < n_ &&
                       waiting.count >= 0 && waiting.count < n_;
    if (!whole)
      fail(ErrorKind::checkpoint, "steps that wait for replay are of another n_step or env");
  }
}

}  // namespace knurl
