#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "knurl/envs/wrappers/wrapper.h"

namespace knurl {

/// The last `num` observations as one, [num, …], the newest last; after a reset the first one fills
/// all places (as Gymnasium's FrameStackObservation). For observations that are one Box.
class FrameStack final : public EnvWrapper {
 public:
  struct Config {
    int num = 4;
    static void fields(auto& self, auto&& field) {
      field("num", self.num, "observations that are seen at once", Range{2, 1'000});
    }
  };

  /// Throws Error(config) where the env's observation is no Box.
  FrameStack(std::unique_ptr<Env> inner, const Config& config);

  [[nodiscard]] EnvSpec spec() const override;
  void reset(Rng& rng, ObservationOut observation) override;
  StepResult step(ActionView action, ObservationOut observation) override;
  void save(ByteWriter& out) const override;
  void load(ByteReader& in, Rng& rng) override;

 private:
  /// Where the newest observation lies in frames_.
  [[nodiscard]] std::byte* newest() { return frames_.data() + frames_.size() - frame_bytes_; }

  int num_;
  SpaceLayout layout_;  ///< of one observation
  SpaceValue frame_;    ///< what the env writes to
  std::size_t frame_bytes_;
  std::vector<std::byte> frames_;  ///< oldest first
};

}  // namespace knurl
