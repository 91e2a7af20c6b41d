#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "row.h"

namespace knurl::learning {

/// A row with what there is of it.
struct ShownRow {
  Row row = {};
  std::optional<RowResult> result = {};
  std::optional<Reference> reference = {};
};

/// docs/results.md: a table of all rows that have been trained, and a part for each.
std::string results_page(const std::vector<ShownRow>& rows);

/// The row's learning curve, the reference's beside it, as SVG; nothing where a seed has none.
std::optional<std::string> learning_curve(const ShownRow& shown);

/// Writes one row's result to docs/results/<name>.json.
void save_result(const std::filesystem::path& root, const Row& row, const RowResult& result);

/// Writes docs/results.md and the pictures from the results that are saved.
void write_page(const std::filesystem::path& root, const std::vector<Row>& rows);

}  // namespace knurl::learning
