#pragma once

#include <concepts>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <typeindex>
#include <vector>

#include "knurl/algorithms/rollout/fragment.h"
#include "knurl/core/base/error.h"
#include "knurl/core/metrics/result.h"
#include "knurl/core/spaces/layout.h"

namespace knurl {

class Algorithm;

/// What a worker samples for.
enum class Purpose : std::uint8_t { training, evaluation };

/// What a callback sees of an episode. Valid during the call only.
struct EpisodeView {
  Purpose purpose = Purpose::training;
  int worker = 0;                                 ///< among those of its purpose; 0 is the driver's
  int env = 0;                                    ///< index in the whole run
  std::int64_t episode = 0;                       ///< unique in a run
  std::int64_t step = 0;                          ///< steps taken in it
  double reward = 0.0;                            ///< of the last step, as the env gave it
  ConstRow observation;                           ///< after the last step
  std::optional<ConstRow> action = std::nullopt;  ///< of the last step; nothing at the start
  std::span<const double> info = {};              ///< spec().info numbers; none at the start
  const EpisodeSummary* ended = nullptr;          ///< what it came to; null while it runs
  /// Numbers of this episode, by name: what stands here at its end is reported over episodes as
  /// custom_metrics/<name>_mean, _min and _max.
  std::map<std::string, double>& custom_metrics;
};

/// What the learner has learnt from.
struct LearntBatch {
  std::int64_t env_steps = 0;
  double seconds = 0.0;  ///< that it took
};

/// Is called as a run goes: derive from it, override what matters, and name the class in the
/// config. Each rollout worker, also those that evaluate, has an object of its own and calls its
/// on_episode_* and on_sample_end; the driver has one for all other methods. A worker's calls come
/// from its thread, one at a time. What a method throws ends the run, as an Error that names the
/// class, the method and, of episodes, worker and env. Without a default constructor it cannot be
/// registered.
class Callbacks {
 public:
  virtual ~Callbacks() = default;

  virtual void on_algorithm_init(Algorithm& /*algorithm*/) {}
  virtual void on_checkpoint_loaded(Algorithm& /*algorithm*/) {}

  virtual void on_episode_start(EpisodeView& /*episode*/) {}
  virtual void on_episode_step(EpisodeView& /*episode*/) {}
  virtual void on_episode_end(EpisodeView& /*episode*/) {}
  /// A worker, also one that evaluates, is about to report a fragment.
  virtual void on_sample_end(Fragment& /*fragment*/) {}

  /// The learner has learnt from a batch.
  virtual void on_learn_on_batch(Algorithm& /*algorithm*/, const LearntBatch& /*batch*/) {}
  /// An iteration is over. What is added to the result is reported with it.
  virtual void on_train_result(Algorithm& /*algorithm*/, Result& /*result*/) {}

  virtual void on_evaluate_start(Algorithm& /*algorithm*/) {}
  /// The result's names start with "evaluation/".
  virtual void on_evaluate_end(Algorithm& /*algorithm*/, Result& /*result*/) {}
};

/// A class of callbacks as config files know it.
struct CallbacksEntry {
  std::string name = {};
  std::type_index type = typeid(void);
  std::function<std::unique_ptr<Callbacks>()> make = {};
  std::vector<std::string> custom_metrics = {};  ///< names that it says it sets
};

/// The entry of a class. A static custom_metrics() of the class, which returns the names of the
/// numbers that it sets, makes them known to stop conditions and scores.
template <std::derived_from<Callbacks> T>
CallbacksEntry callbacks_entry(std::string name) {
  CallbacksEntry entry{
      .name = std::move(name), .type = typeid(T), .make = [] { return std::make_unique<T>(); }};
  if constexpr (requires { T::custom_metrics(); }) entry.custom_metrics = T::custom_metrics();
  return entry;
}

/// Makes callbacks known unless they are known under this name already. Throws Error(config) where
/// the name is another class's. Safe from any thread.
void register_callbacks(CallbacksEntry entry);
template <std::derived_from<Callbacks> T>
void register_callbacks(std::string name) {
  register_callbacks(callbacks_entry<T>(std::move(name)));
}

/// Throws Error(config), naming the nearest, where the name is unknown.
CallbacksEntry find_callbacks(std::string_view name);

/// A new object of the class, or null where no name is given.
std::unique_ptr<Callbacks> make_callbacks(const std::optional<std::string>& name);

namespace detail {

/// Throws the exception being handled again, as an Error that says where it came from.
[[noreturn]] void rethrow_from_callback(const std::string& where);

}  // namespace detail

/// Calls `body`; what it throws becomes an Error that begins with where().
template <class Where, class Body>
void call_back(Where where, Body body) {
  try {
    body();
  } catch (...) {
    detail::rethrow_from_callback(where());
  }
}

}  // namespace knurl
