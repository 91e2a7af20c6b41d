#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "knurl/algorithms/rollout/fragment.h"
#include "knurl/core/spaces/layout.h"
#include "knurl/models/action_mask.h"
#include "knurl/models/net_spec.h"
#include "knurl/models/trainable_net.h"

namespace knurl {

/// What PPO learns from: the rows of some fragments as a net and the loss read them.
struct PpoBatch {
  /// Columns: "net_inputs" (observations and the net's extras as numbers), actions, action_logp,
  /// action_dist_inputs, vf_preds, advantages, value_targets.
  RecordBatch rows;
  /// The rows by env, then by time.
  std::vector<std::int32_t> order;

  /// Steps that follow one another in an episode.
  struct Sequence {
    std::int32_t first = 0;  ///< its place in order
    std::int32_t length = 0;
  };
  /// For a recurrent net: all of order, cut at the ends of segments and after max_seq_len steps.
  std::vector<Sequence> sequences = {};
  RecordBatch states = {};  ///< state_of(net) at the start of each of them, as it acted
};

/// Some sequences as a net reads them.
struct PackedSequences {
  std::vector<std::int32_t> rows = {};  ///< of the batch, in the order of Sequences
  Sequences sequences = {};
};
/// Packs the sequences `chosen`; among those of equal length the earlier chosen come first.
PackedSequences pack(const PpoBatch& batch, std::span<const std::int32_t> chosen);

/// How actions are judged.
struct JudgeOptions {
  double gamma = 0.99;
  double lambda = 1.0;
  /// Without one nothing is expected of states: advantages are discounted sums of rewards.
  bool use_critic = true;
};

inline const ActionMask kNoMask;

/// What reads a batch.
struct BatchReader {
  const SpaceLayout& observations;
  const NetSpec& net;
  int max_seq_len = 20;
  const ActionMask& mask = kNoMask;  ///< what of the observations the net does not read
};

/// Gathers fragments and estimates advantages and value targets (losses/gae.h).
PpoBatch make_ppo_batch(const std::vector<Fragment>& fragments, const BatchReader& reader,
                        const JudgeOptions& options);

/// Gives the advantages mean 0 and standard deviation 1 over the batch.
void standardise_advantages(PpoBatch& batch);

}  // namespace knurl
