#include "knurl/algorithms/losses/gae.h"

#include <gtest/gtest.h>

namespace knurl {
namespace {

struct Judged {
  std::vector<float> advantages;
  std::vector<float> targets;
};

Judged judge(const std::vector<Segment>& segments, const std::vector<float>& rewards,
             const std::vector<float>& values, const std::vector<float>& bootstrap, float gamma,
             float lambda) {
  Judged out{std::vector<float>(rewards.size()), std::vector<float>(rewards.size())};
  gae({.segments = segments,
       .rewards = rewards,
       .values = values,
       .bootstrap_values = bootstrap,
       .gamma = gamma,
       .lambda = lambda},
      out.advantages, out.targets);
  return out;
}

Segment segment(std::int64_t first, std::int64_t length, Ending ending, std::int64_t bootstrap) {
  return {.first_row = first, .length = length, .ending = ending, .bootstrap_row = bootstrap};
}

// rewards 1, 1, 1; V = 10 everywhere; gamma 0.5; lambda 1
TEST(Gae, ATruncatedEndBootstrapsFromItsFinalObservation) {
  const Judged judged =
      judge({segment(0, 3, Ending::truncated, 0)}, {1, 1, 1}, {10, 10, 10}, {10}, 0.5F, 1.0F);
  EXPECT_EQ(judged.advantages, (std::vector<float>{-7, -6, -4}));
}

TEST(Gae, ATerminatedEndDoesNotBootstrap) {
  const Judged judged =
      judge({segment(0, 3, Ending::terminated, 0)}, {1, 1, 1}, {10, 10, 10}, {10}, 0.5F, 1.0F);
  EXPECT_EQ(judged.advantages, (std::vector<float>{-8.25F, -8.5F, -9}));
}

TEST(Gae, TheNextEpisodeDoesNotLeakIntoTheOneBefore) {
  for (const Ending ending : {Ending::terminated, Ending::truncated, Ending::cut}) {
    const auto alone = judge({segment(0, 3, ending, 0)}, {1, 1, 1}, {10, 10, 10}, {10}, 0.5F, 1.0F);
    const auto both = judge({segment(0, 3, ending, 0), segment(3, 2, Ending::cut, 1)},
                            {1, 1, 1, 100, 100}, {10, 10, 10, 7, 8}, {10, 50}, 0.5F, 1.0F);
    for (std::size_t i = 0; i < 3; ++i) EXPECT_EQ(both.advantages[i], alone.advantages[i]);
  }
}

// A -> B -> (reward 1, end), lambda 0, gamma 0.99, V(B) = 0.95
TEST(Gae, WithLambdaZeroTheTargetIsOneStepAhead) {
  const Judged whole =
      judge({segment(0, 2, Ending::terminated, 0)}, {0, 1}, {0.3F, 0.95F}, {77}, 0.99F, 0.0F);
  EXPECT_FLOAT_EQ(whole.targets[0], 0.9405F);
  EXPECT_FLOAT_EQ(whole.targets[1], 1.0F);

  // the same episode cut between A and B
  const Judged first = judge({segment(0, 1, Ending::cut, 0)}, {0}, {0.3F}, {0.95F}, 0.99F, 0.0F);
  const Judged second =
      judge({segment(0, 1, Ending::terminated, 0)}, {1}, {0.95F}, {77}, 0.99F, 0.0F);
  EXPECT_FLOAT_EQ(first.targets[0], 0.9405F);
  EXPECT_FLOAT_EQ(second.targets[0], 1.0F);
}

TEST(Gae, LambdaMixesTheSteps) {
  // delta = 1 + 0.9 * 2 - 2 = 0.8 each but the last, 1 + 0.9 * 3 - 2 = 1.7
  const Judged judged =
      judge({segment(0, 3, Ending::cut, 0)}, {1, 1, 1}, {2, 2, 2}, {3}, 0.9F, 0.5F);
  EXPECT_NEAR(judged.advantages[2], 1.7, 1e-6);
  EXPECT_NEAR(judged.advantages[1], 0.8 + 0.45 * 1.7, 1e-6);
  EXPECT_NEAR(judged.advantages[0], 0.8 + 0.45 * (0.8 + 0.45 * 1.7), 1e-6);
  EXPECT_NEAR(judged.targets[0], judged.advantages[0] + 2.0, 1e-6);
}

TEST(Gae, InterleavedSegmentsKeepApart) {
  // env 0 in rows 0, 2, 4 and env 1 in rows 1, 3, 5
  const std::vector<Segment> segments{{.first_row = 0,
                                       .length = 3,
                                       .row_stride = 2,
                                       .ending = Ending::truncated,
                                       .bootstrap_row = 0},
                                      {.first_row = 1,
                                       .length = 3,
                                       .row_stride = 2,
                                       .ending = Ending::terminated,
                                       .bootstrap_row = 1}};
  const Judged judged =
      judge(segments, {1, 1, 1, 1, 1, 1}, {10, 10, 10, 10, 10, 10}, {10, 10}, 0.5F, 1.0F);
  EXPECT_EQ(judged.advantages, (std::vector<float>{-7, -8.25F, -6, -8.5F, -4, -9}));
}

}  // namespace
}  // namespace knurl
