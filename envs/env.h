#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "knurl/core/base/bytes.h"
#include "knurl/core/base/rng.h"
#include "knurl/core/config/fields.h"
#include "knurl/core/spaces/layout.h"
#include "knurl/core/spaces/space.h"
#include "knurl/envs/picture/image.h"

namespace knurl {

/// Where an env writes its observation: a row of the batch that the policy reads. No copy is made.
using ObservationOut = Row;
/// The action to take: a row of what the policy wrote.
using ActionView = ConstRow;

/// What everybody must know of an env before using it.
struct EnvSpec {
  Space observation = {};
  Space action = {};
  std::optional<int> max_episode_steps = std::nullopt;  ///< the framework truncates there
  std::vector<std::string> info = {};  ///< numbers reported beside the reward: success, goal, …

  bool operator==(const EnvSpec&) const = default;
};

/// Throws Error(env) where a spec cannot be: a time limit below 1, an info number without a name or
/// with another's.
void check_spec(const EnvSpec& spec);

/// The outcome of one step, but for the observation.
struct StepResult {
  double reward = 0.0;
  bool terminated = false;  ///< the task has ended: nothing follows, its value is 0
  bool truncated = false;   ///< we stop looking, though the task goes on
};

/// A world for one agent. Knows nothing of batches, time limits, auto-reset or other envs. Used by
/// one thread at a time.
class Env {
 public:
  virtual ~Env() = default;

  [[nodiscard]] virtual EnvSpec spec() const = 0;

  /// Starts an episode and writes its first observation. The env may keep and use `rng` until the
  /// next reset. What it keeps from one episode to the next is lost when a run is resumed, unless
  /// it saves it.
  virtual void reset(Rng& rng, ObservationOut observation) = 0;

  /// Takes one step and writes the observation after it, also at an ending. Only called between a
  /// reset and an ending.
  virtual StepResult step(ActionView action, ObservationOut observation) = 0;

  /// The numbers that spec().info names, as they are now.
  virtual void info(std::span<double> /*numbers*/) const {}

  /// The world as text, or nothing.
  [[nodiscard]] virtual std::string render() const { return ""; }
  /// The world as a picture, of one size throughout an episode, or an empty one. By default the
  /// text of render() in a small font.
  [[nodiscard]] virtual Image render_rgb() const;

  /// save and load keep the whole state of a running episode but for the Rng, which load hands over
  /// as reset does. An env that cannot is restored by repeating its episode's actions.
  [[nodiscard]] virtual bool can_save() const { return false; }
  virtual void save(ByteWriter& /*out*/) const {}
  virtual void load(ByteReader& /*in*/, Rng& /*rng*/) {}
};

}  // namespace knurl
