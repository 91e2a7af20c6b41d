#include "knurl/algorithms/rollout/rollout_worker.h"

#include <cmath>
#include <cstring>

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

}  // namespace

RolloutWorker::RolloutWorker(RolloutWorkerSpec spec) : spec_(std::move(spec)) {
  const auto config = make_config(spec_.algorithm);
  config->update(parse_options(spec_.config), "config");
  const CommonOptions& options = config->common();
  env_name_ = *options.environment.env;
  const Rng run(static_cast<std::uint64_t>(options.debugging.seed->value_or(0)));
  rng_ = run.split(spec_.stream);
  env_ = make_vector_env(env_name_, *options.environment.env_config, rng_.split("env"),
                         {.num_envs = spec_.num_envs,
                          .first_env = spec_.first_env,
                          .total_envs = spec_.total_envs,
                          .worker = spec_.worker,
                          .stepping = options.rollouts.env_stepping,
                          .num_threads = options.resources.num_cpus_per_worker,
                          .render = spec_.render});
  policy_ = config->make_policy(
      env_->spec(), spec_.acting,
      {.worker = spec_.worker, .workers = options.rollouts.num_rollout_workers});
  const auto n = static_cast<std::size_t>(spec_.num_envs);
  exploration_rngs_.resize(n);
  terminated_.resize(n);
  truncated_.resize(n);
  info_.resize(env_->spec().info.size() * n);
  const SpaceLayout& layout = env_->observation_layout();
  observations_ = RecordBatch(layout.columns(column::kObservations), spec_.num_envs);
  observation_rows_ = Rows(layout, observations_, column::kObservations);
  final_observations_ = RecordBatch(layout.columns(column::kObservations), spec_.num_envs);
  final_rows_ = Rows(layout, final_observations_, column::kObservations);
}

/// An episode's exploration depends on its number alone.
void RolloutWorker::seed_exploration(int env) {
  exploration_rngs_[static_cast<std::size_t>(env)] =
      rng_.split("exploration", static_cast<std::uint64_t>(env_->episode(env)));
}

void RolloutWorker::start_if_needed() {
  if (started_) return;
  env_->reset(observation_rows_);
  check_observations(observation_rows_);
  for (int env = 0; env < spec_.num_envs; ++env) seed_exploration(env);
  started_ = true;
}

Fragment RolloutWorker::sample(const SampleRequest& request) {
  const double begin = steady_seconds();
  start_if_needed();
  started_ = false;  // where an env throws, all begin new episodes at the next call
  const std::int64_t steps = request.steps_per_env;
  FragmentBuilder builder({.observations = &env_->observation_layout(),
                           .policy_columns = policy_->output_columns(),
                           .info = env_->spec().info,
                           .has_values = policy_->has_values(),
                           .num_envs = spec_.num_envs,
                           .first_env = spec_.first_env,
                           .steps = steps});
  copy_rows(observation_rows_, builder.observations(0), spec_.num_envs);
  policy_->exploration().begin_fragment();
  for (int env = 0; env < spec_.num_envs; ++env) builder.start(env, env_->episode(env));

  Fragment fragment{.env_steps = steps * spec_.num_envs,
                    .weights_version = policy_->weights().version,
                    .times = {.steps = steps}};
  for (std::int64_t i = 0; i < steps; ++i) {
    policy_->exploration().set_timestep(request.timestep + i * spec_.total_envs);
    step(builder, i, fragment);
  }
  copy_rows(builder.observations(steps), observation_rows_, spec_.num_envs);
  started_ = true;

  PolicySteps out = builder.finish();
  if (policy_->has_values()) {
    const double start = steady_seconds();
    policy_->values(FragmentBuilder::bootstrap_rows(env_->observation_layout(), out),
                    out.bootstrap.rows(), out.bootstrap.column<float>(column::kValues).span());
    fragment.times.inference += steady_seconds() - start;
  }
  fragment.policies.push_back(std::move(out));
  fragment.times.total = steady_seconds() - begin;
  return fragment;
}

void RolloutWorker::step(FragmentBuilder& builder, std::int64_t step, Fragment& fragment) {
  // act
  const double start = steady_seconds();
  const PolicyOutput output = policy_->act({.observations = builder.observations(step),
                                            .rows = spec_.num_envs,
                                            .rngs = exploration_rngs_});
  builder.add_policy_columns(step, *output.columns);
  const double acted = steady_seconds();
  fragment.times.inference += acted - start;

  // step: the envs write where the next act reads
  const Rows next = builder.observations(step + 1);
  const std::span<float> rewards = builder.rewards(step);
  env_->step(output.env_actions, {.observation = next,
                                  .reward = rewards,
                                  .terminated = terminated_,
                                  .truncated = truncated_,
                                  .final_observation = final_rows_,
                                  .info = info_});
  builder.add_info(step, info_);
  check_step(rewards, next);
  fragment.times.env += steady_seconds() - acted;

  // end what has ended
  for (const EpisodeSummary& ended : env_->ended()) {
    const int env = ended.env - spec_.first_env;
    builder.end_episode(env, step, ended.terminated ? Ending::terminated : Ending::truncated,
                        final_rows_, env_->episode(env));
    seed_exploration(env);
    fragment.episodes.push_back(ended);
  }
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
  }
  return out.take_bytes();
}

void RolloutWorker::load_state(const std::vector<std::byte>& state) {
  ByteReader in(state);
  started_ = read<bool>(in);
  if (!started_) return;
  env_->load(in);
  for (Rng& rng : exploration_rngs_) rng.restore(read<Rng::State>(in));
  policy_->exploration().load(in);
  const auto observations = read<RecordBatch>(in);
  if (observations.columns() != observations_.columns() ||
      observations.rows() != observations_.rows()) {
    fail(ErrorKind::checkpoint, "worker {}: saved observations are of another env", spec_.worker);
  }
  observations_.copy_rows(0, observations, 0, observations.rows());
}

}  // namespace knurl
