#include "knurl/algorithms/rollout/reward_filter.h"

#include <algorithm>
#include <cmath>

#include "knurl/models/columns.h"

namespace knurl {
namespace {

constexpr const char* kMomentsFile = "reward_filter.safetensors";
constexpr const char* kSumsFile = "reward_sums.safetensors";
constexpr float kClip = 10.0F;

}  // namespace

void RewardFilter::apply(std::vector<Fragment>& fragments) {
  for (const SegmentPlace& place : in_order(fragments)) {
    const Segment& segment = *place.segment;
    const auto rewards =
        fragments[place.fragment].policies[0].columns.column<float>(column::kRewards);
    double& sum = sums_[segment.env];
    for (std::int64_t step = 0; step < segment.length; ++step) {
      sum = gamma_ * sum + rewards[segment.row(step)];
      const auto seen = static_cast<float>(sum);
      moments_.add(&seen);
    }
    if (segment.ending != Ending::cut) sum = 0.0;
  }
  const auto scale = static_cast<float>(1.0 / std::sqrt(moments_.variance(0) + epsilon_));
  for (Fragment& fragment : fragments) {
    for (float& reward : fragment.policies[0].columns.column<float>(column::kRewards).span()) {
      reward = std::clamp(reward * scale, -kClip, kClip);
    }
  }
}

void RewardFilter::save(CheckpointData& out) const {
  out.add_tensors(kMomentsFile, moments_.state());
  const auto count = std::ssize(sums_);
  RecordBatch sums({{"env", DType::int64, {count}}, {"sum", DType::float64, {count}}}, 1);
  std::size_t i = 0;
  for (const auto& [env, sum] : sums_) {
    sums.column<std::int64_t>("env").span()[i] = env;
    sums.column<double>("sum").span()[i++] = sum;
  }
  out.add_tensors(kSumsFile, sums);
}

void RewardFilter::load(const CheckpointData& in) {
  moments_.restore(in.tensors(kMomentsFile));
  const RecordBatch sums = in.tensors(kSumsFile);
  sums_.clear();
  const auto envs = sums.column<std::int64_t>("env").span();
  for (std::size_t i = 0; i < envs.size(); ++i) {
    sums_[static_cast<int>(envs[i])] = sums.column<double>("sum").span()[i];
  }
}

}  // namespace knurl
