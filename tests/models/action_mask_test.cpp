#include "knurl/models/action_mask.h"

#include <gtest/gtest.h>

#include "knurl/core/base/error.h"
#include "knurl/models/columns.h"
#include "knurl/models/fast/net_policy.h"

namespace knurl {
namespace {

Space with_mask(std::int64_t n, const Space& rest = Box{.shape = {2}, .low = -1.0, .high = 1.0}) {
  return Dict{.spaces = {{"action_mask", MultiBinary{.shape = {n}}}, {"seen", rest}}};
}

TEST(ActionMask, NetsReadWhatElseThereIs) {
  const SpaceLayout observations(with_mask(3));
  const SpaceLayout actions(Discrete{.n = 3, .start = 5});
  const ActionMask mask(observations, actions, "action_mask");
  ASSERT_TRUE(mask);
  EXPECT_EQ(mask.rest(observations).space(), (Space(Box{.shape = {2}, .low = -1.0, .high = 1.0})));
  RecordBatch batch(observations.columns("obs"), 2);
  batch.column<float>("obs/seen").row(1)[1] = 0.5F;
  const Rows rows(observations, batch, "obs");
  EXPECT_EQ(ConstRow(mask.rest(ConstRows(rows)), 1)[1], 0.5F);

  const Dict three{.spaces = {{"a", Discrete{.n = 2}},
                              {"action_mask", Box{.shape = {3}, .low = 0.0, .high = 1.0}},
                              {"b", Discrete{.n = 3}}}};
  const SpaceLayout more(three);
  EXPECT_EQ(ActionMask(more, actions, "action_mask").rest(more).space(),
            (Space(Dict{.spaces = {{"a", Discrete{.n = 2}}, {"b", Discrete{.n = 3}}}})));
}

TEST(ActionMask, OtherObservationsHaveNone) {
  const SpaceLayout discrete(Discrete{.n = 3});
  EXPECT_FALSE(ActionMask(SpaceLayout(Box{.shape = {2}}), discrete, "action_mask"));
  EXPECT_FALSE(ActionMask(SpaceLayout(with_mask(3)), discrete, ""));
  EXPECT_FALSE(ActionMask(SpaceLayout(with_mask(3)), discrete, "mask"));
  EXPECT_FALSE(
      ActionMask(SpaceLayout(with_mask(3)), SpaceLayout(Box{.shape = {3}}), "action_mask"));
  const SpaceLayout plain(Discrete{.n = 4});
  EXPECT_EQ(&ActionMask().rest(plain), &plain);
}

TEST(ActionMask, OnlyAnEntryOfTheDictItselfIsOne) {
  const Space mask = Box{.shape = {3}, .low = 0.0, .high = 1.0};
  const SpaceLayout actions(Discrete{.n = 3});
  const SpaceLayout nested(
      Dict{.spaces = {{"a", Dict{.spaces = {{"action_mask", mask}}}}, {"b", Discrete{.n = 2}}}});
  EXPECT_FALSE(ActionMask(nested, actions, "a/action_mask"));
  EXPECT_FALSE(ActionMask(nested, actions, "action_mask"));

  const Space two = Dict{.spaces = {{"action_mask", mask}, {"x", Discrete{.n = 2}}}};
  const SpaceLayout both(Dict{.spaces = {{"a", two}, {"action_mask", mask}, {"b", two}}});
  const ActionMask own(both, actions, "action_mask");
  EXPECT_EQ(both.leaves()[own.leaf().value()].path, "action_mask");
  EXPECT_EQ(own.rest(both).space(), (Space(Dict{.spaces = {{"a", two}, {"b", two}}})));
}

std::string refusal_of_key(const Space& observations, const Space& actions,
                           const Opt<std::string>& key) {
  try {
    check_mask_key(SpaceLayout(observations), SpaceLayout(actions), key);
  } catch (const Error& error) {
    return error.what();
  }
  return "accepted";
}

TEST(ActionMask, AKeyThatIsGivenNamesAMask) {
  const Opt<std::string> given = std::string("action_mask");
  EXPECT_EQ(refusal_of_key(with_mask(3), Discrete{.n = 3}, given), "accepted");
  EXPECT_EQ(refusal_of_key(Discrete{.n = 3}, Discrete{.n = 3}, std::string()), "accepted");
  EXPECT_EQ(refusal_of_key(Discrete{.n = 4}, Discrete{.n = 3}, given),
            "environment.action_mask_key = action_mask: the observation Discrete(4) has no entry "
            "of this name: it is no Dict");
  const Space odd = Dict{.spaces = {{"acton_mask", Discrete{.n = 2}}, {"seen", Discrete{.n = 2}}}};
  EXPECT_EQ(refusal_of_key(odd, Discrete{.n = 3}, given),
            "environment.action_mask_key = action_mask: the observation Dict(acton_mask: "
            "Discrete(2), seen: Discrete(2)) has no entry of this name; it has acton_mask, seen; "
            "did you mean acton_mask?");
  const std::string box = refusal_of_key(with_mask(3), Box{.shape = {3}}, given);
  EXPECT_TRUE(box.starts_with("environment.action_mask_key = action_mask: the actions Box("));
  EXPECT_TRUE(box.ends_with(" are no choices, of which some could be forbidden")) << box;
}

TEST(ActionMask, WhatIsCalledLikeOneAndIsNoneIsSaidOnce) {
  const Opt<std::string> fresh = Default{std::string("action_mask")};
  const auto printed = [&](const Space& observations, const Space& actions) {
    ::testing::internal::CaptureStderr();
    EXPECT_EQ(refusal_of_key(observations, actions, fresh), "accepted");
    return ::testing::internal::GetCapturedStderr();
  };
  const Space nested = Dict{.spaces = {{"a", with_mask(3)}, {"b", Discrete{.n = 2}}}};
  EXPECT_NE(printed(nested, Discrete{.n = 3}).find("a/action_mask is read as any other"),
            std::string::npos);
  EXPECT_EQ(printed(nested, Discrete{.n = 3}), "");
  EXPECT_NE(printed(with_mask(3), Box{.shape = {3}}).find("action_mask is read as any other"),
            std::string::npos);
  EXPECT_EQ(printed(with_mask(3), Discrete{.n = 3}), "");
  EXPECT_EQ(printed(Discrete{.n = 3}, Discrete{.n = 3}), "");
}

TEST(ActionMask, OneOfAnotherSizeIsRefused) {
  const auto refusal = [](const Space& observations, const Space& actions) -> std::string {
    try {
      ActionMask(SpaceLayout(observations), SpaceLayout(actions), "action_mask");
    } catch (const Error& error) {
      return error.what();
    }
    return "accepted";
  };
  EXPECT_NE(refusal(with_mask(4), Discrete{.n = 3}).find("is to have 3 numbers"),
            std::string::npos);
  EXPECT_NE(refusal(Dict{.spaces = {{"action_mask", with_mask(3)}, {"seen", Discrete{.n = 2}}}},
                    Discrete{.n = 3})
                .find("is to have 3 numbers"),
            std::string::npos);
  EXPECT_EQ(refusal(with_mask(5), MultiDiscrete{.nvec = {2, 3}}), "accepted");
  EXPECT_NE(refusal(with_mask(2), MultiDiscrete{.nvec = {2, 3}}).find("is to have 5 numbers"),
            std::string::npos);
  EXPECT_NE(refusal(Dict{.spaces = {{"action_mask", MultiBinary{.shape = {3}}}}}, Discrete{.n = 3})
                .find("nothing beside action_mask"),
            std::string::npos);
}

TEST(ActionMask, EachChoiceNeedsAnActionThatIsAllowed) {
  const SpaceLayout observations(with_mask(5));
  const ActionMask mask(observations, SpaceLayout(MultiDiscrete{.nvec = {2, 3}}), "action_mask");
  RecordBatch batch(observations.columns("obs"), 3);
  const auto bits = batch.column<std::uint8_t>("obs/action_mask");
  std::ranges::copy(std::vector<std::uint8_t>{0, 1, 0, 0, 1}, bits.row(0).begin());
  std::ranges::copy(std::vector<std::uint8_t>{1, 1, 0, 0, 0}, bits.row(1).begin());
  std::ranges::copy(std::vector<std::uint8_t>{0, 0, 1, 1, 1}, bits.row(2).begin());
  const Rows rows(observations, batch, "obs");
  EXPECT_TRUE(mask.allows_any(rows, 0));
  EXPECT_FALSE(mask.allows_any(rows, 1));
  EXPECT_FALSE(mask.allows_any(rows, 2));
  std::vector<float> logits{1, 2, 3, 4, 5};
  mask.apply(rows, 0, logits);
  EXPECT_EQ(logits, (std::vector<float>{kMaskedLogit, 2, kMaskedLogit, kMaskedLogit, 5}));
}

// what is left is the distribution over the allowed actions, with nothing lost to the others
TEST(ActionMask, MaskedActionsHaveNoPartInTheDistributionNorInItsGradients) {
  const Categorical all{.n = 4};
  const Categorical allowed{.n = 2};
  const std::vector<float> masked{0.3F, kMaskedLogit, -1.0F, kMaskedLogit};
  const std::vector<float> old{-0.5F, kMaskedLogit, 0.2F, kMaskedLogit};
  const std::vector<float> few{0.3F, -1.0F};
  const std::vector<float> few_old{-0.5F, 0.2F};
  const std::int64_t second = 2;
  const std::int64_t second_of_few = 1;
  EXPECT_FLOAT_EQ(all.log_prob(masked.data(), &second),
                  allowed.log_prob(few.data(), &second_of_few));
  EXPECT_FLOAT_EQ(all.entropy(masked.data()), allowed.entropy(few.data()));
  EXPECT_FLOAT_EQ(all.kl_from(old.data(), masked.data()),
                  allowed.kl_from(few_old.data(), few.data()));
  std::vector<float> gradient(4);
  std::vector<float> expected(2);
  all.add_log_prob_gradient(masked.data(), &second, 0.7F, gradient.data());
  all.add_entropy_gradient(masked.data(), 0.1F, gradient.data());
  all.add_kl_gradient(old.data(), masked.data(), 0.2F, gradient.data());
  allowed.add_log_prob_gradient(few.data(), &second_of_few, 0.7F, expected.data());
  allowed.add_entropy_gradient(few.data(), 0.1F, expected.data());
  allowed.add_kl_gradient(few_old.data(), few.data(), 0.2F, expected.data());
  EXPECT_FLOAT_EQ(gradient[0], expected[0]);
  EXPECT_FLOAT_EQ(gradient[2], expected[1]);
  EXPECT_EQ(gradient[1], 0.0F);
  EXPECT_EQ(gradient[3], 0.0F);
}

TEST(ActionMask, ThePolicyNeitherReadsItNorTakesWhatItForbids) {
  const SpaceLayout observations(with_mask(4));
  const SpaceLayout actions(Discrete{.n = 4});
  const ActionMask mask(observations, actions, "action_mask");
  const NetSpec net =
      make_net(2, {.units = {5}},
               {{.name = "policy", .output = column::kDistInputs, .size = 4, .init_norm = 1.0}});
  for (const bool greedy : {false, true}) {
    std::unique_ptr<Exploration> exploration = std::make_unique<StochasticSampling>();
    if (greedy) exploration = std::make_unique<Greedy>();
    NetPolicy policy({.net = net,
                      .observations = observations,
                      .actions = actions,
                      .exploration = std::move(exploration),
                      .mask = mask});
    policy.set_weights(fresh_weights(net, Rng(1)));
    const std::int64_t n = 200;
    RecordBatch batch(observations.columns("obs"), n);
    const Rows rows(observations, batch, "obs");
    Rng rng(2);
    std::vector<Rng> rngs;
    for (std::int64_t row = 0; row < n; ++row) {
      sample(Row(rows, row), rng);
      batch.column<std::uint8_t>("obs/action_mask").row(row)[rng.below(4)] = 1;
      rngs.push_back(rng.split("row", static_cast<std::uint64_t>(row)));
    }
    const PolicyOutput output = policy.act({.observations = rows, .rows = n, .rngs = rngs});
    for (std::int64_t row = 0; row < n; ++row) {
      const auto allowed = batch.column<std::uint8_t>("obs/action_mask").row(row);
      const auto action = output.columns->column<std::int64_t>(column::kActions)[row];
      EXPECT_EQ(allowed[static_cast<std::size_t>(action)], 1) << row;
      EXPECT_TRUE(std::isfinite(output.columns->column<float>(column::kActionLogProb)[row]));
      for (std::size_t i = 0; i < 4; ++i) {
        const float logit = output.columns->column<float>(column::kDistInputs).row(row)[i];
        EXPECT_EQ(logit == kMaskedLogit, allowed[i] == 0);
      }
    }
    std::ranges::fill(batch.column<std::uint8_t>("obs/action_mask").row(7), std::uint8_t{0});
    EXPECT_THROW(policy.act({.observations = rows, .rows = n, .rngs = rngs}), Error);
  }
}

}  // namespace
}  // namespace knurl
