#pragma once

#include <memory>
#include <utility>

#include "knurl/envs/env.h"

namespace knurl {

/// An env around an env: hands everything on until a subclass says otherwise.
class EnvWrapper : public Env {
 public:
  explicit EnvWrapper(std::unique_ptr<Env> inner) : inner_(std::move(inner)) {}

  [[nodiscard]] EnvSpec spec() const override { return inner_->spec(); }
  void reset(Rng& rng, ObservationOut observation) override { inner_->reset(rng, observation); }
  StepResult step(ActionView action, ObservationOut observation) override {
    return inner_->step(action, observation);
  }
  void info(std::span<double> numbers) const override { inner_->info(numbers); }
  [[nodiscard]] std::string render() const override { return inner_->render(); }
  [[nodiscard]] Image render_rgb() const override { return inner_->render_rgb(); }
  [[nodiscard]] bool can_save() const override { return inner_->can_save(); }
  void save(ByteWriter& out) const override { inner_->save(out); }
  void load(ByteReader& in, Rng& rng) override { inner_->load(in, rng); }

  [[nodiscard]] Env& inner() { return *inner_; }

 private:
  std::unique_ptr<Env> inner_;
};

}  // namespace knurl
