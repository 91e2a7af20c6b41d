#pragma once

#include "knurl/envs/env.h"

namespace knurl {

/// An env whose whole state is a plain struct: saved, loaded and set as it is.
template <Serialisable S>
class StateEnv : public Env {
 public:
  using State = S;

  [[nodiscard]] bool can_save() const final { return true; }
  void save(ByteWriter& out) const final { write(out, state_); }
  void load(ByteReader& in, Rng& /*rng*/) final { state_ = read<State>(in); }

  [[nodiscard]] const State& state() const { return state_; }
  void set_state(const State& state) { state_ = state; }

 protected:
  State state_ = {};
};

}  // namespace knurl
