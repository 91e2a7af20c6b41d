#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "knurl/models/q_head.h"

namespace knurl {

/// Transitions that a value loss reads, element i of each is row i. `discounts` is gamma^n, and 0
/// where the observation after the transition is terminal.
struct TdBatch {
  std::span<const std::int64_t> actions;
  std::span<const float> rewards;
  std::span<const float> discounts;
  std::span<const float> weights;  ///< how much rows count
};

enum class TdErrorLoss {
  huber,  ///< e^2 / 2 up to 1, |e| - 1/2 beyond
  mse,    ///< e^2 / 2
};

struct TdLossOptions {
  bool double_q = true;  ///< the online net chooses the action that the target net judges
  TdErrorLoss error_loss = TdErrorLoss::huber;
};

/// What the nets say, each [rows, ...] one row after the other.
struct DqnOutputs {
  std::span<const float> scores;              ///< of the online net, combined: [actions, atoms]
  std::span<const float> next_q_online;       ///< [actions]; read by double_q only
  std::span<const float> next_scores_target;  ///< of the target net, combined: [actions, atoms]
};

/// A loss and the numbers that are reported with it.
struct TdLoss {
  double total = 0.0;
  std::vector<float> td_error = {};  ///< a row's error: what priorities are made of
  double mean_q = 0.0;               ///< of the actions taken
  double min_q = 0.0;
  double max_q = 0.0;
};

/// DQN's loss (Mnih et al. 2015) with double Q-learning (van Hasselt et al. 2016, equation 4):
/// mean(weight * loss(Q(s, a) - (r + discount Q_target(s', a*)))). Fills d loss / d scores [rows,
/// actions]. For heads of one atom.
TdLoss dqn_loss(const TdLossOptions& options, const QHead& head, const TdBatch& batch,
                const DqnOutputs& outputs, std::span<float> gradient);

/// The distributional loss (Bellemare et al. 2017, algorithm 1): cross entropy of the action's
/// distribution with the projected one of reward + discount * return. A row's td_error is its cross
/// entropy. Fills d loss / d scores [rows, actions, atoms].
TdLoss categorical_loss(const TdLossOptions& options, const QHead& head, const TdBatch& batch,
                        const DqnOutputs& outputs, std::span<float> gradient);

/// Moves the probabilities of a support shifted by reward and shrunk by discount back onto the
/// support: each atom's share goes to its two neighbours by nearness. Adds to nothing: fills `out`.
void project(const QHead& head, float reward, float discount, std::span<const float> probabilities,
             std::span<float> out);

}  // namespace knurl
