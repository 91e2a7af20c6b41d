#include <algorithm>
#include <array>
#include <cmath>
#include <deque>
#include <numeric>
#include <random>
#include <thread>

#include <gtest/gtest.h>

#include "support.h"

/// The examples of Ray's introductions, as its users would write them here.
namespace knurl::runtime::test {
namespace {

using Seconds = std::chrono::duration<double>;

template <class Action>
Seconds duration_of(Action action) {
  const auto start = std::chrono::steady_clock::now();
  action();
  return std::chrono::steady_clock::now() - start;
}

int compute_square(int x) {
  std::this_thread::sleep_for(1s);
  return x * x;
}

TEST(RayExamples, FourSquaresOfASecondTakeOneSecondAndKeepTheirOrder) {
  auto runtime = knurl::init({.num_cpus = 4});
  std::vector<int> squares;
  const Seconds duration = duration_of([&] {
    std::vector<ObjectRef<int>> refs;
    for (int x = 0; x < 4; ++x) refs.push_back(runtime.task(compute_square, x));
    squares = runtime.get(refs);
  });
  EXPECT_EQ(squares, (std::vector{0, 1, 4, 9}));
  EXPECT_GE(duration, 1s);
  EXPECT_LT(duration, 2s);
}

using Transition = std::array<int, 3>;

class ReplayBuffer {
 public:
  explicit ReplayBuffer(std::size_t capacity) : capacity_(capacity) {}

  void push(const Transition& transition) {
    if (transitions_.size() == capacity_) transitions_.pop_front();
    transitions_.push_back(transition);
  }
  [[nodiscard]] std::vector<Transition> sample(std::size_t num) {
    if (num > transitions_.size()) {
      throw std::invalid_argument(
          fmt::format("a sample of {} from {} transitions", num, transitions_.size()));
    }
    std::vector<Transition> chosen;
    std::ranges::sample(transitions_, std::back_inserter(chosen), static_cast<long>(num), random_);
    return chosen;
  }
  [[nodiscard]] std::vector<Transition> all() const {
    return {transitions_.begin(), transitions_.end()};
  }

 private:
  std::size_t capacity_;
  std::deque<Transition> transitions_;
  std::mt19937 random_{7};
};

TEST(RayExamples, ASampleSeesThePushesBeforeIt) {
  auto runtime = knurl::init();
  auto buffer = runtime.actor<ReplayBuffer>(1000);
  buffer.call<&ReplayBuffer::push>(Transition{1, 2, 3});
  buffer.call<&ReplayBuffer::push>(Transition{4, 5, 6});
  const auto sample = runtime.get(buffer.call<&ReplayBuffer::sample>(1), kLong);
  ASSERT_EQ(sample.size(), 1U);
  EXPECT_TRUE(sample[0] == (Transition{1, 2, 3}) || sample[0] == (Transition{4, 5, 6}));
}

TEST(RayExamples, AFullReplayBufferDropsTheOldest) {
  auto runtime = knurl::init();
  auto buffer = runtime.actor<ReplayBuffer>(2);
  for (int i = 1; i <= 3; ++i) buffer.call<&ReplayBuffer::push>(Transition{i, i, i});
  EXPECT_EQ(runtime.get(buffer.call<&ReplayBuffer::all>(), kLong),
            (std::vector<Transition>{{2, 2, 2}, {3, 3, 3}}));
}

TEST(RayExamples, ATooLargeSampleIsAnErrorThatTheBufferSurvives) {
  auto runtime = knurl::init();
  auto buffer = runtime.actor<ReplayBuffer>({.name = "replay"}, 10);
  buffer.call<&ReplayBuffer::push>(Transition{1, 2, 3});
  auto too_large = buffer.call<&ReplayBuffer::sample>(2);
  EXPECT_EQ(text_thrown<Error>([&] { runtime.get(too_large, kLong); }),
            "actor replay: ReplayBuffer::sample: a sample of 2 from 1 transitions");
  EXPECT_EQ(runtime.get(buffer.call<&ReplayBuffer::sample>(1), kLong).size(), 1U);
}

constexpr int kStateSize = 64;
constexpr int kNumActions = 4;
using State = std::vector<double>;
using Weights = std::vector<double>;  // [kStateSize, kNumActions]

double evaluate_policy(const State& state, const Weights& weights) {
  std::array<double, kNumActions> values{};
  for (int i = 0; i < kStateSize; ++i) {
    for (int a = 0; a < kNumActions; ++a) values[a] += state[i] * weights[i * kNumActions + a];
  }
  return *std::ranges::max_element(values);
}

TEST(RayExamples, BatchEvaluationEqualsTheSerialOneBitForBit) {
  std::mt19937_64 random(1);
  std::normal_distribution<double> normal;
  const auto draw = [&](int size) {
    std::vector<double> numbers(static_cast<std::size_t>(size));
    std::ranges::generate(numbers, [&] { return normal(random); });
    return numbers;
  };
  std::vector<State> states;
  for (int i = 0; i < 100; ++i) states.push_back(draw(kStateSize));
  const Weights weights = draw(kStateSize * kNumActions);

  auto runtime = knurl::init({.num_cpus = 4});
  const auto weights_ref = runtime.put(weights);
  std::vector<ObjectRef<double>> futures;
  for (const State& state : states) {
    futures.push_back(runtime.task(evaluate_policy, state, weights_ref));
  }
  std::vector<double> results;
  for (auto block = futures.begin(); block != futures.end(); block += 10) {
    for (double value : runtime.get(std::vector(block, block + 10))) results.push_back(value);
  }

  std::vector<double> expected;
  for (const State& state : states) expected.push_back(evaluate_policy(state, weights));
  EXPECT_EQ(results, expected);
}

int nap(int x) {
  std::this_thread::sleep_for(100ms);
  return x;
}

TEST(RayExamples, GetInsideTheLoopIsSerialAndSubmittingFirstIsNot) {
  auto runtime = knurl::init({.num_cpus = 4});
  const Seconds serial = duration_of([&] {
    for (int x = 0; x < 4; ++x) runtime.get(runtime.task(nap, x));
  });
  const Seconds parallel = duration_of([&] {
    std::vector<ObjectRef<int>> refs;
    for (int x = 0; x < 4; ++x) refs.push_back(runtime.task(nap, x));
    runtime.get(refs);
  });
  EXPECT_GE(serial, 400ms);
  EXPECT_LT(parallel, 300ms);
}

Meeting all_step(3);

struct NetworkParameters {
  double weight = 0.5;
  double update(double gradient) { return weight -= gradient; }
};

class Environment {
 public:
  explicit Environment(ActorHandle<NetworkParameters> parameters)
      : parameters_(std::move(parameters)) {}
  double step() {
    if (!all_step.join()) throw std::runtime_error("the others do not step");
    return current_runtime().get(parameters_.call<&NetworkParameters::update>(0.125));
  }

 private:
  ActorHandle<NetworkParameters> parameters_;
};

TEST(RayExamples, EnvironmentsStepInParallelAndShareParameters) {
  auto runtime = knurl::init();
  auto parameters = runtime.actor<NetworkParameters>();
  std::vector<ActorHandle<Environment>> environments;
  for (int i = 0; i < 3; ++i) environments.push_back(runtime.actor<Environment>(parameters));
  std::vector<ObjectRef<double>> steps;
  for (auto& environment : environments) steps.push_back(environment.call<&Environment::step>());
  auto weights = runtime.get(steps, kLong);
  std::ranges::sort(weights);
  EXPECT_EQ(weights, (std::vector{0.125, 0.25, 0.375}));
}

}  // namespace
}  // namespace knurl::runtime::test
