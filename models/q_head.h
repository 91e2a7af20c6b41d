#pragma once

#include <span>

namespace knurl {

/// From the outputs of a Q net to action values. A net puts out scores of actions [actions, atoms]
/// and, dueling, one of the state [atoms]. Dueling adds them: state + score - mean of the actions'
/// scores (Wang et al. 2016, equation 9). With one atom that is the action's value; with more it is
/// the logits of a distribution over the support v_min ... v_max, and its mean is the value
/// (Bellemare et al. 2017). One row at a time.
struct QHead {
  int actions = 1;
  int atoms = 1;
  bool dueling = false;
  float v_min = -10.0F;
  float v_max = 10.0F;

  [[nodiscard]] int size() const { return actions * atoms; }
  /// Where atom `i` of the support lies.
  [[nodiscard]] float support(int i) const {
    return v_min + static_cast<float>(i) * (v_max - v_min) / static_cast<float>(atoms - 1);
  }

  /// Writes the combined scores [actions, atoms]. `state` may be null where not dueling.
  void combine(const float* scores, const float* state, float* out) const;
  /// From d loss / d combined to d loss / d scores (which may be `combined` itself) and d state.
  void combine_gradient(const float* combined, float* scores, float* state) const;

  /// The values [actions] of combined scores.
  void values(const float* combined, float* out) const;
  /// The probabilities [atoms] of one action's combined scores.
  void probabilities(const float* combined, int action, std::span<float> out) const;
};

}  // namespace knurl
