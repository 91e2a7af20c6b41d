#include "knurl/algorithms/rollout/episode_metrics.h"

#include <algorithm>
#include <array>
#include <functional>
#include <map>
#include <numeric>

namespace knurl {
namespace {

/// Sets a number, or says that no episode has given one.
void set(Result& result, const std::string& name, const std::vector<double>& numbers,
         const std::function<double()>& value) {
  if (numbers.empty()) {
    result.set(name, Result::Nothing{"no episode yet"});
  } else {
    result.set(name, value());
  }
}

double mean(const std::vector<double>& numbers) {
  return std::accumulate(numbers.begin(), numbers.end(), 0.0) / static_cast<double>(numbers.size());
}

/// "<before>mean<after>", "<before>min<after>" and "<before>max<after>".
void set_spread(Result& result, const std::string& before, const std::string& after,
                const std::vector<double>& numbers) {
  set(result, before + "mean" + after, numbers, [&] { return mean(numbers); });
  set(result, before + "min" + after, numbers, [&] { return std::ranges::min(numbers); });
  set(result, before + "max" + after, numbers, [&] { return std::ranges::max(numbers); });
}

}  // namespace

Result episode_metrics(std::span<const EpisodeSummary> episodes,
                       const std::vector<std::string>& info_names) {
  std::vector<double> returns;
  std::vector<double> lengths;
  for (const EpisodeSummary& episode : episodes) {
    returns.push_back(episode.episode_return);
    lengths.push_back(static_cast<double>(episode.length));
  }
  Result result;
  set_spread(result, "episode_reward_", "", returns);
  set(result, "episode_len_mean", lengths, [&] { return mean(lengths); });
  for (std::size_t k = 0; k < info_names.size(); ++k) {
    std::vector<double> values;
    for (const EpisodeSummary& episode : episodes) values.push_back(episode.info.at(k));
    set_spread(result, "custom_metrics/" + info_names[k] + "_", "", values);
  }
  std::map<std::string, std::vector<double>> custom;
  for (const EpisodeSummary& episode : episodes) {
    for (const auto& [name, number] : episode.custom_metrics) custom[name].push_back(number);
  }
  for (const auto& [name, numbers] : custom) {
    set_spread(result, "custom_metrics/" + name + "_", "", numbers);
  }
  set_spread(result, "policy_reward_", "/default_policy", returns);
  result.set("hist_stats/episode_reward", returns);
  result.set("hist_stats/episode_lengths", lengths);
  return result;
}

std::vector<MetricInfo> episode_metric_infos(const std::vector<std::string>& info_names,
                                             const std::vector<std::string>& custom_names,
                                             const std::string& prefix) {
  std::vector<MetricInfo> out;
  const auto add = [&](const std::string& name, std::string sentence,
                       MetricKind kind = MetricKind::measure) -> MetricInfo& {
    MetricInfo metric{
        .name = prefix + name,
        .aliases = {prefix + "sampler_results/" + name, prefix + "env_runners/" + name},
        .sentence = std::move(sentence),
        .kind = kind};
    return out.emplace_back(std::move(metric));
  };
  constexpr std::array kSpreads{std::pair{"mean", "mean"}, std::pair{"min", "least"},
                                std::pair{"max", "largest"}};
  for (const auto& [spread, word] : kSpreads) {
    add(fmt::format("episode_reward_{}", spread),
        fmt::format("{} return of the episodes: the env's own rewards, summed", word))
        .aliases.push_back(fmt::format("{}env_runners/episode_return_{}", prefix, spread));
  }
  add("episode_len_mean", "mean length of the episodes, in env steps");
  for (const std::string& info : info_names) {
    for (const auto& [spread, word] : kSpreads) {
      add(fmt::format("custom_metrics/{}_{}", info, spread),
          fmt::format("{} of the env's info number {} at episode ends", word, info));
    }
  }
  for (const std::string& custom : custom_names) {
    for (const auto& [spread, word] : kSpreads) {
      add(fmt::format("custom_metrics/{}_{}", custom, spread),
          fmt::format("{} of the callbacks' number {} over episodes", word, custom));
    }
  }
  for (const auto& [spread, word] : kSpreads) {
    add(fmt::format("policy_reward_{}/default_policy", spread),
        fmt::format("{} return of the policy's agents", word));
  }
  add("hist_stats/episode_reward", "return of each episode", MetricKind::list);
  add("hist_stats/episode_lengths", "length of each episode, in env steps", MetricKind::list);
  return out;
}

}  // namespace knurl
