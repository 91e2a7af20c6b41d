#include "knurl/envs/wrappers/frame_stack.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "knurl/core/base/error.h"

namespace knurl {
namespace {

/// Bounds of `num` boxes, of each `run` elements after the other.
Bounds repeated(const Bounds& bounds, int num, std::ptrdiff_t run) {
  if (bounds.one_for_all()) return bounds;
  std::vector<double> all;
  for (auto from = bounds.values().begin(); from != bounds.values().end(); from += run) {
    for (int i = 0; i < num; ++i) all.insert(all.end(), from, from + run);
  }
  return all;
}

}  // namespace

FrameStack::FrameStack(std::unique_ptr<Env> inner, const Config& config)
    : EnvWrapper(std::move(inner)),
      num_(config.num),
      channels_(config.channels),
      layout_(EnvWrapper::spec().observation),
      frame_(layout_),
      frame_bytes_(layout_.leaves().front().bytes()),
      frames_(frame_bytes_ * static_cast<std::size_t>(num_)) {
  if (!layout_.space().as<Box>()) {
    fail(ErrorKind::config, "takes observations that are one Box, not {}", layout_.space().text());
  }
  if (channels_ && layout_.leaves().front().shape.size() != 3) {
    fail(ErrorKind::config, "channels: true is for pictures [height, width, channels], not {}",
         layout_.space().text());
  }
}

EnvSpec FrameStack::spec() const {
  EnvSpec spec = EnvWrapper::spec();
  Box box = *spec.observation.as<Box>();
  const std::ptrdiff_t run = channels_ ? box.shape[2] : num_elements(box.shape);
  if (channels_) {
    box.shape[2] *= num_;
  } else {
    box.shape.insert(box.shape.begin(), num_);
  }
  box.low = repeated(box.low, num_, run);
  box.high = repeated(box.high, num_, run);
  spec.observation = std::move(box);
  return spec;
}

void FrameStack::reset(Rng& rng, ObservationOut observation) {
  EnvWrapper::reset(rng, frame_.row());
  for (int i = 0; i < num_; ++i) {
    std::memcpy(frames_.data() + static_cast<std::size_t>(i) * frame_bytes_, frame_.row().bytes(0),
                frame_bytes_);
  }
  show(observation);
}

StepResult FrameStack::step(ActionView action, ObservationOut observation) {
  const StepResult result = EnvWrapper::step(action, frame_.row());
  std::memmove(frames_.data(), frames_.data() + frame_bytes_, frames_.size() - frame_bytes_);
  std::memcpy(newest(), frame_.row().bytes(0), frame_bytes_);
  show(observation);
  return result;
}

void FrameStack::show(ObservationOut observation) const {
  const Leaf& leaf = layout_.leaves().front();
  const std::size_t run =
      channels_ ? static_cast<std::size_t>(leaf.shape[2]) * size_of(leaf.dtype) : frame_bytes_;
  std::byte* to = observation.bytes(0);
  for (std::size_t at = 0; at < frame_bytes_; at += run) {
    for (std::size_t first = 0; first < frames_.size(); first += frame_bytes_, to += run) {
      std::memcpy(to, frames_.data() + first + at, run);
    }
  }
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
