// Slow: runs that are killed over and over end as those that nobody disturbed.

#include <gtest/gtest.h>

#include "killed_runs.h"

namespace knurl::e2e {
namespace {

TEST(KilledOften, LeavesNoTrace) {
  constexpr int kKills = 5;  // times four experiments
  std::uint64_t seed = 11;
  for (const Experiment& experiment : experiments(30)) {
    const Scratch whole;
    const Scratch killed;
    const auto expected = train_whole(whole, experiment);
    const KilledTrial trial = train_killed(killed, experiment, kKills, seed++);
    EXPECT_GE(trial.kills, kKills - 1) << experiment.name;
    EXPECT_EQ(differences(expected, trial.directory), std::vector<std::string>())
        << experiment.name;
  }
}

}  // namespace
}  // namespace knurl::e2e
