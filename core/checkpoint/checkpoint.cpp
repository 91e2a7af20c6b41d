#include "knurl/core/checkpoint/checkpoint.h"

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <cstring>
#include <utility>

#include <fcntl.h>
#include <fmt/chrono.h>
#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <unistd.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "knurl/core/base/error.h"
#include "knurl/core/base/file.h"
#include "knurl/core/base/version.h"
#include "knurl/core/checkpoint/safetensors.h"

namespace knurl {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

/// Raised whenever what this program writes is not what earlier ones read, or the other way round.
constexpr std::int64_t kFormatVersion = 2;
constexpr const char* kFormat = "knurl-checkpoint";
constexpr const char* kManifest = "manifest.json";
constexpr const char* kUnfinished = ".unfinished-";

std::string checksum(const void* data, std::size_t size) {
  const XXH128_hash_t hash = XXH3_128bits(data, size);
  return fmt::format("{:016x}{:016x}", hash.high64, hash.low64);
}

[[noreturn]] void fail_io(const fs::path& path, std::string_view what) {
  fail(ErrorKind::io, "{}: {}: {}", path.string(), what, std::strerror(errno));
}

std::string read_file(const fs::path& path) {
  if (!fs::exists(path)) fail(ErrorKind::checkpoint, "{}: is missing", path.string());
  return read_text_file(path);
}

std::string manifest_of(const CheckpointData& data) {
  Json manifest{{"format", kFormat},
                {"format_version", kFormatVersion},
                {"knurl_version", kVersion},
                {"created", fmt::format("{:%Y-%m-%dT%H:%M:%SZ}",
                                        fmt::gmtime(std::chrono::system_clock::to_time_t(
                                            std::chrono::system_clock::now())))}};
  Json& files = manifest["files"] = Json::object();
  for (const auto& [name, bytes] : data.files()) {
    files[name] = {{"bytes", bytes.size()}, {"xxh3_128", checksum(bytes.data(), bytes.size())}};
  }
  const std::string body = manifest.dump();
  manifest["manifest_xxh3_128"] = checksum(body.data(), body.size());
  return manifest.dump(2) + "\n";
}

/// An entry that is a text; empty where it is missing or something else.
std::string text_of(const Json& object, const char* name) {
  const Json value = object.value(name, Json());
  return value.is_string() ? value.get<std::string>() : "";
}

/// Throws Error(checkpoint) unless the format is the one that this program writes.
void check_version(const fs::path& path, const Json& manifest) {
  const Json version = manifest.value("format_version", Json());
  if (version == kFormatVersion) return;
  if (!version.is_number_integer()) {
    fail(ErrorKind::checkpoint, "{}: damaged: format_version is {}", path.string(),
         version.is_null() ? "missing" : version.dump());
  }
  const bool newer = version.get<std::int64_t>() > kFormatVersion;
  const std::string writer = text_of(manifest, "knurl_version");
  fail(ErrorKind::checkpoint,
       "{}: format {} is {} than {}, which this knurl ({}) reads; go on with the knurl that wrote "
       "it{}",
       path.string(), version.dump(), newer ? "newer" : "older", kFormatVersion, kVersion,
       writer.empty() ? "" : fmt::format(" ({})", writer));
}

/// The manifest, after its own checksum and format have been found good.
Json checked_manifest(const fs::path& directory) {
  if (!fs::is_directory(directory)) {
    fail(ErrorKind::checkpoint, "{}: no such checkpoint directory", directory.string());
  }
  const fs::path path = directory / kManifest;
  if (!fs::exists(path)) {
    fail(ErrorKind::checkpoint, "{}: no checkpoint of knurl's: it has no {}", directory.string(),
         kManifest);
  }
  Json manifest = Json::parse(read_file(path), nullptr, false);
  if (manifest.is_discarded() || !manifest.is_object()) {
    fail(ErrorKind::checkpoint, "{}: damaged: not JSON", path.string());
  }
  if (text_of(manifest, "format") != kFormat) {
    fail(ErrorKind::checkpoint, "{}: no checkpoint of knurl's: format is {}", path.string(),
         manifest.value("format", Json("missing")).dump());
  }
  check_version(path, manifest);
  const std::string expected = text_of(manifest, "manifest_xxh3_128");
  manifest.erase("manifest_xxh3_128");
  const std::string body = manifest.dump();
  if (checksum(body.data(), body.size()) != expected) {
    fail(ErrorKind::checkpoint, "{}: damaged: its checksum is another", path.string());
  }
  return manifest;
}

/// The bytes of a file of a checkpoint, after comparing them with the manifest's entry.
std::string checked_file(const fs::path& directory, const std::string& name, const Json& entry) {
  const fs::path path = directory / name;
  if (fs::path(name).is_absolute() || name.find("..") != std::string::npos) {
    fail(ErrorKind::checkpoint, "{}: lies outside the checkpoint", path.string());
  }
  if (!entry.is_object()) fail(ErrorKind::checkpoint, "{}: damaged: no entry", path.string());
  std::string bytes = read_file(path);
  if (entry.value("bytes", Json()) != bytes.size()) {
    fail(ErrorKind::checkpoint, "{}: truncated: {} bytes of {}", path.string(), bytes.size(),
         entry.value("bytes", Json()).dump());
  }
  if (checksum(bytes.data(), bytes.size()) != text_of(entry, "xxh3_128")) {
    fail(ErrorKind::checkpoint, "{}: damaged: its checksum is another", path.string());
  }
  return bytes;
}

/// Puts `from` in the place of `to`, in one step also where `to` exists.
void move_into_place(const fs::path& from, const fs::path& to) {
  if (::renameat2(AT_FDCWD, from.c_str(), AT_FDCWD, to.c_str(), RENAME_NOREPLACE) == 0) return;
  if (errno == EEXIST &&
      ::renameat2(AT_FDCWD, from.c_str(), AT_FDCWD, to.c_str(), RENAME_EXCHANGE) == 0) {
    fs::remove_all(from);  // now the old one
    return;
  }
  if (errno == EINVAL && ::rename(from.c_str(), to.c_str()) == 0) return;  // old file systems
  fail_io(to, "cannot be put in place");
}

}  // namespace

void CheckpointData::add_json(const std::string& name, const std::string& text) {
  add_file(name, std::as_bytes(std::span(text)));
}

void CheckpointData::add_tensors(const std::string& name, const RecordBatch& tensors) {
  files_[name] = to_safetensors(tensors);
}

std::string CheckpointData::json(const std::string& name) const {
  const std::vector<std::byte>& bytes = file(name);
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

RecordBatch CheckpointData::tensors(const std::string& name) const {
  return from_safetensors(file(name), path_of(name));
}

const std::vector<std::byte>& CheckpointData::file(const std::string& name) const {
  const auto found = files_.find(name);
  if (found == files_.end()) fail(ErrorKind::checkpoint, "{}: is missing", path_of(name));
  return found->second;
}

std::string CheckpointData::path_of(const std::string& name) const {
  return source_.empty() ? name : (source_ / name).string();
}

void write_checkpoint(const fs::path& directory, const CheckpointData& data) {
  fs::path target = directory.lexically_normal();
  if (!target.has_filename()) target = target.parent_path();  // written with a slash at the end
  const fs::path parent = target.has_parent_path() ? target.parent_path() : fs::path(".");
  const fs::path beside =
      parent / fmt::format("{}{}-{}", kUnfinished, ::getpid(), target.filename().string());
  try {
    fs::create_directories(parent);
    fs::remove_all(beside);
    fs::create_directory(beside);
    for (const auto& [name, bytes] : data.files()) {
      fs::create_directories((beside / name).parent_path());
      write_file(beside / name, bytes);
    }
    const std::string manifest = manifest_of(data);
    write_file(beside / kManifest, std::as_bytes(std::span(manifest)));
    flush_directory(beside);
    move_into_place(beside, target);
    flush_directory(parent);
  } catch (const fs::filesystem_error& error) {
    std::error_code ignored;
    fs::remove_all(beside, ignored);
    fail(ErrorKind::io, "{}: {}", error.path1().string(), error.code().message());
  } catch (...) {
    std::error_code ignored;
    fs::remove_all(beside, ignored);
    throw;
  }
}

CheckpointData read_checkpoint(const fs::path& directory) {
  const Json manifest = checked_manifest(directory);
  CheckpointData data;
  data.set_source(directory);
  const Json files = manifest.value("files", Json());
  for (const auto& [name, entry] : files.items()) {
    const std::string bytes = checked_file(directory, name, entry);
    data.add_file(name, std::as_bytes(std::span(bytes)));
  }
  return data;
}

CheckpointManifest read_manifest(const fs::path& directory) {
  const Json manifest = checked_manifest(directory);
  CheckpointManifest out{.knurl_version = text_of(manifest, "knurl_version"),
                         .created = text_of(manifest, "created")};
  const Json version = manifest.value("format_version", Json());
  if (version.is_number_integer()) out.format_version = version.get<std::int64_t>();
  const Json files = manifest.value("files", Json());
  for (const auto& [name, entry] : files.items()) {
    const Json bytes = entry.is_object() ? entry.value("bytes", Json()) : Json();
    out.files.push_back(
        {.name = name, .bytes = bytes.is_number_integer() ? bytes.get<std::int64_t>() : 0});
  }
  return out;
}

std::vector<std::string> problems_of_checkpoint(const fs::path& directory) {
  std::vector<std::string> problems;
  const auto collect = [&](const auto& work) {
    try {
      work();
    } catch (const Error& error) {
      problems.emplace_back(error.what());
    }
  };
  Json files;
  collect([&] { files = checked_manifest(directory).value("files", Json()); });
  for (const auto& [name, entry] : files.items()) {
    collect([&, &file = name, &facts = entry] { checked_file(directory, file, facts); });
  }
  return problems;
}

std::string checkpoint_name(std::int64_t iteration) {
  return fmt::format("checkpoint_{:06}", iteration);
}

std::vector<NumberedCheckpoint> list_checkpoints(const fs::path& parent) {
  constexpr std::string_view kPrefix = "checkpoint_";
  std::vector<NumberedCheckpoint> out;
  std::error_code problem;
  for (const auto& entry : fs::directory_iterator(parent, problem)) {
    const std::string name = entry.path().filename().string();
    if (!entry.is_directory() || !name.starts_with(kPrefix)) continue;
    const char* digits = name.data() + kPrefix.size();
    const char* end = name.data() + name.size();
    std::int64_t iteration = 0;
    const auto [stop, error] = std::from_chars(digits, end, iteration);
    if (error == std::errc{} && stop == end) out.push_back({iteration, entry.path()});
  }
  std::ranges::sort(out, {}, &NumberedCheckpoint::iteration);
  return out;
}

void remove_unfinished_checkpoints(const fs::path& parent) {
  std::error_code problem;
  for (const auto& entry : fs::directory_iterator(parent, problem)) {
    if (entry.path().filename().string().starts_with(kUnfinished)) {
      fs::remove_all(entry.path(), problem);
    }
  }
}

}  // namespace knurl
