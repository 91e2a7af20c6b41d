#include "knurl/core/base/error.h"

#include <gtest/gtest.h>

#include "knurl/core/base/check.h"

namespace knurl {
namespace {

TEST(Error, KeepsKindAndText) {
  try {
    fail(ErrorKind::config, "{}:{}: gamma = {}: must be in [0, 1]", "a.yaml", 7, 1.5);
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::config);
    EXPECT_STREQ(error.what(), "a.yaml:7: gamma = 1.5: must be in [0, 1]");
  }
}

template <class Thrown>
std::string text_of(Thrown thrown) {
  try {
    throw thrown;
  } catch (...) {
    return current_exception_text();
  }
}

TEST(Error, TextOfAnythingThatIsThrown) {
  struct Odd {};
  EXPECT_EQ(text_of(std::runtime_error("broken")), "broken");
  EXPECT_EQ(text_of("plain text"), "plain text");
  EXPECT_EQ(text_of(std::string("string")), "string");
  EXPECT_EQ(text_of(7), "an exception of type int");
  EXPECT_NE(text_of(Odd{}).find("Odd"), std::string::npos);
}

TEST(Check, ABrokenInvariantNamesItsPlace) {
  EXPECT_NO_THROW(check(true, "one is one"));
  try {
    check(false, "one is two");
    FAIL();
  } catch (const std::logic_error& error) {
    EXPECT_NE(std::string(error.what()).find("error_test.cpp"), std::string::npos);
    EXPECT_NE(std::string(error.what()).find("one is two"), std::string::npos);
  }
}

}  // namespace
}  // namespace knurl
