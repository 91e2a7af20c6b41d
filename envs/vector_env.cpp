#include "knurl/envs/vector_env.h"

#include <algorithm>

#include "knurl/core/base/check.h"
#include "knurl/core/base/clock.h"
#include "knurl/core/base/log.h"
#include "knurl/envs/detail/env_batch.h"
#include "knurl/envs/detail/make_unnamed.h"

namespace knurl {
namespace detail {
namespace {

/// Handing a loop to TBB and gathering it again costs about this much; a loop that takes less than
/// a few times as long is faster alone.
constexpr double kParallelLoopSeconds = 20e-6;
constexpr int kStepsToMeasure = 32;
/// Of an episode whose env cannot save itself: its actions are what it is brought back by.
constexpr std::int64_t kMostRememberedSteps = 1'000'000;

}  // namespace

EnvBatch::EnvBatch(std::string name, const EnvFactory& factory, const Rng& rng,
                   const VectorEnvOptions& options)
    : name_(std::move(name)), options_(options), rng_(rng) {
  const int end = options.first_env + options.num_envs;
  if (!options_.total_envs) options_.total_envs = end;
  check(options.num_envs >= 1 && *options_.total_envs >= end,
        "a batch's envs are among those of the run");
  for (int i = 0; i < options.num_envs; ++i) {
    slots_.push_back({.env = nullptr, .rng = Rng()});
    const auto make = [&] { make_one(i, factory); };
    run_one(i, EnvCall::constructor, make);
    if (slots_.back().error) std::rethrow_exception(slots_.back().error);
  }
  observations_ = SpaceLayout(spec_.observation);
  actions_ = SpaceLayout(spec_.action);
  parallel_ = options.stepping == Stepping::parallel;
  restart(rng);
}

void EnvBatch::restart(const Rng& rng) {
  rng_ = rng;
  ended_.clear();
  for (int i = 0; i < num_envs(); ++i) {
    EnvSlot& slot = slots_[static_cast<std::size_t>(i)];
    const int env = options_.first_env + i;
    slot.started = false;
    slot.running = {.env = env};
    slot.episode = env - *options_.total_envs;  // a reset goes to the next
    if (slot.recorder) slot.recorder->drop();
  }
}

/// All envs have one layout: a row of the batch must fit each of them.
void EnvBatch::make_one(int index, const EnvFactory& factory) {
  EnvSlot& slot = slots_[static_cast<std::size_t>(index)];
  slot.env = factory();
  if (!slot.env) fail(ErrorKind::env, "the factory gave no env");
  EnvSpec spec = slot.env->spec();
  check_spec(spec);
  if (index == 0) {
    spec_ = std::move(spec);
  } else if (spec != spec_) {
    fail(ErrorKind::env, "its spec() differs from env 0's");
  }
}

/// Names env, worker, index and call, or episode and step, in whatever `body` throws, and keeps it
/// in the slot.
template <class Body>
void EnvBatch::run_one(int index, EnvCall call, Body& body) {
  EnvSlot& slot = slots_[static_cast<std::size_t>(index)];
  slot.error = nullptr;
  const auto message = [&](const std::string& text) {
    const std::string when =
        call == EnvCall::step && slot.started
            ? fmt::format("episode {}, step {}", slot.episode, slot.running.length + 1)
            : std::string(name_of(call));
    return fmt::format("{} (worker {}, env {}): {}: {}", name_, options_.worker, index, when, text);
  };
  try {
    body();
  } catch (const Error& error) {
    if (error.kind() == ErrorKind::config && call == EnvCall::constructor) {
      slot.error = std::current_exception();  // the place in the file says more
    } else {
      slot.error = std::make_exception_ptr(Error(ErrorKind::env, message(error.what())));
    }
  } catch (...) {
    slot.error = std::make_exception_ptr(Error(ErrorKind::env, message(current_exception_text())));
  }
}

template <class Body>
void EnvBatch::for_each_env(Body body) {
  const int n = num_envs();
  if (parallel_ && n > 1) {
    if (!loop_) loop_ = std::make_unique<ParallelLoop>(options_.num_threads);
    loop_->run(n, body);
  } else {
    for (int i = 0; i < n; ++i) body(i);
  }
}

void EnvBatch::throw_first_error() const {
  for (const EnvSlot& slot : slots_) {
    if (slot.error) std::rethrow_exception(slot.error);
  }
}

void EnvBatch::start_episode(int index, std::int64_t episode, Row observation) {
  EnvSlot& slot = slots_[static_cast<std::size_t>(index)];
  slot.episode = episode;
  slot.rng = rng_.split("episode", static_cast<std::uint64_t>(episode));
  slot.running.episode = episode;
  slot.running.episode_return = 0.0;
  slot.running.length = 0;
  slot.actions.clear();
  slot.too_long = false;
  slot.started = false;
  slot.env->reset(slot.rng, observation);
  slot.started = true;
  if (slot.recorder) slot.recorder->start(episode, *slot.env);
}

void EnvBatch::reset(const Rows& observation) {
  ended_.clear();
  for_each_env([&](int i) {
    const auto start = [&] {
      EnvSlot& slot = slots_[static_cast<std::size_t>(i)];
      start_episode(i, slot.episode + *options_.total_envs, Row(observation, i));
      if (options_.render) slot.frame = slot.env->render();
    };
    run_one(i, EnvCall::reset, start);
  });
  throw_first_error();
}

void EnvBatch::step(const ConstRows& actions, const VectorStep& out,
                    std::span<const std::uint8_t> active) {
  const bool all = active.empty();
  check(all || std::ssize(active) == num_envs(), "each env is told whether to step");
  const bool measure = all && !parallel_ && options_.stepping == Stepping::automatic &&
                       options_.num_threads > 1 && measured_steps_ < kStepsToMeasure;
  const double start = measure ? steady_seconds() : 0.0;
  for_each_env([&](int i) {
    if (all || active[static_cast<std::size_t>(i)] != 0) {
      step_one(i, actions, out);
    } else {
      slots_[static_cast<std::size_t>(i)].ended = false;
      slots_[static_cast<std::size_t>(i)].error = nullptr;
    }
  });
  if (measure) {
    measured_seconds_ += steady_seconds() - start;
    if (++measured_steps_ == kStepsToMeasure) choose_stepping(measured_seconds_ / kStepsToMeasure);
  }
  ended_.clear();
  for (const EnvSlot& slot : slots_) {
    if (slot.ended) ended_.push_back(slot.last);
  }
  throw_first_error();
}

/// May be decided by the clock, because both ways give the same bits.
void EnvBatch::choose_stepping(double seconds_a_step) {
  parallel_ = seconds_a_step > 2.0 * kParallelLoopSeconds;
}

void EnvBatch::step_one(int index, const ConstRows& actions, const VectorStep& out) {
  const auto at = static_cast<std::size_t>(index);
  EnvSlot& slot = slots_[at];
  StepResult result;
  const auto take_step = [&] {
    if (!slot.started) fail(ErrorKind::env, "no episode is running; reset first");
    const ConstRow action(actions, index);
    result = slot.env->step(action, Row(out.observation, index));
    if (!slot.env->can_save()) remember(slot, action);
    if (!spec_.info.empty()) {
      slot.env->info(out.info.subspan(at * spec_.info.size(), spec_.info.size()));
    }
    if (options_.render) slot.frame = slot.env->render();
    if (slot.recorder) slot.recorder->step(*slot.env, result.terminated || result.truncated);
  };
  slot.ended = false;
  run_one(index, EnvCall::step, take_step);
  if (slot.error) return;
  out.reward[at] = static_cast<float>(result.reward);
  out.terminated[at] = result.terminated ? 1 : 0;
  out.truncated[at] = result.truncated ? 1 : 0;
  slot.running.episode_return += result.reward;
  ++slot.running.length;
  ++slot.running.ended_at;
  if (!result.terminated && !result.truncated) return;

  finish_episode(slot, result);
  if (!spec_.info.empty()) {
    const auto info = out.info.subspan(at * spec_.info.size(), spec_.info.size());
    slot.last.info.assign(info.begin(), info.end());
  }
  for (std::size_t leaf = 0; leaf < observations_.leaves().size(); ++leaf) {
    std::memcpy(out.final_observation.leaf_row(leaf, index), out.observation.leaf_row(leaf, index),
                observations_.leaves()[leaf].bytes());
  }
  const auto start = [&] {
    start_episode(index, slot.episode + *options_.total_envs, Row(out.observation, index));
  };
  run_one(index, EnvCall::reset, start);
}

void EnvBatch::finish_episode(EnvSlot& slot, const StepResult& result) {
  slot.ended = true;
  slot.last = slot.running;
  slot.last.terminated = result.terminated;
}

/// An episode that does not end is not remembered for ever.
void EnvBatch::remember(EnvSlot& slot, const ConstRow& action) const {
  if (slot.too_long) return;
  if (slot.running.length >= kMostRememberedSteps) {
    warn_once(
        fmt::format("{}: an episode of more than {} steps, of an env that cannot save itself: a "
                    "checkpoint made "
                    "in it cannot be resumed; give the env save() and load(), or max_episode_steps",
                    name_, kMostRememberedSteps));
    slot.too_long = true;
    slot.actions = {};
    return;
  }
  for (std::size_t leaf = 0; leaf < actions_.leaves().size(); ++leaf) {
    const std::byte* bytes = action.bytes(leaf);
    slot.actions.insert(slot.actions.end(), bytes, bytes + actions_.leaves()[leaf].bytes());
  }
}

/// Brings an env that cannot load to where its episode was: same Rng, same actions.
void EnvBatch::replay(EnvSlot& slot) {
  SpaceValue observation(observations_);
  SpaceValue action(actions_);
  slot.rng = rng_.split("episode", static_cast<std::uint64_t>(slot.episode));
  slot.env->reset(slot.rng, observation.row());
  std::span<const std::byte> rest = slot.actions;
  while (!rest.empty()) {
    for (std::size_t leaf = 0; leaf < actions_.leaves().size(); ++leaf) {
      const std::size_t bytes = actions_.leaves()[leaf].bytes();
      std::memcpy(action.row().bytes(leaf), rest.data(), bytes);
      rest = rest.subspan(bytes);
    }
    slot.env->step(std::as_const(action).row(), observation.row());
  }
}

void EnvBatch::record(const Recording& recording) {
  remove_unfinished(recording);
  for (int i = 0; i < num_envs(); ++i) {
    slots_[static_cast<std::size_t>(i)].recorder =
        std::make_unique<EpisodeRecorder>(recording, options_.first_env + i);
  }
}

void EnvBatch::save(ByteWriter& out) const {
  write(out, static_cast<std::uint64_t>(slots_.size()));
  for (const EnvSlot& slot : slots_) {
    write(out, slot.started);
    write(out, slot.episode);
    write(out, slot.running);
    write(out, slot.rng.state());
    write(out, slot.actions);
    write(out, slot.too_long);
    write(out, slot.env->can_save());
    if (slot.started && slot.env->can_save()) slot.env->save(out);
  }
}

void EnvBatch::load(ByteReader& in) {
  const auto count = read<std::uint64_t>(in);
  if (count != slots_.size()) {
    fail(ErrorKind::checkpoint, "{}: the state of {} envs does not fit {} envs", name_, count,
         slots_.size());
  }
  ended_.clear();
  for (int i = 0; i < num_envs(); ++i) {
    EnvSlot& slot = slots_[static_cast<std::size_t>(i)];
    if (slot.recorder) slot.recorder->drop();  // of this episode the beginning is missing
    slot.started = read<bool>(in);
    slot.episode = read<std::int64_t>(in);
    slot.running = read<EpisodeSummary>(in);
    const auto rng = read<Rng::State>(in);
    slot.actions = read<std::vector<std::byte>>(in);
    slot.too_long = read<bool>(in);
    if (slot.too_long) {
      fail(ErrorKind::checkpoint,
           "{}: the checkpoint was made in an episode of more than {} steps, and the env cannot "
           "save "
           "itself: where the episode stood is lost",
           name_, kMostRememberedSteps);
    }
    if (read<bool>(in) != slot.env->can_save()) {
      fail(ErrorKind::checkpoint, "{}: saved by another version of the env", name_);
    }
    slot.rng.restore(rng);
    if (!slot.started) continue;
    const auto restore = [&] {
      if (slot.env->can_save()) {
        slot.env->load(in, slot.rng);
      } else {
        replay(slot);
      }
    };
    run_one(i, EnvCall::load, restore);
    if (slot.error) std::rethrow_exception(slot.error);
  }
}

}  // namespace detail

std::unique_ptr<VectorEnv> make_vector_env(std::string name, const EnvFactory& factory,
                                           const Rng& rng, const VectorEnvOptions& options) {
  return std::make_unique<detail::EnvBatch>(std::move(name), factory, rng, options);
}

std::unique_ptr<VectorEnv> make_vector_env(const std::string& name, const ConfigValue& config,
                                           const Rng& rng, const VectorEnvOptions& options) {
  return make_vector_env(
      name, [&] { return detail::make_unnamed(name, config); }, rng, options);
}

}  // namespace knurl
