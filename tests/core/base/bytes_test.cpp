#include "knurl/core/base/bytes.h"

#include <functional>

#include <gtest/gtest.h>

namespace knurl {
namespace {

struct Point {
  int x = 0;
  double y = 0.0;
  bool operator==(const Point&) const = default;
};

struct Everything {
  std::string name;
  std::vector<Point> points;
  std::map<std::string, std::vector<float>> curves;
  std::optional<int> maybe;
  std::variant<int, std::string> either;
  std::pair<bool, std::array<int, 3>> pair;
  std::vector<bool> flags;
  bool operator==(const Everything&) const = default;
};

class Secret {
 public:
  Secret() = default;
  explicit Secret(int value) : value_(value) {}
  void save(ByteWriter& out) const { write(out, value_); }
  static Secret load(ByteReader& in) { return Secret(read<int>(in)); }
  [[nodiscard]] int value() const { return value_; }

 private:
  int value_ = 0;
};

template <class T>
T round_trip(const T& value) {
  ByteWriter out;
  write(out, value);
  ByteReader in(out.bytes());
  T back = read<T>(in);
  EXPECT_EQ(in.remaining(), 0U);
  return back;
}

TEST(Bytes, AggregatesTravelWithoutRegistration) {
  const Everything value{.name = "knurl",
                         .points = {{1, 2.5}, {-3, 0.0}},
                         .curves = {{"a", {1.0F, 2.0F}}, {"b", {}}},
                         .maybe = 7,
                         .either = "text",
                         .pair = {true, {1, 2, 3}},
                         .flags = {true, false, true}};
  EXPECT_EQ(round_trip(value), value);
  EXPECT_EQ(round_trip(Everything{}), Everything{});
}

TEST(Bytes, ClassesSaveThemselves) {
  EXPECT_EQ(round_trip(Secret(42)).value(), 42);
}

TEST(Bytes, TheCompilerKnowsWhatCannotTravel) {
  static_assert(Serialisable<Everything>);
  static_assert(Serialisable<Secret>);
  static_assert(!Serialisable<int*>);
  static_assert(!Serialisable<std::function<void()>>);
  static_assert(!Serialisable<std::vector<std::unique_ptr<int>>>);
}

TEST(Bytes, TruncatedBytesAreAnError) {
  ByteWriter out;
  write(out, std::string("twelve bytes"));
  const auto bytes = out.bytes();
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    ByteReader in(std::span<const std::byte>(bytes).first(size));
    EXPECT_THROW(read<std::string>(in), Error) << size;
  }
}

TEST(Bytes, AnAbsurdLengthIsRefusedBeforeAllocating) {
  ByteWriter out;
  write(out, std::uint64_t{1} << 60);
  ByteReader in(out.bytes());
  EXPECT_THROW(read<std::vector<double>>(in), Error);
}

}  // namespace
}  // namespace knurl
