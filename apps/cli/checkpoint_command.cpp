#include <cmath>
#include <filesystem>

#include <fmt/format.h>

#include "knurl/algorithms/algorithm.h"
#include "knurl/apps/cli/cli.h"
#include "knurl/apps/cli/commands.h"
#include "knurl/apps/cli/console.h"
#include "knurl/apps/cli/paths.h"
#include "knurl/core/base/error.h"
#include "knurl/core/base/log.h"
#include "knurl/core/base/text.h"
#include "knurl/core/checkpoint/differences.h"
#include "knurl/core/tune/trial.h"

namespace knurl::cli {
namespace {

namespace fs = std::filesystem;

/// Prints the tensors of a file, a line each.
void print_tensors(const CheckpointData& state, const std::string& file) {
  const RecordBatch tensors = state.tensors(file);
  for (const ColumnSpec& column : tensors.columns()) {
    print_line(fmt::format("    {:<36} {:<8} {}", column.name, name_of(column.dtype),
                           text_of(column.row_shape)));
  }
}

/// The checkpoint that a path is, or all of a trial's. Throws Error(checkpoint) where there is
/// none.
std::vector<fs::path> checkpoints_at(const fs::path& path) {
  std::vector<fs::path> out;
  if (!fs::exists(path / "manifest.json")) {
    for (const auto& checkpoint : list_checkpoints(path)) out.push_back(checkpoint.directory);
  }
  if (out.empty()) out.push_back(path);
  return out;
}

}  // namespace

int show_checkpoint(const CheckpointArguments& arguments) {
  const tune::FoundCheckpoint found = tune::find_checkpoint(expanded(arguments.path));
  const CheckpointManifest manifest = read_manifest(found.directory);
  const CheckpointSummary summary = summary_of(found.state);
  print_line(fmt::format("{}: format {}, written by knurl {} on {} ({} instructions)",
                         found.directory.string(), manifest.format_version, manifest.knurl_version,
                         manifest.created, summary.instruction_set));
  print_line(fmt::format("{} on {}, iteration {}: {} env steps, {} episodes, {} of training",
                         summary.algorithm, summary.env, grouped(summary.iteration),
                         grouped(summary.env_steps), grouped(summary.episodes),
                         clock_text(summary.time_total_s)));
  std::int64_t bytes = 0;
  for (const auto& file : manifest.files) {
    bytes += file.bytes;
    print_line(fmt::format("  {}, {} bytes", file.name, grouped(file.bytes)));
    if (file.name.ends_with(".safetensors")) print_tensors(found.state, file.name);
  }
  print_line(fmt::format("{} files, {} bytes, all as they were written", manifest.files.size(),
                         grouped(bytes)));
  return kSuccess;
}

int verify_checkpoint(const CheckpointArguments& arguments) {
  bool whole = true;
  for (const fs::path& checkpoint : checkpoints_at(expanded(arguments.path))) {
    const std::vector<std::string> problems = problems_of_checkpoint(checkpoint);
    for (const std::string& problem : problems) log(LogLevel::error, "{}", problem);
    if (problems.empty()) {
      print_line(fmt::format("{}: whole, {} files", checkpoint.string(),
                             read_manifest(checkpoint).files.size()));
    }
    whole = whole && problems.empty();
  }
  return whole ? kSuccess : kBadCheckpoint;
}

int diff_checkpoints(const CheckpointArguments& arguments) {
  constexpr int kSame = 0;
  constexpr int kDifferent = 1;
  constexpr int kTrouble = 2;
  try {
    const CheckpointData first = tune::find_checkpoint(expanded(arguments.path)).state;
    const CheckpointData second = tune::find_checkpoint(expanded(arguments.other)).state;
    const std::vector<Difference> found = differences(first, second);
    std::string file;
    for (const Difference& difference : found) {
      if (difference.file != file) print_line(file = difference.file);
      const std::string part = difference.part.empty() ? "" : difference.part + ": ";
      print_line(fmt::format("  {}{}", part, difference.text));
    }
    if (!found.empty()) return kDifferent;
    print_line(fmt::format("the same, bit for bit: {} files", first.files().size()));
    return kSame;
  } catch (const std::exception& error) {
    log(LogLevel::error, "{}", error.what());
    return kTrouble;
  }
}

}  // namespace knurl::cli
