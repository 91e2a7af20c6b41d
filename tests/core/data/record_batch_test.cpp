#include "knurl/core/data/record_batch.h"

#include <numeric>

#include <gtest/gtest.h>

namespace knurl {
namespace {

RecordBatch counting(std::int64_t rows) {
  RecordBatch batch(
      {{"obs", DType::float32, {3}}, {"action", DType::int64, {}}, {"flag", DType::uint8, {}}},
      rows);
  auto obs = batch.column<float>("obs").span();
  std::iota(obs.begin(), obs.end(), 0.0F);
  for (std::int64_t i = 0; i < rows; ++i) batch.column<std::int64_t>("action")[i] = 10 * i;
  return batch;
}

TEST(RecordBatch, EachColumnIsAlignedInOneAllocation) {
  RecordBatch batch = counting(5);
  for (std::size_t i = 0; i < batch.columns().size(); ++i) {
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(batch.data(i)) % 64, 0U);
  }
  EXPECT_EQ(batch.data(1) - batch.data(0), 64);  // 5 rows of 12 bytes
  EXPECT_EQ(batch.data(2) - batch.data(1), 64);  // 5 rows of 8 bytes
}

TEST(RecordBatch, RowsAreContiguous) {
  const RecordBatch batch = counting(4);
  const auto obs = batch.column<float>("obs");
  EXPECT_EQ(obs.width(), 3);
  EXPECT_EQ(obs.row(2)[0], 6.0F);
  EXPECT_EQ(batch.column<std::int64_t>("action")[3], 30);
}

TEST(RecordBatch, CopiesAreDeep) {
  RecordBatch batch = counting(4);
  const RecordBatch copy = batch;
  batch.column<float>("obs")[0] = 99.0F;
  EXPECT_EQ(copy.column<float>("obs")[0], 0.0F);
}

TEST(RecordBatch, GatherTakesRowsInOrder) {
  const RecordBatch from = counting(6);
  RecordBatch to(from.columns(), 3);
  const std::vector<std::int32_t> rows{5, 0, 5};
  to.gather(from, rows);
  EXPECT_EQ(to.column<std::int64_t>("action")[0], 50);
  EXPECT_EQ(to.column<std::int64_t>("action")[1], 0);
  EXPECT_EQ(to.column<float>("obs").row(2)[1], 16.0F);
}

TEST(RecordBatch, TravelsAsBytes) {
  static_assert(Serialisable<RecordBatch>);
  RecordBatch batch = counting(4);
  batch.set_rows(3);
  ByteWriter out;
  write(out, batch);
  ByteReader in(out.bytes());
  const RecordBatch back = read<RecordBatch>(in);
  EXPECT_EQ(back.columns(), batch.columns());
  EXPECT_EQ(back.rows(), 3);
  EXPECT_EQ(back.column<float>("obs").row(2)[2], 8.0F);
}

TEST(RecordBatch, AWrongNameOrTypeNamesWhatThereIs) {
  const RecordBatch batch = counting(1);
  EXPECT_THROW((void)batch.column<float>("nope"), std::logic_error);
  EXPECT_THROW((void)batch.column<double>("obs"), std::logic_error);
}

}  // namespace
}  // namespace knurl
