#include "knurl/algorithms/learner/observation_filter.h"

#include <algorithm>
#include <cmath>

#include "knurl/core/base/error.h"

namespace knurl {
namespace {

constexpr const char* kStateFile = "observation_filter.safetensors";
constexpr const char* kCount = "count";

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

void RunningMoments::assume(std::int64_t count, std::span<const double> mean,
                            std::span<const double> variance) {
  count_ = count;
  const auto freedoms = static_cast<double>(std::max<std::int64_t>(count - 1, 0));
  std::ranges::copy(mean, mean_.begin());
  std::ranges::transform(variance, squares_.begin(), [&](double v) { return freedoms * v; });
}

RecordBatch RunningMoments::state() const {
  const auto width = std::ssize(mean_);
  RecordBatch out({{kCount, DType::int64, {}},
                   {"mean", DType::float64, {width}},
                   {"squares", DType::float64, {width}}},
                  1);
  out.column<std::int64_t>(kCount)[0] = count_;
  std::ranges::copy(mean_, out.column<double>("mean").data());
  std::ranges::copy(squares_, out.column<double>("squares").data());
  return out;
}

void RunningMoments::restore(const RecordBatch& state) {
  if (state.columns() != this->state().columns()) {
    fail(ErrorKind::checkpoint, "the running statistics are of other observations");
  }
  count_ = state.column<std::int64_t>(kCount)[0];
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

void ObservationFilter::read(const RecordBatch& parameters, std::int64_t observed) {
  const auto mean = parameters.column<float>("filter.mean").span();
  const auto scale = parameters.column<float>("filter.scale").span();
  std::vector<double> variance;
  for (const float s : scale) {
    const double deviation = std::max(1.0 / static_cast<double>(s) - epsilon_, 0.0);
    variance.push_back(deviation * deviation);
  }
  moments_.assume(observed, std::vector<double>(mean.begin(), mean.end()), variance);
}

void ObservationFilter::save(CheckpointData& out) const {
  out.add_tensors(kStateFile, moments_.state());
}

std::int64_t ObservationFilter::observed_in(const CheckpointData& state) {
  if (!state.has(kStateFile)) return 0;
  const RecordBatch moments = state.tensors(kStateFile);
  return moments.has(kCount) ? moments.column<std::int64_t>(kCount)[0] : 0;
}

void ObservationFilter::load(const CheckpointData& in) {
  moments_.restore(in.tensors(kStateFile));
}

}  // namespace knurl
