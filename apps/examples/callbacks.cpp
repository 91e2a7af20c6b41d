// The knurl command with callbacks of one's own:
//
//   ./build/release/bin/callbacks train --run PPO --env CartPole-v1 --set callbacks=Lean
//       --stop '{custom_metrics/lean_mean: 0.1, timesteps_total: 20000}'

#include "knurl/algorithms/callbacks.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "knurl/algorithms/algorithm.h"
#include "knurl/apps/cli/cli.h"

/// How far the pole of CartPole-v1 leans at most in an episode, in radians.
class Lean final : public knurl::Callbacks {
 public:
  static std::vector<std::string> custom_metrics() { return {"lean"}; }

  void on_episode_step(knurl::EpisodeView& episode) override {
    const auto angle = static_cast<double>(episode.observation.as<float>()[2]);
    double& most = episode.custom_metrics["lean"];
    most = std::max(most, std::abs(angle));
  }

  void on_train_result(knurl::Algorithm& algorithm, knurl::Result& result) override {
    const auto iterations = static_cast<double>(algorithm.iteration());
    result.set("episodes_an_iteration", result.number("episodes_total").value() / iterations);
    if (algorithm.iteration() == 1) fmt::print("the first iteration is done\n");
  }
};

int main(int argc, char** argv) {
  knurl::register_callbacks<Lean>("Lean");
  return knurl::cli::run(argc, argv);
}
