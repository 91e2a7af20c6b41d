#include "knurl/models/observation_encoder.h"

#include <cmath>

#include <gtest/gtest.h>

#include "knurl/core/base/error.h"

namespace knurl {
namespace {

/// Rows of observations, and the numbers that a net reads for them.
class Encoded {
 public:
  Encoded(const Space& space, std::int64_t rows)
      : layout_(space),
        encoder_(layout_),
        batch_(layout_.columns("obs"), rows),
        rows_(layout_, batch_, "obs") {}

  template <class T>
  [[nodiscard]] ColumnView<T> column(const char* name = "obs") {
    return batch_.column<T>(name);
  }
  /// Where the numbers of rows [first, first + count) are.
  const float* encode(std::int64_t first, std::int64_t count) {
    return encoder_.encode(rows_.from(first), count);
  }
  std::vector<float> numbers(std::int64_t first, std::int64_t count) {
    const float* data = encode(first, count);
    return {data, data + count * encoder_.size()};
  }

 private:
  SpaceLayout layout_;
  ObservationEncoder encoder_;
  RecordBatch batch_;
  Rows rows_;
};

int size_for(const Space& space) {
  return encoded_size(SpaceLayout(space));
}

TEST(ObservationEncoder, ABoxOfFloatsIsReadInPlace) {
  Encoded encoded(Box{.shape = {2}}, 3);
  const float* data = encoded.column<float>().data();
  EXPECT_EQ(encoded.encode(0, 3), data);
  EXPECT_EQ(encoded.encode(1, 2), data + 2);
}

TEST(ObservationEncoder, ADiscreteIsOneHotFromItsStart) {
  Encoded encoded(Discrete{.n = 3, .start = -1}, 3);
  for (std::int64_t row = 0; row < 3; ++row) encoded.column<std::int64_t>()[row] = 1 - row;
  EXPECT_EQ(encoded.numbers(0, 3), (std::vector<float>{0, 0, 1, 0, 1, 0, 1, 0, 0}));
  EXPECT_EQ(encoded.numbers(2, 1), (std::vector<float>{1, 0, 0}));
  EXPECT_EQ(encoded.numbers(0, 2), (std::vector<float>{0, 0, 1, 0, 1, 0}));
}

TEST(ObservationEncoder, ADictIsItsLeavesInOrderOfTheirNames) {
  Encoded encoded(Dict{{{"speed", Box{.shape = {2}}},
                        {"camera", Box{.shape = {2}, .low = 0, .high = 255, .dtype = DType::uint8}},
                        {"gear", MultiDiscrete{.nvec = {2, 3}, .start = {1, 0}}},
                        {"lamp", MultiBinary{.shape = {2}}}}},
                  1);
  encoded.column<float>("obs/speed").row(0)[0] = -0.5F;
  encoded.column<float>("obs/speed").row(0)[1] = 1e6F;
  encoded.column<std::uint8_t>("obs/camera").row(0)[1] = 255;
  encoded.column<std::int64_t>("obs/gear").row(0)[0] = 2;
  encoded.column<std::int64_t>("obs/gear").row(0)[1] = 2;
  encoded.column<std::uint8_t>("obs/lamp").row(0)[0] = 1;
  EXPECT_EQ(encoded.numbers(0, 1), (std::vector<float>{0, 255, 0, 1, 0, 0, 1, 1, 0, -0.5F, 1e6F}));
}

TEST(ObservationEncoder, PixelsOfAPictureAreSharesOf255) {
  Encoded bytes(Box{.shape = {1, 2, 1}, .low = 0, .high = 255, .dtype = DType::uint8}, 2);
  const std::vector<std::uint8_t> pixels{0, 51, 255, 1};
  std::ranges::copy(pixels, bytes.column<std::uint8_t>().data());
  EXPECT_EQ(bytes.numbers(0, 2), (std::vector<float>{0.0F, 0.2F, 1.0F, 1.0F / 255.0F}));
  EXPECT_EQ(bytes.numbers(1, 1), (std::vector<float>{1.0F, 1.0F / 255.0F}));
  Encoded floats(Box{.shape = {1, 1, 1}, .low = 0, .high = 255}, 1);
  floats.column<float>()[0] = 51.0F;
  EXPECT_EQ(floats.numbers(0, 1), std::vector<float>{51.0F});
  Encoded line(Box{.shape = {1}, .low = 0, .high = 255, .dtype = DType::uint8}, 1);
  line.column<std::uint8_t>()[0] = 51;
  EXPECT_EQ(line.numbers(0, 1), std::vector<float>{51.0F});
}

TEST(ObservationEncoder, NaNGoesThrough) {
  Encoded encoded(Box{.shape = {1}, .dtype = DType::float64}, 1);
  encoded.column<double>()[0] = std::nan("");
  EXPECT_TRUE(std::isnan(encoded.numbers(0, 1)[0]));
}

TEST(ObservationEncoder, NoObservationsAreNoNumbers) {
  for (const Space& space : {Space(Box{.shape = {2}}), Space(Discrete{.n = 3})}) {
    Encoded encoded(space, 0);
    EXPECT_EQ(encoded.numbers(0, 0), std::vector<float>{});
  }
}

TEST(EncodedSize, CountsOneHotsAndElements) {
  EXPECT_EQ(size_for(Discrete{.n = 5, .start = 9}), 5);
  EXPECT_EQ(size_for(MultiDiscrete{.nvec = {2, 3}}), 5);
  EXPECT_EQ(size_for(MultiBinary{.shape = {2, 3}}), 6);
  EXPECT_EQ(size_for(Box{.shape = {2, 3, 4}}), 24);
  EXPECT_EQ(size_for(Tuple{{Discrete{.n = 5}, Box{.shape = {}}}}), 6);
}

TEST(EncodedSize, AMillionNumbersAreTheMost) {
  EXPECT_EQ(size_for(Discrete{.n = 1'000'000}), 1'000'000);
  for (const Space& space :
       {Space(Discrete{.n = 1'000'001}), Space(Box{.shape = {1'001, 1'000}})}) {
    const SpaceLayout layout(space);
    try {
      const ObservationEncoder encoder(layout);
      ADD_FAILURE() << encoder.size() << " numbers were accepted";
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::config);
      EXPECT_EQ(error.what(),
                fmt::format("observation space {}: {} numbers are too many for a net: at "
                            "most 1000000; Discrete values count as one number each of "
                            "their choices",
                            space.text(), flat_size(layout)));
    }
  }
}

}  // namespace
}  // namespace knurl
