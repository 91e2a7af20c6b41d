#include "knurl/algorithms/rollout/rollout_worker.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <new>

#include "knurl/algorithms/algorithm_config.h"
#include "knurl/algorithms/registry.h"
#include "knurl/core/base/clock.h"
#include "knurl/core/base/error.h"
#include "knurl/core/data/finite.h"
#include "knurl/models/columns.h"

namespace knurl {
namespace {

/// Copies the first rows of a space from some columns to others.
void copy_rows(const Rows& from, const Rows& to, std::int64_t rows) {
  const std::vector<Leaf>& leaves = from.layout().leaves();
  for (std::size_t leaf = 0; leaf < leaves.size(); ++leaf) {
    std::memcpy(to.leaf_row(leaf, 0), from.leaf_row(leaf, 0),
                static_cast<std::size_t>(rows) * leaves[leaf].bytes());
  }
}

/// A picture, to the terminal.
void show(const std::string& picture) {
  fmt::print("{}\n", picture);
  std::fflush(stdout);
}

}  // namespace

RolloutWorker::RolloutWorker(RolloutWorkerSpec spec)
    : spec_(std::move(spec)), config_(make_config(spec_.algorithm)) {
  config_->update(parse_options(spec_.config), "config");
  const CommonOptions& options = config_->common();
  env_name_ = *options.environment.env;
  print_ = options.environment.render_env && spec_.first_env == 0;
  run_ = Rng(static_cast<std::uint64_t>(options.debugging.seed->value_or(0)));
  rng_ = run_.split(spec_.stream);
  env_ = make_vector_env(env_name_, *options.environment.env_config, rng_.split("env"),
                         {.num_envs = spec_.num_envs,
                          .first_env = spec_.first_env,
                          .total_envs = spec_.total_envs,
                          .worker = spec_.worker,
                          .stepping = options.rollouts.env_stepping,
                          .num_threads = options.resources.num_cpus_per_worker,
                          .render = spec_.render || print_});
  make_policy();
  const auto n = static_cast<std::size_t>(spec_.num_envs);
  exploration_rngs_.resize(n);
  terminated_.resize(n);
  truncated_.resize(n);
  active_.resize(n);
  info_.resize(env_->spec().info.size() * n);
  const SpaceLayout& layout = env_->observation_layout();
  observations_ = RecordBatch(layout.columns(column::kObservations), spec_.num_envs);
  observation_rows_ = Rows(layout, observations_, column::kObservations);
  final_observations_ = RecordBatch(layout.columns(column::kObservations), spec_.num_envs);
  final_rows_ = Rows(layout, final_observations_, column::kObservations);
  if (const auto& callbacks = *options.callbacks.callbacks) {
    const EpisodeWatch::Place place{
        .purpose = spec_.purpose, .worker = spec_.worker, .first_env = spec_.first_env};
    watch_ = std::make_unique<EpisodeWatch>(*callbacks, place, *env_);
  }
}

RolloutWorker::~RolloutWorker() = default;

void RolloutWorker::make_policy() {
  policy_ = config_->make_policy(
      env_->spec(), spec_.acting,
      {.worker = spec_.worker, .workers = config_->common().rollouts.num_rollout_workers});
  memory_ = RecordBatch(policy_->memory_columns(), spec_.num_envs);
  mask_ = config_->action_mask(env_->observation_layout(), SpaceLayout(env_->spec().action));
}

void RolloutWorker::record(const std::string& directory, const std::string& label,
                           std::optional<std::int64_t> num_episodes) {
  const std::optional<RecordEpisode> options = config_->run_wrappers().recording;
  if (!options) return;
  env_->record({.options = *options,
                .directory = std::filesystem::path(directory) / options->directory,
                .label = label,
                .worker = spec_.worker,
                .num_episodes = num_episodes});
}

void RolloutWorker::restart(const std::string& stream) {
  rng_ = run_.split(stream);
  env_->restart(rng_.split("env"));
  const Weights weights = policy_->weights();
  make_policy();  // whose exploration begins anew
  policy_->set_weights(weights);
  started_ = false;
}

/// An episode's exploration depends on its number alone, and nothing is remembered of others.
void RolloutWorker::begin_episode(int env) {
  for (std::size_t k = 0; k < memory_.columns().size(); ++k) {
    const std::size_t bytes = memory_.row_bytes(k);
    std::memset(memory_.data(k) + static_cast<std::size_t>(env) * bytes, 0, bytes);
  }
  exploration_rngs_[static_cast<std::size_t>(env)] =
      rng_.split("exploration", static_cast<std::uint64_t>(env_->episode(env)));
}

void RolloutWorker::start_if_needed() {
  if (started_) return;
  env_->reset(observation_rows_);
  check_observations(observation_rows_);
  for (int env = 0; env < spec_.num_envs; ++env) begin_episode(env);
  if (watch_) watch_->start(observation_rows_);
  started_ = true;
}

FragmentBuilder RolloutWorker::new_builder(std::int64_t steps) const {
  FragmentBuilder builder({.observations = &env_->observation_layout(),
                           .policy_columns = policy_->output_columns(),
                           .info = env_->spec().info,
                           .has_values = policy_->has_values(),
                           .memory = memory_.columns().empty() ? nullptr : &memory_,
                           .num_envs = spec_.num_envs,
                           .first_env = spec_.first_env,
                           .steps = steps});
  copy_rows(observation_rows_, builder.observations(0), spec_.num_envs);
  for (int env = 0; env < spec_.num_envs; ++env) builder.start(env, env_->episode(env));
  return builder;
}

Fragment RolloutWorker::sample(const SampleRequest& request) {
  try {
    return run(request);
  } catch (const std::bad_alloc&) {
    fail(ErrorKind::config,
         "worker {}: there is no memory for {} steps in each of {} environments: "
         "rollouts.rollout_fragment_length and rollouts.num_envs_per_worker say how many",
         spec_.worker, request.steps_per_env, spec_.num_envs);
  }
}

Fragment RolloutWorker::run(const SampleRequest& request) {
  const double begin = steady_seconds();
  start_if_needed();
  policy_->exploration().begin_fragment();
  started_ = false;  // where an env throws, all begin new episodes at the next call
  const bool whole = request.mode == BatchMode::complete_episodes;
  FragmentBuilder builder = new_builder(request.steps_per_env);
  std::ranges::fill(active_, std::uint8_t{1});
  num_active_ = spec_.num_envs;

  Fragment fragment{.weights_version = policy_->weights().version};
  std::int64_t steps = 0;
  for (; whole ? num_active_ > 0 : steps < request.steps_per_env; ++steps) {
    builder.make_room(steps);
    policy_->exploration().set_timestep(request.timestep + steps * spec_.total_envs);
    step(builder, steps, fragment);
    end_episodes(builder, steps, request);
  }
  copy_rows(builder.observations(steps), observation_rows_, spec_.num_envs);
  // where an env waited, the policy drew from its stream and remembered for nothing
  for (int env = 0; whole && env < spec_.num_envs; ++env) begin_episode(env);
  started_ = true;

  fragment.times.steps = steps;
  PolicySteps out = builder.finish(steps);
  if (policy_->has_values()) {
    const double start = steady_seconds();
    policy_->values(
        {.observations = FragmentBuilder::bootstrap_rows(env_->observation_layout(), out),
         .rows = out.bootstrap.rows(),
         .memory = &out.bootstrap},
        out.bootstrap.column<float>(column::kValues).span());
    fragment.times.inference += steady_seconds() - start;
  }
  fragment.policies.push_back(std::move(out));
  fragment.times.total = steady_seconds() - begin;
  if (watch_) watch_->sample_end(fragment);
  return fragment;
}

/// Which envs step; nothing where all do.
std::span<const std::uint8_t> RolloutWorker::active() const {
  if (num_active_ == spec_.num_envs) return {};
  return active_;
}

void RolloutWorker::step(FragmentBuilder& builder, std::int64_t step, Fragment& fragment) {
  // act
  const double start = steady_seconds();
  builder.add_memory(step);
  const PolicyOutput output = policy_->act({.observations = builder.observations(step),
                                            .rows = spec_.num_envs,
                                            .rngs = exploration_rngs_,
                                            .memory = &memory_});
  builder.add_policy_columns(step, *output.columns);
  const double acted = steady_seconds();
  fragment.times.inference += acted - start;

  // step: the envs write where the next act reads
  const Rows next = builder.observations(step + 1);
  const std::span<float> rewards = builder.rewards(step);
  for (int env = 0; num_active_ < spec_.num_envs && env < spec_.num_envs; ++env) {
    if (active_[static_cast<std::size_t>(env)] == 0) builder.stay(env, step);
  }
  env_->step(output.env_actions,
             {.observation = next,
              .reward = rewards,
              .terminated = terminated_,
              .truncated = truncated_,
              .final_observation = final_rows_,
              .info = info_},
             active());
  builder.add_info(step, info_);
  check_step(rewards, next);
  fragment.env_steps += num_active_;
  fragment.times.env += steady_seconds() - acted;
  if (print_ && active_[0] != 0) show(env_->render(0));

  // tell who wants to know
  const std::size_t known = fragment.episodes.size();
  fragment.episodes.insert(fragment.episodes.end(), env_->ended().begin(), env_->ended().end());
  if (watch_) {
    watch_->step({.actions = output.env_actions,
                  .observations = next,
                  .final_observations = final_rows_,
                  .rewards = rewards,
                  .info = info_,
                  .active = active()},
                 std::span(fragment.episodes).subspan(known));
  }
  config_->common().environment.clip_rewards->apply(rewards);
  if (memory_.has(column::kPreviousRewards)) {
    std::ranges::copy(rewards, memory_.column<float>(column::kPreviousRewards).data());
  }
}

void RolloutWorker::end_episodes(FragmentBuilder& builder, std::int64_t step,
                                 const SampleRequest& request) {
  constexpr std::int64_t kMostSteps = 1'000'000;
  const bool whole = request.mode == BatchMode::complete_episodes;
  for (const EpisodeSummary& ended : env_->ended()) {
    const int env = ended.env - spec_.first_env;
    builder.end_episode(env, step, ended.terminated ? Ending::terminated : Ending::truncated,
                        final_rows_, env_->episode(env));
    begin_episode(env);
    if (!whole || step + 1 < request.steps_per_env) continue;
    builder.stop(env);
    active_[static_cast<std::size_t>(env)] = 0;
    --num_active_;
  }
  if (!whole || num_active_ == 0 || step < request.steps_per_env + kMostSteps - 1) return;
  const auto env = static_cast<int>(std::ranges::find(active_, 1) - active_.begin());
  refuse(last_moment(env), fmt::format("batch_mode complete_episodes: the episode goes on after "
                                       "more than {} steps; give env_config.max_episode_steps",
                                       kMostSteps));
}

/// What an env must not give stops the run where it comes from, before anything is learnt from it.
void RolloutWorker::check_step(std::span<const float> rewards, const Rows& observations) const {
  if (!all_finite(rewards)) {
    for (int env = 0; env < spec_.num_envs; ++env) {
      const float reward = rewards[static_cast<std::size_t>(env)];
      if (!std::isfinite(reward)) {
        refuse(last_moment(env), fmt::format("reward is {}: must be finite", reward));
      }
    }
  }
  for (const EpisodeSummary& ended : env_->ended()) {
    const int env = ended.env - spec_.first_env;
    for (std::size_t leaf = 0; leaf < leaves().size(); ++leaf) {
      check_observation(final_rows_, leaf, last_moment(env));
    }
  }
  check_observations(observations);
}

void RolloutWorker::check_observations(const Rows& rows) const {
  for (int env = 0; mask_ && env < spec_.num_envs; ++env) {
    if (mask_.allows_any(rows, env)) continue;
    refuse({env, env_->episode(env), env_->episode_length(env)},
           fmt::format("observation[{}] allows no action", leaves()[*mask_.leaf()].path));
  }
  for (std::size_t leaf = 0; leaf < leaves().size(); ++leaf) {
    const bool plain = leaves()[leaf].dtype == DType::float32;
    const auto numbers = static_cast<std::size_t>(leaves()[leaf].size() * spec_.num_envs);
    if (plain && all_finite({reinterpret_cast<const float*>(rows.leaf_row(leaf, 0)), numbers})) {
      continue;  // all envs at once where it can be seen at once
    }
    for (int env = 0; env < spec_.num_envs; ++env) {
      check_observation(rows, leaf, {env, env_->episode(env), env_->episode_length(env)});
    }
  }
}

void RolloutWorker::check_observation(const Rows& rows, std::size_t leaf,
                                      const Moment& moment) const {
  const std::string wrong = unusable(ConstRow(ConstRows(rows), moment.env), leaf);
  if (!wrong.empty()) refuse(moment, "observation" + wrong);
}

/// Where an env was when its last step ended, before any reset.
RolloutWorker::Moment RolloutWorker::last_moment(int env) const {
  for (const EpisodeSummary& ended : env_->ended()) {
    if (ended.env == spec_.first_env + env) return {env, ended.episode, ended.length};
  }
  return {env, env_->episode(env), env_->episode_length(env)};
}

void RolloutWorker::refuse(const Moment& moment, const std::string& why) const {
  fail(ErrorKind::env, "{} (worker {}, env {}): episode {}, step {}: {}", env_name_, spec_.worker,
       moment.env, moment.episode, moment.step, why);
}

std::vector<std::byte> RolloutWorker::save_state() const {
  ByteWriter out;
  write(out, started_);
  if (started_) {
    env_->save(out);
    for (const Rng& rng : exploration_rngs_) write(out, rng.state());
    policy_->exploration().save(out);
    write(out, observations_);
    write(out, memory_);
    write(out, watch_ ? watch_->numbers() : EpisodeWatch::Numbers());
  }
  return out.take_bytes();
}

/// Takes over saved rows of `what`.
void RolloutWorker::restore_rows(const RecordBatch& saved, RecordBatch& to, const char* what,
                                 const char* whose) const {
  if (saved.columns() != to.columns() || saved.rows() != to.rows()) {
    fail(ErrorKind::checkpoint, "worker {}: saved {} are of another {}", spec_.worker, what, whose);
  }
  to.copy_rows(0, saved, 0, saved.rows());
}

void RolloutWorker::load_state(const std::vector<std::byte>& state) {
  ByteReader in(state);
  started_ = read<bool>(in);
  if (!started_) return;
  env_->load(in);
  for (Rng& rng : exploration_rngs_) rng.restore(read<Rng::State>(in));
  policy_->exploration().load(in);
  restore_rows(read<RecordBatch>(in), observations_, "observations", "env");
  restore_rows(read<RecordBatch>(in), memory_, "memories", "model");
  auto numbers = read<EpisodeWatch::Numbers>(in);
  if (watch_ && !numbers.empty()) watch_->set_numbers(std::move(numbers));
}

}  // namespace knurl
