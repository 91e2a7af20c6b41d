#include "knurl/envs/wrappers/frame_stack.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "knurl/core/base/error.h"

namespace knurl {
namespace {

/// Bounds of `num` boxes in a row.
Bounds repeated(const Bounds& bounds, int num) {
  if (bounds.one_for_all()) return bounds;
  std::vector<double> all;
  for (int i = 0; i < num; ++i) {
    all.insert(all.end(), bounds.values().begin(), bounds.values().end());
  }
  return all;
}

}  // namespace

FrameStack::FrameStack(std::unique_ptr<Env> inner, const Config& config)
    : EnvWrapper(std::move(inner)),
      num_(config.num),
      layout_(EnvWrapper::spec().observation),
      frame_(layout_),
      frame_bytes_(layout_.leaves().front().bytes()),
      frames_(frame_bytes_ * static_cast<std::size_t>(num_)) {
  if (!layout_.space().as<Box>()) {
    fail(ErrorKind::config, "takes observations that are one Box, not {}", layout_.space().text());
  }
}

EnvSpec FrameStack::spec() const {
  EnvSpec spec = EnvWrapper::spec();
  Box box = *spec.observation.as<Box>();
  box.shape.insert(box.shape.begin(), num_);
  box.low = repeated(box.low, num_);
  box.high = repeated(box.high, num_);
  spec.observation = std::move(box);
  return spec;
}

void FrameStack::reset(Rng& rng, ObservationOut observation) {
  EnvWrapper::reset(rng, frame_.row());
  for (int i = 0; i < num_; ++i) {
    std::memcpy(frames_.data() + static_cast<std::size_t>(i) * frame_bytes_, frame_.row().bytes(0),
                frame_bytes_);
  }
  std::memcpy(observation.bytes(0), frames_.data(), frames_.size());
}

StepResult FrameStack::step(ActionView action, ObservationOut observation) {
  const StepResult result = EnvWrapper::step(action, frame_.row());
  std::memmove(frames_.data(), frames_.data() + frame_bytes_, frames_.size() - frame_bytes_);
  std::memcpy(newest(), frame_.row().bytes(0), frame_bytes_);
  std::memcpy(observation.bytes(0), frames_.data(), frames_.size());
  return result;
}

void FrameStack::save(ByteWriter& out) const {
  out.write_bytes(frames_.data(), frames_.size());
  EnvWrapper::save(out);
}

void FrameStack::load(ByteReader& in, Rng& rng) {
  in.read_bytes(frames_.data(), frames_.size());
  EnvWrapper::load(in, rng);
}

}  // namespace knurl
