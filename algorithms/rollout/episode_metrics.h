#pragma once

#include <span>
#include <string>
#include <vector>

#include "knurl/core/metrics/result.h"
#include "knurl/envs/vector_env.h"

namespace knurl {

/// What episodes come to: episode_reward_mean, min and max, episode_len_mean, policy_reward_*,
/// custom_metrics/<name>_mean, min and max of the info numbers at their ends and of the numbers
/// that callbacks have set, over the episodes that have them, and hist_stats. Without episodes
/// there are no numbers.
Result episode_metrics(std::span<const EpisodeSummary> episodes,
                       const std::vector<std::string>& info_names);

/// What episode_metrics reports, its names in RLlib's other vocabularies as aliases; `prefix` as
/// "evaluation/" before all of them. `custom_names` are callbacks' numbers.
std::vector<MetricInfo> episode_metric_infos(const std::vector<std::string>& info_names,
                                             const std::vector<std::string>& custom_names = {},
                                             const std::string& prefix = "");

}  // namespace knurl
