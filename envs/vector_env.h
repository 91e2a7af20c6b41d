#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "knurl/core/base/bytes.h"
#include "knurl/core/base/rng.h"
#include "knurl/core/config/value.h"
#include "knurl/envs/env.h"
#include "knurl/envs/wrappers/run_wrappers.h"

namespace knurl {

/// How a batch of envs is stepped. All ways give the same results, element by element.
enum class Stepping {
  automatic,  ///< serial, or parallel where the measured cost of a step pays for it
  serial,
  parallel,  ///< over TBB
};

/// A finished episode. Returns are sums of the env's own rewards, in double.
struct EpisodeSummary {
  std::int64_t episode = 0;  ///< unique in a run
  int env = 0;               ///< index of the env in the whole run
  double episode_return = 0.0;
  std::int64_t length = 0;
  std::int64_t ended_at = 0;                          ///< steps that its env had taken in the run
  bool terminated = false;                            ///< else truncated
  std::vector<double> info = {};                      ///< info numbers at the end
  std::map<std::string, double> custom_metrics = {};  ///< numbers that who steps it adds, by name

  bool operator==(const EpisodeSummary&) const = default;
};

/// Where the results of a step of all envs go: row or element i is env i's.
struct VectorStep {
  /// What the policy sees next. After an ending: the first observation of the next episode.
  Rows observation;
  std::span<float> reward;
  std::span<std::uint8_t> terminated;
  std::span<std::uint8_t> truncated;
  /// The observation an episode ended with; written only where one ended.
  Rows final_observation;
  /// spec().info numbers of each env, one row an env, as they were after its step.
  std::span<double> info;
};

struct VectorEnvOptions {
  int num_envs = 1;
  int first_env = 0;  ///< index of our first env in the whole run
  std::optional<int> total_envs =
      std::nullopt;  ///< envs in the whole run; nothing: ours and those before
  int worker = 0;    ///< whose envs these are, for messages
  Stepping stepping = Stepping::automatic;
  int num_threads = 1;  ///< most threads that parallel stepping uses
  bool render =
      false;  ///< render() shows what a step ended with, also when it was followed by a reset
};

/// How and where the episodes of a batch are recorded. Files are called
/// <label>_episode_<number>_worker_<worker>_env_<index in the run>.
struct Recording {
  RecordEpisode options = {};
  std::filesystem::path directory = {};
  std::string label = "training";
  int worker = 0;
  std::optional<std::int64_t> num_episodes = std::nullopt;  ///< only those with numbers below it
};

/// N copies of an env stepped together, each reset in the same step in which its episode ends.
/// The k-th episode of the run's env g is episode g + k * total_envs; its Rng is split from the
/// run's by that number, whoever steps it. Not thread-safe.
class VectorEnv {
 public:
  virtual ~VectorEnv() = default;

  [[nodiscard]] virtual int num_envs() const = 0;
  [[nodiscard]] virtual const EnvSpec& spec() const = 0;
  [[nodiscard]] virtual const SpaceLayout& observation_layout() const = 0;
  [[nodiscard]] virtual const SpaceLayout& action_layout() const = 0;

  /// Starts the next episode in every env. Throws Error(env) naming env, worker, index and call.
  virtual void reset(const Rows& observation) = 0;
  /// Forgets all episodes: the next reset starts the first ones of another stream.
  virtual void restart(const Rng& rng) = 0;
  /// Steps every env, or those whose element of `active` [num_envs] is not 0: the others stay as
  /// they are, and so does all that is theirs in `out`. If some throw, the others still finish
  /// their step, and the error of the lowest index is thrown.
  virtual void step(const ConstRows& actions, const VectorStep& out,
                    std::span<const std::uint8_t> active) = 0;
  void step(const ConstRows& actions, const VectorStep& out) { step(actions, out, {}); }
  /// Episodes that the last step ended, in order of their env.
  [[nodiscard]] virtual std::span<const EpisodeSummary> ended() const = 0;
  /// The number of the episode that an env is in.
  [[nodiscard]] virtual std::int64_t episode(int env) const = 0;
  /// Steps taken so far in that episode.
  [[nodiscard]] virtual std::int64_t episode_length(int env) const = 0;

  /// An env as text; the end of the last episode rather than the start of the next where the
  /// options ask for it.
  [[nodiscard]] virtual std::string render(int env) const = 0;

  /// Records episodes that begin from now on. What goes wrong is warned of once.
  virtual void record(const Recording& recording) = 0;

  /// The state of all envs and running episodes. load needs a VectorEnv made alike.
  virtual void save(ByteWriter& out) const = 0;
  virtual void load(ByteReader& in) = 0;
};

/// Makes one env; called once an index.
using EnvFactory = std::function<std::unique_ptr<Env>()>;

/// A batch of envs that `factory` makes. `name` is for messages, `rng` the run's env stream.
std::unique_ptr<VectorEnv> make_vector_env(std::string name, const EnvFactory& factory,
                                           const Rng& rng, const VectorEnvOptions& options);

/// A batch of a registered env.
std::unique_ptr<VectorEnv> make_vector_env(const std::string& name, const ConfigValue& config,
                                           const Rng& rng, const VectorEnvOptions& options);

}  // namespace knurl
