#pragma once

#include <array>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "knurl/envs/conformance.h"

namespace knurl::detail {

/// Keeps the first violation of each rule.
class Findings {
 public:
  void add(EnvRule rule, std::string text) { first_.emplace(rule, std::move(text)); }
  [[nodiscard]] bool has(EnvRule rule) const { return first_.contains(rule); }
  [[nodiscard]] std::vector<Violation> all() const;

 private:
  std::map<EnvRule, std::string> first_;
};

/// Random actions to play again and again. Some are held for a while, which takes an env further
/// than drawing each anew.
class ActionScript {
 public:
  ActionScript(const Space& space, int length, Rng rng);
  ActionScript(const ActionScript&) = delete;
  ActionScript& operator=(const ActionScript&) = delete;

  [[nodiscard]] ConstRow action(std::int64_t at) const { return {view_, at % rows_.rows()}; }

 private:
  SpaceLayout layout_;
  RecordBatch rows_;
  ConstRows view_;
};

/// What an env showed after a reset or a step.
struct Moment {
  std::int64_t episode = 0;
  std::int64_t step = 0;  ///< 0 after a reset
  std::vector<std::byte> observation = {};
  double reward = 0.0;
  bool terminated = false;
  bool truncated = false;
  std::vector<double> info = {};
};

/// Plays episodes of one env by a script: the k-th with the k-th stream of a seed, one in four cut
/// short. Looks at all that the env shows and writes, and tells `findings` what is wrong.
class EnvPlayer {
 public:
  struct Options {
    std::uint64_t seed = 1;
    std::byte fill{1};    ///< what lies in the memory that the env writes to, and around it
    bool render = false;  ///< after each call
  };
  /// Where the play stands, for another player to go on from.
  struct Mark {
    Rng::State rng = {};
    std::int64_t episode = 0;
    std::int64_t step = 0;
    std::int64_t action = 0;
    std::vector<std::byte> env = {};
  };

  EnvPlayer(std::unique_ptr<Env> env, const EnvSpec& spec, const ActionScript& script,
            Findings& findings, const Options& options);
  EnvPlayer(const EnvPlayer&) = delete;  // the env keeps a pointer to a Rng of ours
  EnvPlayer& operator=(const EnvPlayer&) = delete;

  [[nodiscard]] const Env& env() const { return *env_; }
  /// An episode is running: the next move is a step, else a reset.
  [[nodiscard]] bool running() const { return running_; }
  /// Some episode drew random numbers.
  [[nodiscard]] bool drew() const { return drew_; }

  /// Makes the next move. Throws Error(env) with place and call where the env throws.
  Moment next();
  /// Plays on for as many moments as are expected: the first difference, or nothing.
  std::string compare(std::span<const Moment> expected);
  /// Begins again with the first episode, in the same env.
  void restart();
  /// Saves the env, which can, in a running episode; goes on from a mark.
  [[nodiscard]] Mark save() const;
  void load(const Mark& mark);

 private:
  template <class Body>
  void call(const char* name, Body body) const;
  [[nodiscard]] std::string place() const;
  [[nodiscard]] Rng episode_rng() const {
    return Rng(options_.seed).split("episode", static_cast<std::uint64_t>(episode_));
  }
  Moment look(const StepResult& result);
  void look_at_observation();
  void look_at_memory();
  void look_at_numbers(const Moment& moment);
  [[nodiscard]] std::string difference(const Moment& expected, const Moment& actual) const;

  std::unique_ptr<Env> env_;
  const std::vector<std::string> info_names_;
  const ActionScript& script_;
  Findings& findings_;
  const Options options_;

  SpaceLayout layout_;
  RecordBatch memory_;  ///< guard rows, the env's row, guard rows
  Rows rows_;
  ConstRows const_rows_;
  std::vector<double> info_;  ///< the numbers, and guards after them
  std::array<Rng, 2> rngs_;   ///< a load changes to the other one
  std::size_t rng_ = 0;
  std::int64_t episode_ = -1;
  std::int64_t step_ = 0;
  std::int64_t action_ = 0;
  bool running_ = false;
  bool drew_ = false;
};

}  // namespace knurl::detail
