// Reinforcement learning from scratch, on nothing but tasks and actors: a seeker learns the way
// through a maze of 5 x 5 cells. First in one thread, then with four simulations that run as
// actors. No environment, policy or algorithm of knurl's is used; they are all here.

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdio>
#include <stdexcept>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "knurl/core/base/rng.h"
#include "knurl/core/runtime/runtime.h"

namespace {

/// The whole numbers 0 … n - 1.
struct Discrete {
  int n = 1;

  int sample(knurl::Rng& rng) const {
    return static_cast<int>(rng.below(static_cast<std::uint64_t>(n)));
  }
};

struct Cell {
  int row = 0;
  int column = 0;
  bool operator==(const Cell&) const = default;
};

/// The maze: from the upper left corner to the goal in the lower right one.
class Environment {
 public:
  static constexpr int kSize = 5;
  static constexpr int kMaxSteps = 100;  // a policy that walks into a wall for ever still ends
  static constexpr Discrete action_space{4};
  static constexpr Discrete observation_space{kSize * kSize};

  struct Info {
    Cell seeker;
    Cell goal;
  };
  struct Step {
    int observation = 0;
    double reward = 0.0;
    bool terminated = false;  // the goal is reached
    bool truncated = false;   // the steps are used up
    Info info = {};
  };

  int reset() {
    seeker_ = {0, 0};
    steps_ = 0;
    return observation();
  }

  Step step(int action) {
    switch (action) {
      case 0:  // down
        seeker_.row = std::min(seeker_.row + 1, kSize - 1);
        break;
      case 1:  // left
        seeker_.column = std::max(seeker_.column - 1, 0);
        break;
      case 2:  // up
        seeker_.row = std::max(seeker_.row - 1, 0);
        break;
      case 3:  // right
        seeker_.column = std::min(seeker_.column + 1, kSize - 1);
        break;
      default:
        throw std::invalid_argument("Invalid action");
    }
    const bool at_goal = seeker_ == goal_;
    return {.observation = observation(),
            .reward = at_goal ? 1.0 : 0.0,
            .terminated = at_goal,
            .truncated = ++steps_ >= kMaxSteps,
            .info = {.seeker = seeker_, .goal = goal_}};
  }

  [[nodiscard]] std::string render() const {
    std::string out;
    for (int row = 0; row < kSize; ++row) {
      for (int column = 0; column < kSize; ++column) {
        const Cell cell{row, column};
        out += cell == seeker_ ? "|S" : cell == goal_ ? "|G" : "| ";
      }
      out += "|\n";
    }
    return out;
  }

 private:
  [[nodiscard]] int observation() const { return kSize * seeker_.row + seeker_.column; }

  Cell seeker_;
  Cell goal_ = {kSize - 1, kSize - 1};
  int steps_ = 0;
};

/// What is expected of each action in each cell. An aggregate: it travels to actors as it is.
struct Policy {
  std::vector<std::array<double, 4>> state_action_table =
      std::vector<std::array<double, 4>>(Environment::observation_space.n);
  std::int64_t version = 0;  // updates it has seen

  int get_action(int state, bool explore, double epsilon, knurl::Rng& rng) const {
    if (explore && rng.uniform() < epsilon) return Environment::action_space.sample(rng);
    const auto& values = state_action_table.at(static_cast<std::size_t>(state));
    return static_cast<int>(std::ranges::max_element(values) - values.begin());  // first of equals
  }
};

struct Experience {
  int state = 0;
  int action = 0;
  double reward = 0.0;
  int next_state = 0;
  bool terminated = false;
};

/// One episode, and which policy walked it.
struct Rollout {
  std::vector<Experience> experiences;
  std::int64_t policy_version = 0;
};

/// Walks mazes by a policy. A plain class: used directly or as an actor.
class Simulation {
 public:
  explicit Simulation(std::uint64_t seed) : rng_(seed) {}

  Rollout rollout(const Policy& policy, bool explore, double epsilon) {
    Rollout out{.experiences = {}, .policy_version = policy.version};
    int state = env_.reset();
    for (bool over = false; !over;) {
      const int action = policy.get_action(state, explore, epsilon, rng_);
      const Environment::Step step = env_.step(action);
      out.experiences.push_back({state, action, step.reward, step.observation, step.terminated});
      state = step.observation;
      over = step.terminated || step.truncated;
    }
    return out;
  }

  [[nodiscard]] std::string render() const { return env_.render(); }

 private:
  Environment env_;
  knurl::Rng rng_;
};

/// Q-learning (Watkins and Dayan 1992) over the steps of an episode.
void update_policy(Policy& policy, const std::vector<Experience>& experiences, double weight = 0.1,
                   double discount_factor = 0.9) {
  for (const auto& [state, action, reward, next_state, terminated] : experiences) {
    const auto& next = policy.state_action_table.at(static_cast<std::size_t>(next_state));
    const double future = terminated ? 0.0 : *std::ranges::max_element(next);
    double& value = policy.state_action_table.at(static_cast<std::size_t>(state))
                        .at(static_cast<std::size_t>(action));
    value = (1.0 - weight) * value + weight * (reward + discount_factor * future);
  }
  ++policy.version;
}

Policy train_policy(int num_episodes = 10'000) {
  Policy policy;
  Simulation simulation(/*seed=*/1);
  for (int episode = 0; episode < num_episodes; ++episode) {
    update_policy(policy, simulation.rollout(policy, /*explore=*/true, 0.1).experiences);
  }
  return policy;
}

/// The same with simulations that run at once. The policy is stored anew each round, so that the
/// actors always walk by the newest; whoever is ready first is learnt from first.
Policy train_policy_parallel(const knurl::Runtime& runtime, int num_episodes = 1'000,
                             int num_simulations = 4) {
  Policy policy;
  std::vector<knurl::ActorHandle<Simulation>> simulations;
  for (int i = 0; i < num_simulations; ++i) {
    simulations.push_back(runtime.actor<Simulation>(static_cast<std::uint64_t>(i)));
  }
  std::int64_t oldest = 0;  // how many updates a policy had missed at most
  for (int episode = 0; episode < num_episodes; ++episode) {
    const auto current = runtime.put(policy);
    std::vector<knurl::ObjectRef<Rollout>> pending;
    for (auto& simulation : simulations) {
      pending.push_back(simulation.call<&Simulation::rollout>(current, true, 0.1));
    }
    while (!pending.empty()) {
      auto [ready, rest] = runtime.wait(pending);
      for (const auto& ref : ready) {
        const Rollout& rollout = runtime.get(ref);
        oldest = std::max(oldest, policy.version - rollout.policy_version);
        update_policy(policy, rollout.experiences);
      }
      pending = std::move(rest);
    }
  }
  fmt::print("policy version {}; no rollout was more than {} updates behind\n", policy.version,
             oldest);
  return policy;
}

double evaluate_policy(const Policy& policy, int num_episodes = 10) {
  Simulation simulation(/*seed=*/2);
  std::size_t steps = 0;
  for (int episode = 0; episode < num_episodes; ++episode) {
    steps += simulation.rollout(policy, /*explore=*/false, 0.0).experiences.size();
  }
  const double mean = static_cast<double>(steps) / num_episodes;
  fmt::print("{} steps on average for a total of {} episodes.\n", mean, num_episodes);
  fmt::print("{}", simulation.render());
  return mean;
}

}  // namespace

int main() {
  auto runtime = knurl::init({.num_cpus = 4});
  const double serial = evaluate_policy(train_policy());
  const double parallel = evaluate_policy(train_policy_parallel(runtime));
  return serial == 8.0 && parallel == 8.0 ? 0 : 1;
}
