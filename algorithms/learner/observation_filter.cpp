#include "knurl/algorithms/learner/observation_filter.h"

#include <algorithm>
#include <cmath>

#include "knurl/core/base/error.h"

namespace knurl {
namespace {

constexpr const char* kStateFile = "observation_filter.safetensors";

}  // namespace

void RunningMoments::add(const float* row) {
  ++count_;
  for (std::size_t i = 0; i < mean_.size(); ++i) {
    const double from_old = row[i] - mean_[i];
    mean_[i] += from_old / static_cast<double>(count_);
    squares_[i] += from_old * (row[i] - mean_[i]);
  }
}

double RunningMoments::variance(std::size_t index) const {
  return count_ < 2 ? 1.0 : squares_[index] / static_cast<double>(count_ - 1);
}

RecordBatch RunningMoments::state() const {
  const auto width = std::ssize(mean_);
  RecordBatch out({{"count", DType::int64, {}},
                   {"mean", DType::float64, {width}},
                   {"squares", DType::float64, {width}}},
                  1);
  out.column<std::int64_t>("count")[0] = count_;
  std::ranges::copy(mean_, out.column<double>("mean").data());
  std::ranges::copy(squares_, out.column<double>("squares").data());
  return out;
}

void RunningMoments::restore(const RecordBatch& state) {
  if (state.columns() != this->state().columns()) {
    fail(ErrorKind::checkpoint, "the running statistics are of other observations");
  }
  count_ = state.column<std::int64_t>("count")[0];
  std::ranges::copy(state.column<double>("mean").span(), mean_.begin());
  std::ranges::copy(state.column<double>("squares").span(), squares_.begin());
}

void ObservationFilter::write(RecordBatch& parameters) const {
  const auto mean = parameters.column<float>("filter.mean").span();
  const auto scale = parameters.column<float>("filter.scale").span();
  for (std::size_t i = 0; i < mean.size(); ++i) {
    mean[i] = static_cast<float>(moments_.mean()[i]);
    scale[i] = static_cast<float>(1.0 / (std::sqrt(moments_.variance(i)) + epsilon_));
  }
}

void ObservationFilter::save(CheckpointData& out) const {
  out.add_tensors(kStateFile, moments_.state());
}

void ObservationFilter::load(const CheckpointData& in) {
  moments_.restore(in.tensors(kStateFile));
}

}  // namespace knurl
