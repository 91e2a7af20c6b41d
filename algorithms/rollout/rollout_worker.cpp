#include "knurl/algorithms/rollout/rollout_worker.h"

#include <chrono>
#include <cmath>
#include <cstring>

#include "knurl/algorithms/algorithm_config.h"
#include "knurl/algorithms/registry.h"
#include "knurl/core/base/error.h"
#include "knurl/core/config/yaml.h"

namespace knurl {
namespace {

double now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

/// Copies whole rows of one column.
void copy_rows(const std::byte* from, std::byte* to, std::int64_t rows, std::size_t row_bytes) {
  std::memcpy(to, from, static_cast<std::size_t>(rows) * row_bytes);
}

/// True where all numbers are finite. The sum of x - x is 0, or NaN.
bool all_finite(const float* x, std::int64_t n) {
  float sum = 0.0F;
  for (std::int64_t i = 0; i < n; ++i) sum += x[i] - x[i];
  return sum == 0.0F;
}

}  // namespace

struct RolloutWorker::Filling {
  PolicySteps out;
  std::vector<EpisodeSummary> episodes;
  SampleTimes times;
  ConstRows env_actions;
  Rows observations;  ///< of the fragment's rows
  Rows bootstrap;     ///< of the bootstrap's rows
  std::int64_t bootstrap_rows = 0;
  std::vector<std::size_t> policy_columns;  ///< where the policy's columns lie in ours
  std::vector<ColumnView<double>> info;
  ColumnView<float> rewards;
  std::vector<std::uint8_t> terminated;
  std::vector<std::uint8_t> truncated;
  std::vector<std::int64_t> segment_start;  ///< step at which each env's segment began
  std::vector<std::int64_t> episode;        ///< that each env is in
};

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
  policy_ = config->make_policy(env_->spec(), spec_.explore);
  exploration_rngs_.resize(static_cast<std::size_t>(spec_.num_envs));
  const SpaceLayout& layout = env_->observation_layout();
  observations_ = RecordBatch(layout.columns("obs"), spec_.num_envs);
  observation_rows_ = Rows(layout, observations_, "obs");
  final_observations_ = RecordBatch(layout.columns("obs"), spec_.num_envs);
  final_rows_ = Rows(layout, final_observations_, "obs");
  info_.resize(env_->spec().info.size() * static_cast<std::size_t>(spec_.num_envs));
}

/// An episode's exploration depends on its number alone.
void RolloutWorker::seed_exploration(int env) {
  exploration_rngs_[static_cast<std::size_t>(env)] =
      rng_.split("exploration", static_cast<std::uint64_t>(env_->episode(env)));
}

void RolloutWorker::start_if_needed() {
  if (started_) return;
  env_->reset(observation_rows_);
  for (int env = 0; env < spec_.num_envs; ++env) seed_exploration(env);
  started_ = true;
}

Fragment RolloutWorker::sample(const SampleRequest& request) {
  const double start = now();
  start_if_needed();
  const std::int64_t n = spec_.num_envs;
  const std::int64_t steps = request.steps_per_env;
  Filling filling;
  prepare(filling, steps);
  for (std::int64_t step = 0; step < steps; ++step) {
    policy_->exploration().set_timestep(request.timestep + step * spec_.total_envs);
    act(filling, step * n);
    this->step(filling, step, step * n);
  }
  finish(filling, steps);

  Fragment fragment;
  fragment.policies.push_back(std::move(filling.out));
  fragment.episodes = std::move(filling.episodes);
  fragment.env_steps = steps * n;
  fragment.weights_version = policy_->weights().version;
  fragment.times = filling.times;
  fragment.times.total = now() - start;
  return fragment;
}

/// Rows are steps of all envs in turn: env e's step t is row t * n + e, so that envs write where
/// the policy reads. One more row an env takes the observation after the last step.
void RolloutWorker::prepare(Filling& filling, std::int64_t steps) const {
  const std::int64_t n = spec_.num_envs;
  const SpaceLayout& layout = env_->observation_layout();
  std::vector<ColumnSpec> columns = layout.columns("obs");
  const std::vector<ColumnSpec> outputs = policy_->output_columns();
  columns.insert(columns.end(), outputs.begin(), outputs.end());
  columns.push_back({"rewards", DType::float32, {}});
  for (const std::string& name : env_->spec().info) {
    columns.push_back({"info/" + name, DType::float64, {}});
  }
  RecordBatch& batch = filling.out.columns = RecordBatch(std::move(columns), (steps + 1) * n);
  filling.observations = Rows(layout, batch, "obs");
  for (const ColumnSpec& output : outputs) {
    filling.policy_columns.push_back(batch.index_of(output.name));
  }
  for (const std::string& name : env_->spec().info) {
    filling.info.push_back(batch.column<double>("info/" + name));
  }
  filling.rewards = batch.column<float>("rewards");
  for (std::size_t leaf = 0; leaf < layout.leaves().size(); ++leaf) {
    copy_rows(observation_rows_.leaf_row(leaf, 0), filling.observations.leaf_row(leaf, 0), n,
              layout.leaves()[leaf].bytes());
  }
  grow_bootstrap(filling, 2 * n);
  filling.terminated.resize(static_cast<std::size_t>(n));
  filling.truncated.resize(static_cast<std::size_t>(n));
  filling.segment_start.assign(static_cast<std::size_t>(n), 0);
  for (int env = 0; env < n; ++env) filling.episode.push_back(env_->episode(env));
}

void RolloutWorker::grow_bootstrap(Filling& filling, std::int64_t rows) const {
  const SpaceLayout& layout = env_->observation_layout();
  std::vector<ColumnSpec> columns = layout.columns("obs");
  if (policy_->has_values()) columns.push_back({"vf_preds", DType::float32, {}});
  RecordBatch larger(std::move(columns), rows);
  if (filling.bootstrap_rows > 0) {
    larger.copy_rows(0, filling.out.bootstrap, 0, filling.bootstrap_rows);
  }
  filling.out.bootstrap = std::move(larger);
  filling.bootstrap = Rows(layout, filling.out.bootstrap, "obs");
}

void RolloutWorker::act(Filling& filling, std::int64_t first_row) {
  const double start = now();
  const std::int64_t n = spec_.num_envs;
  const PolicyOutput output = policy_->act(
      {.observations = filling.observations.from(first_row), .rows = n, .rngs = exploration_rngs_});
  const RecordBatch& said = *output.columns;
  RecordBatch& ours = filling.out.columns;
  for (std::size_t column : filling.policy_columns) {
    const std::size_t row_bytes = ours.row_bytes(column);
    copy_rows(said.data(said.index_of(ours.columns()[column].name)),
              ours.data(column) + static_cast<std::size_t>(first_row) * row_bytes, n, row_bytes);
  }
  filling.env_actions = output.env_actions;
  filling.times.inference += now() - start;
}

void RolloutWorker::step(Filling& filling, std::int64_t step, std::int64_t first_row) {
  const double start = now();
  const auto n = static_cast<std::size_t>(spec_.num_envs);
  const std::int64_t next_row = first_row + spec_.num_envs;
  env_->step(filling.env_actions,
             {.observation = filling.observations.from(next_row),
              .reward = filling.rewards.span().subspan(static_cast<std::size_t>(first_row), n),
              .terminated = filling.terminated,
              .truncated = filling.truncated,
              .final_observation = final_rows_,
              .info = info_});
  const std::size_t width = filling.info.size();
  for (std::size_t k = 0; k < width; ++k) {
    for (std::size_t env = 0; env < n; ++env) {
      filling.info[k][first_row + static_cast<std::int64_t>(env)] = info_[env * width + k];
    }
  }
  filling.times.env += now() - start;
  check_finite(filling, first_row);
  if (!env_->ended().empty()) end_segments(filling, step);
}

/// NaN stops the run where it comes from, before anything is learnt from it.
void RolloutWorker::check_finite(const Filling& filling, std::int64_t first_row) const {
  const std::int64_t n = spec_.num_envs;
  const auto refuse = [&](std::int64_t env, const std::string& field, double value) {
    const auto index = static_cast<int>(env);
    std::int64_t episode = env_->episode(index);
    std::int64_t step = env_->episode_length(index);
    for (const EpisodeSummary& ended : env_->ended()) {
      if (ended.env != spec_.first_env + index) continue;
      episode = ended.episode;
      step = ended.length;
    }
    fail(ErrorKind::env, "{} (worker {}, env {}): episode {}, step {}: {} is {}: must be finite",
         env_name_, spec_.worker, env, episode, step, field, value);
  };
  const float* rewards = filling.rewards.data() + first_row;
  if (!all_finite(rewards, n)) {
    for (std::int64_t env = 0; env < n; ++env) {
      if (!std::isfinite(rewards[env])) refuse(env, "reward", rewards[env]);
    }
  }
  const std::vector<Leaf>& leaves = env_->observation_layout().leaves();
  for (std::size_t leaf = 0; leaf < leaves.size(); ++leaf) {
    if (leaves[leaf].dtype != DType::float32) continue;
    const std::int64_t size = leaves[leaf].size();
    const auto check_rows = [&](const Rows& rows, std::int64_t row, std::int64_t count,
                                std::int64_t first_env) {
      const auto* x = reinterpret_cast<const float*>(rows.leaf_row(leaf, row));
      if (all_finite(x, count * size)) return;
      for (std::int64_t i = 0; i < count * size; ++i) {
        if (std::isfinite(x[i])) continue;
        const std::string& path = leaves[leaf].path;
        refuse(first_env + i / size,
               fmt::format("observation{}{}[{}]", path.empty() ? "" : " ", path, i % size), x[i]);
      }
    };
    check_rows(filling.observations, first_row + n, n, 0);
    for (const EpisodeSummary& ended : env_->ended()) {
      const std::int64_t env = ended.env - spec_.first_env;
      check_rows(final_rows_, env, 1, env);
    }
  }
}

void RolloutWorker::end_segments(Filling& filling, std::int64_t step) {
  for (const EpisodeSummary& ended : env_->ended()) {
    const int env = ended.env - spec_.first_env;
    filling.episodes.push_back(ended);
    end_segment(filling, env, step + 1, ended.terminated ? Ending::terminated : Ending::truncated);
    seed_exploration(env);
    filling.segment_start[static_cast<std::size_t>(env)] = step + 1;
    filling.episode[static_cast<std::size_t>(env)] = env_->episode(env);
  }
}

void RolloutWorker::end_segment(Filling& filling, int env, std::int64_t end_step, Ending ending) {
  const auto at = static_cast<std::size_t>(env);
  const std::int64_t n = spec_.num_envs;
  if (filling.bootstrap_rows == filling.out.bootstrap.rows()) {
    grow_bootstrap(filling, 2 * filling.bootstrap_rows);
  }
  // what the segment ended with: the final observation, or the one that the episode goes on from
  const Rows& from = ending == Ending::cut ? filling.observations : final_rows_;
  const std::int64_t from_row = ending == Ending::cut ? end_step * n + env : env;
  const std::vector<Leaf>& leaves = env_->observation_layout().leaves();
  for (std::size_t leaf = 0; leaf < leaves.size(); ++leaf) {
    copy_rows(from.leaf_row(leaf, from_row),
              filling.bootstrap.leaf_row(leaf, filling.bootstrap_rows), 1, leaves[leaf].bytes());
  }
  filling.out.segments.push_back({.env = spec_.first_env + env,
                                  .episode = filling.episode[at],
                                  .first_row = filling.segment_start[at] * n + env,
                                  .length = end_step - filling.segment_start[at],
                                  .row_stride = n,
                                  .ending = ending,
                                  .bootstrap_row = filling.bootstrap_rows++});
}

void RolloutWorker::finish(Filling& filling, std::int64_t steps) {
  const std::int64_t n = spec_.num_envs;
  for (int env = 0; env < n; ++env) {
    if (filling.segment_start[static_cast<std::size_t>(env)] == steps) continue;
    end_segment(filling, env, steps, Ending::cut);
  }
  const std::vector<Leaf>& leaves = env_->observation_layout().leaves();
  for (std::size_t leaf = 0; leaf < leaves.size(); ++leaf) {
    copy_rows(filling.observations.leaf_row(leaf, steps * n), observation_rows_.leaf_row(leaf, 0),
              n, leaves[leaf].bytes());
  }
  filling.out.columns.set_rows(steps * n);
  filling.out.bootstrap.set_rows(filling.bootstrap_rows);
  if (policy_->has_values()) {
    const double start = now();
    const auto values = filling.out.bootstrap.column<float>("vf_preds");
    policy_->values(filling.bootstrap, filling.bootstrap_rows, values.span());
    filling.times.inference += now() - start;
  }
}

std::vector<std::byte> RolloutWorker::save_state() const {
  ByteWriter out;
  write(out, started_);
  if (started_) {
    env_->save(out);
    for (const Rng& rng : exploration_rngs_) write(out, rng.state());
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
  const auto observations = read<RecordBatch>(in);
  if (observations.columns() != observations_.columns() ||
      observations.rows() != observations_.rows()) {
    fail(ErrorKind::checkpoint, "worker {}: saved observations are of another env", spec_.worker);
  }
  observations_.copy_rows(0, observations, 0, observations.rows());
}

}  // namespace knurl
