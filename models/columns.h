#pragma once

/// The names of the columns that policies, rollouts and learners share; RLlib's, where it has one.
namespace knurl::column {

inline constexpr const char* kObservations = "obs";  ///< or "obs/<leaf>"
inline constexpr const char* kActions = "actions";
inline constexpr const char* kActionLogProb = "action_logp";
inline constexpr const char* kDistInputs = "action_dist_inputs";  ///< also an output of nets
inline constexpr const char* kValues = "vf_preds";                ///< also an output of nets
inline constexpr const char* kActionScores = "action_scores";     ///< an output of Q nets
inline constexpr const char* kStateScores = "state_scores";       ///< of dueling ones
inline constexpr const char* kRewards = "rewards";
inline constexpr const char* kNextObservations = "new_obs";  ///< or "new_obs/<leaf>"
inline constexpr const char* kDiscounts = "discounts";
inline constexpr const char* kWeights = "weights";       ///< of rows in a loss
inline constexpr const char* kNetInputs = "net_inputs";  ///< observations as a net reads them
// what a recurrent policy remembers: read at a row's step, written by the step before
inline constexpr const char* kStateH = "state_in_0";  ///< an LSTM's output
inline constexpr const char* kStateC = "state_in_1";  ///< its cells
inline constexpr const char* kPreviousActions = "prev_actions";
inline constexpr const char* kPreviousRewards = "prev_rewards";
inline constexpr const char* kAdvantages = "advantages";
inline constexpr const char* kValueTargets = "value_targets";

}  // namespace knurl::column
