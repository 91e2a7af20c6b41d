#include "knurl/core/checkpoint/differences.h"

#include <limits>

#include <gtest/gtest.h>

#include "knurl/core/base/error.h"

namespace knurl {
namespace {

CheckpointData with_json(const std::string& text) {
  CheckpointData out;
  out.add_json("a.json", text);
  return out;
}

CheckpointData with_tensors(const std::vector<float>& values, const ColumnSpec& more = {"n"}) {
  RecordBatch batch({{"w", DType::float32, {static_cast<std::int64_t>(values.size())}}, more}, 1);
  std::ranges::copy(values, batch.column<float>("w").data());
  CheckpointData out;
  out.add_tensors("w.safetensors", batch);
  return out;
}

using Found = std::vector<Difference>;

TEST(Differences, ThereAreNoneBetweenEqualFiles) {
  EXPECT_EQ(differences(with_json("{\"a\": 1}"), with_json("{\"a\": 1}")), Found{});
  EXPECT_EQ(differences(with_tensors({1, 2}), with_tensors({1, 2})), Found{});
}

TEST(Differences, OfJsonAreNamedByTheirPath) {
  EXPECT_EQ(differences(
                with_json(R"({"lr": 0.5, "model": {"a": true, "old": {}}, "window": [1, 2, 3]})"),
                with_json(R"({"lr": 0.25, "model": {"a": "yes"}, "window": [1, 5, 4], "new": 1})")),
            (Found{{"a.json", "lr", "0.5 and 0.25"},
                   {"a.json", "model/a", "true and \"yes\""},
                   {"a.json", "model/old", "only in the first: a map of 0"},
                   {"a.json", "window", "2 of 3 elements differ"},
                   {"a.json", "new", "only in the second: 1"}}));
  EXPECT_EQ(differences(with_json("{\"w\": [1]}"), with_json("{\"w\": [1, 2]}")),
            (Found{{"a.json", "w", "1 and 2 elements"}}));
}

TEST(Differences, OfTensorsAreCountedAndMeasured) {
  EXPECT_EQ(differences(with_tensors({1, 2, 3, 4}), with_tensors({1, 2.5, 3, 3})),
            (Found{{"w.safetensors", "w", "2 of 4 numbers differ, by at most 1"}}));
  EXPECT_EQ(differences(with_tensors({1, 2}), with_tensors({1, 2, 3})),
            (Found{{"w.safetensors", "w", "float32 [2] and float32 [3]"}}));
  EXPECT_EQ(differences(with_tensors({1}, {"b"}), with_tensors({1}, {"c"})),
            (Found{{"w.safetensors", "b", "only in the first"},
                   {"w.safetensors", "c", "only in the second"}}));
}

TEST(Differences, EveryBitCounts) {
  constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();
  EXPECT_EQ(differences(with_tensors({0.0F}), with_tensors({-0.0F})),
            (Found{{"w.safetensors", "w", "1 of 1 numbers differ, by at most 0"}}));
  EXPECT_EQ(differences(with_tensors({kNaN}), with_tensors({kNaN})), Found{});
  EXPECT_EQ(differences(with_tensors({kNaN, 1}), with_tensors({0, 3})),
            (Found{{"w.safetensors", "w",
                    "2 of 2 numbers differ, by at most 2; 1 of them are no numbers"}}));
  EXPECT_EQ(differences(with_json("{\"a\": 1}"), with_json("{\"a\":1}")),
            (Found{{"a.json", "", "other bytes"}}));
}

TEST(Differences, AFileOfOneOnlyIsNamed) {
  EXPECT_EQ(
      differences(with_json("{}"), with_tensors({1})),
      (Found{{"a.json", "", "only in the first"}, {"w.safetensors", "", "only in the second"}}));
}

TEST(Differences, AFileThatIsNotWhatItsEndingSaysIsNamed) {
  try {
    differences(with_json("{}"), with_json("{"));
    FAIL();
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(), "a.json: not JSON");
  }
}

}  // namespace
}  // namespace knurl
