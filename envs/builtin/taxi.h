#pragma once

#include "knurl/envs/builtin/tabular_env.h"

namespace knurl {

/// Fetch a passenger in a town of 5 x 5 cells and bring them where they want to go. Actions: 0
/// south, 1 north, 2 east, 3 west, 4 pick up, 5 drop off; walls stop a move. Reward 20 for a
/// passenger who has arrived, which ends the episode; -10 for picking up or dropping off in vain;
/// -1 for any other step. Observation: ((row * 5 + column) * 5 + passenger) * 4 + destination,
/// where places are 0 red, 1 green, 2 yellow, 3 blue, and 4 is in the taxi. As Gymnasium's Taxi-v4
/// (Dietterich 2000), which is Taxi-v3 where it neither rains nor the passenger is fickle.
class Taxi final : public TabularEnv {
 public:
  struct Config {
    bool is_rainy = false;
    bool fickle_passenger = false;
    double rainy_probability = 0.8;
    double fickle_probability = 0.3;
    static void fields(auto& self, auto&& field) {
      field("is_rainy", self.is_rainy, "a move may slip to either side");
      field("fickle_passenger", self.fickle_passenger,
            "a passenger may want to go elsewhere after the first move with them");
      field("rainy_probability", self.rainy_probability,
            "probability that a move in the rain goes where it was meant", Range{0.0, 1.0});
      field("fickle_probability", self.fickle_probability,
            "probability of an episode that its passenger is fickle", Range{0.0, 1.0});
    }
  };

  explicit Taxi(const Config& config);

  void reset(Rng& rng, ObservationOut observation) override;
  /// A fickle passenger is not in the table.
  StepResult step(ActionView action, ObservationOut observation) override;
  void save(ByteWriter& out) const override;
  void load(ByteReader& in, Rng& rng) override;
  /// The town, with t for the taxi and T with the passenger in it, and who wants to go where.
  [[nodiscard]] std::string render() const override;
  [[nodiscard]] Image render_rgb() const override;

 private:
  Config config_;
  bool will_change_ = false;  ///< the passenger, at the first move with them
};

}  // namespace knurl
