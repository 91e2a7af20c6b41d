#pragma once

#include <cstring>
#include <map>
#include <memory>
#include <set>
#include <typeindex>
#include <utility>
#include <vector>

#include <oneapi/tbb/global_control.h>

#include "knurl/core/base/check.h"
#include "knurl/envs/registry.h"
#include "knurl/envs/vector_env.h"

namespace knurl::testing {

/// Lets TBB start as many threads as the tests ask for, however few cores there are.
inline const oneapi::tbb::global_control kEnoughThreads(
    oneapi::tbb::global_control::max_allowed_parallelism, 8);

/// Every known env, but of those that are one class with other defaults the first only: how envs
/// are stepped does not depend on an env's options.
inline std::vector<EnvEntry> one_env_a_class() {
  std::set<std::type_index> seen;
  std::vector<EnvEntry> out;
  for (EnvEntry& entry : registered_envs()) {
    if (entry.type && !seen.insert(*entry.type).second) continue;
    out.push_back(std::move(entry));
  }
  return out;
}

/// All that a step of a batch gave, as plain values to compare.
struct BatchStep {
  std::vector<std::vector<std::byte>> observation = {};        ///< a row an env
  std::vector<std::vector<std::byte>> final_observation = {};  ///< empty where none ended
  std::vector<float> reward = {};
  std::vector<std::uint8_t> terminated = {};
  std::vector<std::uint8_t> truncated = {};
  std::vector<double> info = {};
  std::vector<EpisodeSummary> ended = {};
  std::vector<std::int64_t> episode = {};
  std::vector<std::int64_t> episode_length = {};

  bool operator==(const BatchStep&) const = default;
};

/// A VectorEnv with the columns it writes to. Actions are drawn from the number of the episode and
/// of the step in it, so that an episode gets the same ones whichever batch it is in.
class BatchDriver {
 public:
  explicit BatchDriver(std::unique_ptr<VectorEnv> env)
      : env_(std::move(env)),
        columns_(all_columns(*env_), env_->num_envs()),
        actions_(env_->action_layout(), columns_, "action"),
        observation_(env_->observation_layout(), columns_, "observation"),
        final_observation_(env_->observation_layout(), columns_, "final_observation"),
        info_(env_->spec().info.size() * static_cast<std::size_t>(env_->num_envs())) {}

  [[nodiscard]] VectorEnv& env() { return *env_; }
  [[nodiscard]] RecordBatch& columns() { return columns_; }
  [[nodiscard]] std::span<const double> info() const { return info_; }

  void reset() { env_->reset(observation_); }

  /// One step of all envs, or those that are active, by random actions.
  BatchStep step(std::span<const std::uint8_t> active = {}) {
    for (int i = 0; i < env_->num_envs(); ++i) {
      Rng rng = Rng(99)
                    .split("episode", static_cast<std::uint64_t>(env_->episode(i)))
                    .split("step", static_cast<std::uint64_t>(env_->episode_length(i)));
      sample(Row(actions_, i), rng);
    }
    return step_as_given(active);
  }

  /// One step by the actions that lie in the column "action".
  BatchStep step_as_given(std::span<const std::uint8_t> active = {}) {
    env_->step(actions_,
               {.observation = observation_,
                .reward = columns_.column<float>("reward").span(),
                .terminated = columns_.column<std::uint8_t>("terminated").span(),
                .truncated = columns_.column<std::uint8_t>("truncated").span(),
                .final_observation = final_observation_,
                .info = info_},
               active);
    return result();
  }

  /// What lies in the columns now.
  BatchStep result() {
    BatchStep out;
    for (int i = 0; i < env_->num_envs(); ++i) {
      out.observation.push_back(bytes_of(observation_, i));
      out.reward.push_back(columns_.column<float>("reward")[i]);
      out.terminated.push_back(columns_.column<std::uint8_t>("terminated")[i]);
      out.truncated.push_back(columns_.column<std::uint8_t>("truncated")[i]);
      const bool ended = out.terminated.back() != 0 || out.truncated.back() != 0;
      out.final_observation.push_back(ended ? bytes_of(final_observation_, i)
                                            : std::vector<std::byte>{});
      out.episode.push_back(env_->episode(i));
      out.episode_length.push_back(env_->episode_length(i));
    }
    out.info = info_;
    out.ended.assign(env_->ended().begin(), env_->ended().end());
    return out;
  }

  [[nodiscard]] std::vector<std::byte> save() const {
    ByteWriter out;
    env_->save(out);
    return out.take_bytes();
  }
  void load(const std::vector<std::byte>& bytes) {
    ByteReader in(bytes);
    env_->load(in);
    check(in.remaining() == 0, "a batch reads all that it saved");
  }

 private:
  static std::vector<ColumnSpec> all_columns(const VectorEnv& env) {
    std::vector<ColumnSpec> out = env.action_layout().columns("action");
    for (const char* name : {"observation", "final_observation"}) {
      const std::vector<ColumnSpec> more = env.observation_layout().columns(name);
      out.insert(out.end(), more.begin(), more.end());
    }
    out.push_back({.name = "reward", .dtype = DType::float32});
    out.push_back({.name = "terminated", .dtype = DType::uint8});
    out.push_back({.name = "truncated", .dtype = DType::uint8});
    return out;
  }

  static std::vector<std::byte> bytes_of(const Rows& rows, int row) {
    std::vector<std::byte> out;
    for (std::size_t leaf = 0; leaf < rows.layout().leaves().size(); ++leaf) {
      const std::byte* bytes = rows.leaf_row(leaf, row);
      out.insert(out.end(), bytes, bytes + rows.layout().leaves()[leaf].bytes());
    }
    return out;
  }

  std::unique_ptr<VectorEnv> env_;
  RecordBatch columns_;
  Rows actions_;
  Rows observation_;
  Rows final_observation_;
  std::vector<double> info_;
};

}  // namespace knurl::testing
