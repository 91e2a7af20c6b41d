#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "knurl/envs/wrappers/wrapper.h"

namespace knurl {

/// The last `num` observations as one, [num, …], the newest last; after a reset the first one fills
/// all places (as Gymnasium's FrameStackObservation). Pictures [height, width, channels] may lie
/// one behind the other in their channels instead, [height, width, num * channels], the newest
/// last, so that convolutions read them. For observations that are one Box.
class FrameStack final : public EnvWrapper {
 public:
  struct Config {
    int num = 4;
    bool channels = false;
    static void fields(auto& self, auto&& field) {
      field("num", self.num, "observations that are seen at once", Range{2, 1'000});
      field("channels", self.channels,
            "pictures [height, width, channels]: stacked in their channels, for convolutions");
    }
  };

  /// Throws Error(config) where the env's observation is no Box, or no picture to be stacked in its
  /// channels.
  FrameStack(std::unique_ptr<Env> inner, const Config& config);

  [[nodiscard]] EnvSpec spec() const override;
  void reset(Rng& rng, ObservationOut observation) override;
  StepResult step(ActionView action, ObservationOut observation) override;
  void save(ByteWriter& out) const override;
  void load(ByteReader& in, Rng& rng) override;

 private:
  /// Where the newest observation lies in frames_.
  [[nodiscard]] std::byte* newest() { return frames_.data() + frames_.size() - frame_bytes_; }

  /// Writes the frames as they are seen.
  void show(ObservationOut observation) const;

  int num_;
  bool channels_;
  SpaceLayout layout_;  ///< of one observation
  SpaceValue frame_;    ///< what the env writes to
  std::size_t frame_bytes_;
  std::vector<std::byte> frames_;  ///< oldest first
};

}  // namespace knurl
