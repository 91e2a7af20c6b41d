#include "knurl/core/metrics/sinks.h"

#include <algorithm>
#include <cmath>
#include <sstream>

#include <fmt/format.h>

#include "knurl/core/base/error.h"
#include "knurl/core/base/file.h"

namespace knurl {
namespace {

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> out;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) out.push_back(std::move(line));
  return out;
}

std::string quoted(const std::string& cell) {
  if (cell.find_first_of(",\"\n\r") == std::string::npos) return cell;
  std::string out = "\"";
  for (const char c : cell) out += c == '"' ? std::string("\"\"") : std::string(1, c);
  return out + "\"";
}

std::string csv_line(const std::vector<std::string>& cells) {
  std::string out;
  for (std::size_t i = 0; i < cells.size(); ++i) out += (i > 0 ? "," : "") + quoted(cells[i]);
  return out;
}

/// Lists have no place in a table.
bool has_cell(const Result::Entry& entry) {
  return !std::holds_alternative<std::vector<double>>(entry.value);
}

std::string cell_of(const Result::Value& value) {
  return std::visit(
      [](const auto& v) -> std::string {
        using T = std::remove_cvref_t<decltype(v)>;
        if constexpr (std::is_same_v<T, std::string>) {
          return v;
        } else if constexpr (std::is_arithmetic_v<T>) {
          return fmt::format("{}", v);
        } else {
          return "";
        }
      },
      value);
}

/// The iteration that a line of result.json tells of; nothing for a broken line.
std::optional<double> iteration_of(const std::string& line) {
  const std::optional<Result> result = numbers_of_json(line);
  return result ? result->number("training_iteration") : std::nullopt;
}

void cut_json(const std::filesystem::path& path, std::int64_t last_iteration) {
  std::string kept;
  for (const std::string& line : lines_of(read_text_file(path))) {
    const auto iteration = iteration_of(line);
    if (iteration && *iteration <= static_cast<double>(last_iteration)) kept += line + "\n";
  }
  replace_text_file(path, kept);
}

void cut_csv(const std::filesystem::path& path, std::int64_t last_iteration) {
  const std::vector<std::string> lines = lines_of(read_text_file(path));
  if (lines.empty()) return;
  const std::vector<std::string> header = split_csv_line(lines.front());
  const auto column =
      static_cast<std::size_t>(std::ranges::find(header, "training_iteration") - header.begin());
  std::string kept = lines.front() + "\n";
  for (std::size_t i = 1; i < lines.size(); ++i) {
    const std::vector<std::string> cells = split_csv_line(lines[i]);
    if (cells.size() != header.size() || column >= cells.size()) continue;
    if (std::atoll(cells[column].c_str()) <= last_iteration) kept += lines[i] + "\n";
  }
  replace_text_file(path, kept);
}

}  // namespace

void JsonSink::write(const Result& result) {
  append_to_file(path_, result.to_json() + "\n");
}

CsvSink::CsvSink(std::filesystem::path path) : path_(std::move(path)) {
  if (!std::filesystem::exists(path_)) return;
  const std::vector<std::string> lines = lines_of(read_text_file(path_));
  if (!lines.empty()) header_ = split_csv_line(lines.front());
}

void CsvSink::write(const Result& result) {
  widen(result);
  std::vector<std::string> cells;
  for (const std::string& name : header_) {
    const Result::Value* value = result.find(name);
    cells.push_back(value ? cell_of(*value) : "");
  }
  append_to_file(path_, csv_line(cells) + "\n");
}

void CsvSink::widen(const Result& result) {
  const std::size_t before = header_.size();
  for (const Result::Entry& entry : result.entries()) {
    if (has_cell(entry) && std::ranges::count(header_, entry.name) == 0) {
      header_.push_back(entry.name);
    }
  }
  if (header_.size() == before) return;
  std::string table = csv_line(header_) + "\n";
  if (before > 0) {
    const std::string empty_cells(header_.size() - before, ',');
    const std::vector<std::string> lines = lines_of(read_text_file(path_));
    for (std::size_t i = 1; i < lines.size(); ++i) table += lines[i] + empty_cells + "\n";
  }
  replace_text_file(path_, table);
}

void cut_results(const std::filesystem::path& json, const std::filesystem::path& csv,
                 std::int64_t last_iteration) {
  if (std::filesystem::exists(json)) cut_json(json, last_iteration);
  if (std::filesystem::exists(csv)) cut_csv(csv, last_iteration);
}

std::vector<std::string> split_csv_line(std::string_view line) {
  std::vector<std::string> cells(1);
  bool inside = false;
  for (std::size_t i = 0; i < line.size(); ++i) {
    const char c = line[i];
    if (inside && c == '"' && i + 1 < line.size() && line[i + 1] == '"') {
      cells.back() += '"';
      ++i;
    } else if (c == '"') {
      inside = !inside;
    } else if (c == ',' && !inside) {
      cells.emplace_back();
    } else {
      cells.back() += c;
    }
  }
  return cells;
}

}  // namespace knurl
