#include "knurl/core/base/log.h"

#include <regex>

#include <gtest/gtest.h>

#include "knurl/core/base/file.h"
#include "scratch.h"

namespace knurl {
namespace {

namespace fs = std::filesystem;

class LogFiles : public ::testing::Test {
 protected:
  ~LogFiles() override { set_log_file({}); }
  [[nodiscard]] fs::path path(const std::string& name) const { return scratch_ / name; }
  /// The messages in a file without their times.
  [[nodiscard]] std::string text(const std::string& name) const {
    static const std::regex time("\\d{4}-\\d\\d-\\d\\dT\\d\\d:\\d\\d:\\d\\dZ ");
    return std::regex_replace(read_text_file(path(name)), time, "");
  }

 private:
  Scratch scratch_;
};

/// What a call prints on standard error.
template <class Call>
std::string printed(Call&& call) {
  ::testing::internal::CaptureStderr();
  call();
  return ::testing::internal::GetCapturedStderr();
}

TEST_F(LogFiles, GetWhatIsPrintedAndWhatIsForInformation) {
  set_log_file(LogFile{.path = path("log.txt")});
  EXPECT_FALSE(fs::exists(path("log.txt")));
  EXPECT_EQ(printed([] {
              log(LogLevel::error, "one {}", 1);
              log(LogLevel::info, "two");
              log(LogLevel::debug, "three");
            }),
            "knurl: error: one 1\n");
  EXPECT_EQ(text("log.txt"), "error: one 1\ninfo: two\n");
  set_log_file({});
  EXPECT_FALSE(is_logged(LogLevel::info));
  printed([] { log(LogLevel::error, "four"); });
  EXPECT_EQ(text("log.txt"), "error: one 1\ninfo: two\n");
}

TEST_F(LogFiles, AreRotatedBeforeTheyOutgrowTheirSize) {
  // a line is 20 characters of time, a space and "info: 1" with its end: 29 bytes
  set_log_file(LogFile{.path = path("log.txt"), .max_bytes = 60, .old_files = 2});
  for (int i = 1; i <= 7; ++i) log(LogLevel::info, "{}", i);
  EXPECT_EQ(text("log.txt"), "info: 7\n");
  EXPECT_EQ(text("log.txt.1"), "info: 5\ninfo: 6\n");
  EXPECT_EQ(text("log.txt.2"), "info: 3\ninfo: 4\n");
  EXPECT_FALSE(fs::exists(path("log.txt.3")));
}

TEST_F(LogFiles, ThatAreThereAreGoneOnWith) {
  set_log_file(LogFile{.path = path("log.txt")});
  log(LogLevel::info, "first run");
  set_log_file(LogFile{.path = path("log.txt")});
  log(LogLevel::info, "second run");
  EXPECT_EQ(text("log.txt"), "info: first run\ninfo: second run\n");
}

TEST_F(LogFiles, ThatCannotBeWrittenAreSaidOnceAndGivenUp) {
  set_log_file(LogFile{.path = "/dev/full"});
  const std::string said = printed([] {
    log(LogLevel::info, "one");
    log(LogLevel::warning, "two");
  });
  EXPECT_EQ(said,
            "knurl: warning: /dev/full: cannot be written: No space left on device; messages go to "
            "standard error only\n"
            "knurl: warning: two\n");
}

}  // namespace
}  // namespace knurl
