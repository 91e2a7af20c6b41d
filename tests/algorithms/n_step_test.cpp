#include "knurl/algorithms/replay/n_step.h"

#include <gtest/gtest.h>

#include "knurl/core/base/error.h"
#include "knurl/models/columns.h"

namespace knurl {
namespace {

const SpaceLayout kObservations(Box{.shape = {1}, .low = {-1e9}, .high = {1e9}});

/// One transition, as numbers.
struct Folded {
  float first = 0.0F;
  std::int64_t action = 0;
  float reward = 0.0F;
  float discount = 0.0F;
  float then = 0.0F;
  bool operator==(const Folded&) const = default;
};

void PrintTo(const Folded& f, std::ostream* out) {
  *out << fmt::format("{{{}, {}, {}, {}, {}}}", f.first, f.action, f.reward, f.discount, f.then);
}

/// A fragment of one env: step t of a segment sees observation `from + t`, acts 10 times that, and
/// gets reward 1, 2, 4, … by its place in the episode.
struct Part {
  int from = 0;
  int length = 0;
  Ending ending = Ending::cut;
};

Fragment fragment_of(const std::vector<Part>& parts, int env = 0) {
  std::int64_t rows = 0;
  for (const Part& part : parts) rows += part.length;
  PolicySteps steps;
  std::vector<ColumnSpec> columns = kObservations.columns(column::kObservations);
  steps.bootstrap = RecordBatch(columns, std::ssize(parts));
  columns.push_back({column::kActions, DType::int64, {}});
  columns.push_back({column::kRewards, DType::float32, {}});
  steps.columns = RecordBatch(columns, rows);
  std::int64_t row = 0;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const Part& part = parts[i];
    steps.segments.push_back({.env = env,
                              .first_row = row,
                              .length = part.length,
                              .ending = part.ending,
                              .bootstrap_row = static_cast<std::int64_t>(i)});
    for (int t = 0; t < part.length; ++t, ++row) {
      const int number = part.from + t;
      steps.columns.column<float>(column::kObservations)[row] = static_cast<float>(number);
      steps.columns.column<std::int64_t>(column::kActions)[row] = 10 * number;
      steps.columns.column<float>(column::kRewards)[row] = static_cast<float>(1 << number);
    }
    steps.bootstrap.column<float>(column::kObservations)[static_cast<std::int64_t>(i)] =
        static_cast<float>(part.from + part.length);
  }
  Fragment out;
  out.policies.push_back(std::move(steps));
  return out;
}

class Folding {
 public:
  explicit Folding(int n) : folder(n, 0.5, kObservations), rows_(folder.columns(), 100) {}

  /// The transitions that these fragments complete.
  std::vector<Folded> add(const std::vector<Fragment>& fragments) {
    std::int64_t count = 0;
    folder.add(fragments, [&] { return NStepFolder::Place{&rows_, count++}; });
    std::vector<Folded> out;
    for (std::int64_t row = 0; row < count; ++row) {
      out.push_back({rows_.column<float>(column::kObservations)[row],
                     rows_.column<std::int64_t>(column::kActions)[row],
                     rows_.column<float>(column::kRewards)[row],
                     rows_.column<float>(column::kDiscounts)[row],
                     rows_.column<float>(column::kNextObservations)[row]});
    }
    return out;
  }
  std::vector<Folded> add(const std::vector<Part>& parts) { return add({fragment_of(parts)}); }

  NStepFolder folder;

 private:
  RecordBatch rows_;
};

TEST(NStep, OneStepIsAPlainTransition) {
  EXPECT_EQ(Folding(1).add({{0, 2, Ending::cut}}),
            (std::vector<Folded>{{0, 0, 1, 0.5F, 1}, {1, 10, 2, 0.5F, 2}}));
}

// gamma 1/2, rewards 1, 2, 4, 8: 1 + 2/2 + 4/4 = 3, 2 + 4/2 + 8/4 = 6
TEST(NStep, SumsDiscountedRewards) {
  EXPECT_EQ(Folding(3).add({{0, 4, Ending::cut}}),
            (std::vector<Folded>{{0, 0, 3, 0.125F, 3}, {1, 10, 6, 0.125F, 4}}));
}

TEST(NStep, ATerminatedEndLeavesNothingToExpectAndShortensTheLastOnes) {
  EXPECT_EQ(Folding(3).add({{0, 3, Ending::terminated}}),
            (std::vector<Folded>{{0, 0, 3, 0, 3}, {1, 10, 4, 0, 3}, {2, 20, 4, 0, 3}}));
}

TEST(NStep, ATruncatedEndBootstrapsByAsManyStepsAsWereTaken) {
  EXPECT_EQ(Folding(3).add({{0, 3, Ending::truncated}}),
            (std::vector<Folded>{{0, 0, 3, 0.125F, 3}, {1, 10, 4, 0.25F, 3}, {2, 20, 4, 0.5F, 3}}));
}

TEST(NStep, AnEpisodeShorterThanNIsFoldedWhole) {
  EXPECT_EQ(Folding(5).add({{0, 1, Ending::truncated}, {3, 1, Ending::terminated}}),
            (std::vector<Folded>{{0, 0, 1, 0.5F, 1}, {3, 30, 8, 0, 4}}));
}

TEST(NStep, WhereFragmentsAreCutChangesNothing) {
  const std::vector<Folded> whole = Folding(3).add({{0, 7, Ending::terminated}});
  for (int cut = 1; cut < 7; ++cut) {
    Folding folding(3);
    std::vector<Folded> parts = folding.add({{0, cut, Ending::cut}});
    const auto rest = folding.add({{cut, 7 - cut, Ending::terminated}});
    parts.insert(parts.end(), rest.begin(), rest.end());
    EXPECT_EQ(parts, whole) << cut;
  }
}

TEST(NStep, EnvsDoNotMix) {
  Folding folding(2);
  EXPECT_EQ(
      folding.add({fragment_of({{0, 1, Ending::cut}}, 0), fragment_of({{5, 1, Ending::cut}}, 1)}),
      std::vector<Folded>{});
  EXPECT_EQ(
      folding.add({fragment_of({{6, 1, Ending::cut}}, 1), fragment_of({{1, 1, Ending::cut}}, 0)}),
      (std::vector<Folded>{{0, 0, 2, 0.25F, 2}, {5, 50, 64, 0.25F, 7}}));
}

TEST(NStep, WaitingStepsAreSavedAndLoaded) {
  Folding first(3);
  first.add({{0, 2, Ending::cut}});
  ByteWriter out;
  first.folder.save(out);
  Folding second(3);
  ByteReader in(out.bytes());
  second.folder.load(in);
  EXPECT_EQ(second.add({{2, 1, Ending::cut}}), (std::vector<Folded>{{0, 0, 3, 0.125F, 3}}));
  Folding other(4);
  ByteReader again(out.bytes());
  EXPECT_THROW(other.folder.load(again), Error);
}

}  // namespace
}  // namespace knurl
