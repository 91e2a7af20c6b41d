#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "knurl/core/data/record_batch.h"

namespace knurl {

/// What a checkpoint holds, in memory: JSON and safetensors files, no code.
/// docs/checkpoint_format.md describes them.
class CheckpointData {
 public:
  using Files = std::map<std::string, std::vector<std::byte>>;

  /// Adds a file of JSON text, or of the columns of a batch of one row.
  void add_json(const std::string& name, const std::string& text);
  void add_tensors(const std::string& name, const RecordBatch& tensors);

  [[nodiscard]] bool has(const std::string& name) const { return files_.contains(name); }
  /// Throws Error(checkpoint) naming the file where it is missing or of the other kind.
  [[nodiscard]] std::string json(const std::string& name) const;
  [[nodiscard]] RecordBatch tensors(const std::string& name) const;

  [[nodiscard]] const Files& files() const { return files_; }
  /// Where it was read from, for messages.
  void set_source(std::filesystem::path source) { source_ = std::move(source); }
  void add_file(const std::string& name, std::span<const std::byte> bytes) {
    files_[name].assign(bytes.begin(), bytes.end());
  }

  /// A file's path for messages; its name where the data was never in a directory.
  [[nodiscard]] std::string path_of(const std::string& name) const;

 private:
  [[nodiscard]] const std::vector<std::byte>& file(const std::string& name) const;

  Files files_;
  std::filesystem::path source_;
};

/// Writes a checkpoint directory with a manifest of sizes and checksums: beside its place, flushed
/// to the disk, then renamed, so that `directory` is at any moment the old one, the new one, or not
/// there. Throws Error(io) naming the path that could not be written, after removing what it wrote.
void write_checkpoint(const std::filesystem::path& directory, const CheckpointData& data);

/// Reads a checkpoint after comparing every file with the manifest. Throws Error(checkpoint) with
/// the file and the reason where it is damaged, truncated, no checkpoint of knurl's, or of another
/// format version.
CheckpointData read_checkpoint(const std::filesystem::path& directory);

/// What a checkpoint's manifest says of it.
struct CheckpointManifest {
  struct File {
    std::string name = {};
    std::int64_t bytes = 0;
  };
  std::int64_t format_version = 0;
  std::string knurl_version = {};
  std::string created = {};  ///< UTC, "2026-01-31T12:00:00Z"
  std::vector<File> files = {};
};

/// Throws Error(checkpoint) where the manifest is missing, damaged, foreign or of a newer format.
CheckpointManifest read_manifest(const std::filesystem::path& directory);

/// What keeps a checkpoint from being whole: for each file that is missing, truncated or damaged
/// its path and the reason, all at once. Nothing where read_checkpoint would accept it.
std::vector<std::string> problems_of_checkpoint(const std::filesystem::path& directory);

/// A checkpoint among others of its trial.
struct NumberedCheckpoint {
  std::int64_t iteration = 0;
  std::filesystem::path directory;
};

/// "checkpoint_000012"
std::string checkpoint_name(std::int64_t iteration);

/// The checkpoints in a directory, oldest first. Unfinished ones are no checkpoints.
std::vector<NumberedCheckpoint> list_checkpoints(const std::filesystem::path& parent);

/// Removes what interrupted writes left in a directory.
void remove_unfinished_checkpoints(const std::filesystem::path& parent);

}  // namespace knurl
