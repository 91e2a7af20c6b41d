#include "knurl/algorithms/dqn/dqn.h"

#include <nlohmann/json.hpp>

#include "knurl/core/base/error.h"
#include "knurl/models/columns.h"

namespace knurl {
namespace {

constexpr const char* kStateFile = "dqn.json";
constexpr const char* kReplayFile = "replay.safetensors";
constexpr const char* kWaitingFile = "n_step.safetensors";

ReplayOptions replay_options(const ReplayConfig& config) {
  ReplayOptions out{.capacity = config.capacity};
  if (*config.type == ReplayType::prioritized) {
    out.priorities = PriorityOptions{.alpha = config.prioritized_replay_alpha,
                                     .epsilon = config.prioritized_replay_eps};
  }
  return out;
}

Schedule epsilon_of(const ExplorationConfig& config) {
  const bool has_one = *config.type == ExplorationType::epsilon_greedy ||
                       *config.type == ExplorationType::parameter_noise;
  return has_one ? epsilon_schedule(config) : Schedule(0.0);
}

}  // namespace

DQN::DQN(std::unique_ptr<const AlgorithmConfig> resolved)
    : Algorithm(std::move(resolved)),
      learner_(options(), observation_layout(), action_layout(), run_rng().split("learner")),
      folder_(options().own().n_step, options().common().training.gamma, observation_layout()),
      replay_(folder_.columns(), replay_options(options().own().replay_buffer_config)),
      draws_(run_rng().split("replay")),
      epsilon_(epsilon_of(options().common().exploration.exploration_config)),
      rows_(static_cast<std::size_t>(options().common().training.train_batch_size.value())),
      weights_(rows_.size()),
      batch_(folder_.columns(), options().common().training.train_batch_size) {
  const ExplorationConfig& exploration = options().common().exploration.exploration_config;
  const bool explore = options().common().exploration.explore;
  if (explore && *exploration.type == ExplorationType::parameter_noise) {
    parameter_noise_.emplace(exploration.initial_stddev, run_rng().split("parameter noise"));
  }
}

/// One round of DQN (Mnih et al. 2015, algorithm 1): act, remember, learn, share.
void DQN::training_step() {
  const auto [stores, updates] = options().rounds();

  // act and remember: workers explore by the last weights
  for (int i = 0; i < stores; ++i) {
    const std::vector<Fragment> fragments = sample(1);
    folder_.add(fragments, [&] { return NStepFolder::Place{&replay_.rows(), replay_.append()}; });
    learner_.observe(fragments);
    if (parameter_noise_) adapt_noise(fragments);
  }
  const std::int64_t remembered = env_steps_sampled() - forgotten_;
  if (remembered < options().own().num_steps_sampled_before_learning_starts) return;
  if (replay_.size() == 0) return;  // no transition is whole yet

  // learn: gradient steps on drawn transitions
  const double start = steady_seconds();
  for (int i = 0; i < updates; ++i) learn_once();
  count_trained(std::int64_t{updates} * std::ssize(rows_), steady_seconds() - start);

  // share: the next steps follow the new weights
  learner_.apply_filter();
  share_weights();
}

Weights DQN::acting_weights() {
  Weights weights = learner_.weights();
  return parameter_noise_ ? parameter_noise_->perturbed(std::move(weights)) : weights;
}

/// Compares what acted with the plain weights; the next round has other noise.
void DQN::adapt_noise(const std::vector<Fragment>& fragments) {
  const auto temperature =
      static_cast<float>(*options().own().categorical_distribution_temperature);
  const auto logits = [&](const Weights& weights) {
    std::vector<float> out = learner_.action_values(weights, fragments);
    for (float& value : out) value /= temperature;
    return out;
  };
  parameter_noise_->adapt(logits(learner_.weights()), logits(acting_weights()),
                          learner_.num_actions(), epsilon_.at(env_steps_sampled()));
  share_weights();
}

/// One gradient step, what it says of priorities, and the target net's turn.
void DQN::learn_once() {
  const DqnOptions& own = options().own();
  const std::int64_t now = env_steps_sampled();
  replay_.draw(draws_, rows_);
  replay_.importance_weights(rows_, own.replay_buffer_config.prioritized_replay_beta->at(now),
                             weights_);
  batch_.gather(replay_.rows(), rows_);
  replay_.update_priorities(rows_, learner_.update(batch_, weights_, now));
  if (now - last_target_update_ >= own.target_network_update_freq) {
    learner_.update_target();
    last_target_update_ = now;
    ++target_updates_;
  }
}

void DQN::report_own(Result& stats) const {
  stats.set("cur_epsilon", epsilon_.at(env_steps_sampled()));
  stats.set("replay_size", replay_.size());
  stats.set("num_target_updates", target_updates_);
  stats.set("last_target_update_ts", last_target_update_);
}

void DQN::save_own(CheckpointData& out) const {
  const bool whole = options().own().store_buffer_in_checkpoints;
  nlohmann::ordered_json json{{"draws_rng", draws_.state()},
                              {"last_target_update", last_target_update_},
                              {"target_updates", target_updates_},
                              {"replay_saved", whole},
                              {"forgotten", forgotten_}};
  if (parameter_noise_) {
    json["noise_stddev"] = parameter_noise_->stddev();
    json["noise_round"] = parameter_noise_->round();
  }
  out.add_json(kStateFile, json.dump(1));
  if (!whole) return;
  replay_.save(out, kReplayFile);
  ByteWriter waiting;
  folder_.save(waiting);
  const std::vector<std::byte>& bytes = waiting.bytes();
  RecordBatch tensors({{"waiting", DType::uint8, {std::ssize(bytes)}}}, 1);
  std::ranges::copy(bytes, tensors.data(0));
  out.add_tensors(kWaitingFile, tensors);
}

void DQN::load_own(const CheckpointData& in) {
  try {
    const auto json = nlohmann::json::parse(in.json(kStateFile));
    draws_.restore(json.at("draws_rng").get<Rng::State>());
    last_target_update_ = json.at("last_target_update");
    target_updates_ = json.at("target_updates");
    if (parameter_noise_) {
      parameter_noise_->restore(json.at("noise_stddev"), json.at("noise_round"));
    }
    if (!json.at("replay_saved").get<bool>()) {
      forgotten_ = env_steps_sampled();  // it is filled anew before learning goes on
      return;
    }
    forgotten_ = json.at("forgotten");
  } catch (const nlohmann::json::exception& error) {
    fail(ErrorKind::checkpoint, "{}: {}", in.path_of(kStateFile), error.what());
  }
  replay_.load(in, kReplayFile);
  const RecordBatch tensors = in.tensors(kWaitingFile);
  ByteReader waiting({tensors.data(0), tensors.row_bytes(0)});
  folder_.load(waiting);
}

}  // namespace knurl
