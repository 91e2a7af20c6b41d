#include "knurl/models/q_head.h"

#include <algorithm>
#include <cmath>

namespace knurl {
namespace {

/// Calls `visit(i, exp(logit - largest))` for each logit; returns the sum of these weights.
template <class Visit>
float for_each_weight(const float* logits, int n, Visit visit) {
  const float largest = *std::max_element(logits, logits + n);
  float sum = 0.0F;
  for (int i = 0; i < n; ++i) {
    const float weight = std::exp(logits[i] - largest);
    sum += weight;
    visit(i, weight);
  }
  return sum;
}

}  // namespace

void QHead::combine(const float* scores, const float* state, float* out) const {
  std::copy(scores, scores + size(), out);
  if (!dueling) return;
  for (int atom = 0; atom < atoms; ++atom) {
    float sum = 0.0F;
    for (int a = 0; a < actions; ++a) sum += scores[a * atoms + atom];
    const float shift = state[atom] - sum / static_cast<float>(actions);
    for (int a = 0; a < actions; ++a) out[a * atoms + atom] += shift;
  }
}

void QHead::combine_gradient(const float* combined, float* scores, float* state) const {
  if (!dueling) {
    if (scores != combined) std::copy(combined, combined + size(), scores);
    return;
  }
  for (int atom = 0; atom < atoms; ++atom) {
    float sum = 0.0F;
    for (int a = 0; a < actions; ++a) sum += combined[a * atoms + atom];
    state[atom] = sum;
    const float mean = sum / static_cast<float>(actions);
    for (int a = 0; a < actions; ++a) {
      scores[a * atoms + atom] = combined[a * atoms + atom] - mean;
    }
  }
}

void QHead::values(const float* combined, float* out) const {
  if (atoms == 1) {
    std::copy(combined, combined + actions, out);
    return;
  }
  for (int a = 0; a < actions; ++a) {
    float weighted = 0.0F;
    const float sum = for_each_weight(
        combined + a * atoms, atoms, [&](int i, float weight) { weighted += weight * support(i); });
    out[a] = weighted / sum;
  }
}

void QHead::probabilities(const float* combined, int action, std::span<float> out) const {
  const float sum = for_each_weight(combined + action * atoms, atoms, [&](int i, float weight) {
    out[static_cast<std::size_t>(i)] = weight;
  });
  for (float& p : out) p /= sum;
}

}  // namespace knurl
