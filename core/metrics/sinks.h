#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "knurl/core/metrics/result.h"

namespace knurl {

/// Appends each result to a file as a line of JSON (result.json). Throws Error(io) with the path
/// where the disk is full or the file gone.
class JsonSink {
 public:
  explicit JsonSink(std::filesystem::path path) : path_(std::move(path)) {}
  void write(const Result& result);

 private:
  std::filesystem::path path_;
};

/// Appends each result to a table with a column for each number or text (progress.csv). When a new
/// name turns up the table gets a new column, and the rows before are empty there. Decimal points,
/// whatever the locale.
class CsvSink {
 public:
  /// Goes on with the table that is there.
  explicit CsvSink(std::filesystem::path path);
  void write(const Result& result);

 private:
  void widen(const Result& result);

  std::filesystem::path path_;
  std::vector<std::string> header_;
};

/// Cuts the rows after an iteration from result.json and progress.csv, and a last line that was not
/// finished: what a resumed run writes again. Files that are not there stay away.
void cut_results(const std::filesystem::path& json, const std::filesystem::path& csv,
                 std::int64_t last_iteration);

/// A row of a CSV file as its cells; quotes are undone.
std::vector<std::string> split_csv_line(std::string_view line);

}  // namespace knurl
