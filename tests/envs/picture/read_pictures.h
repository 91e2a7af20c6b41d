#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "knurl/envs/picture/image.h"

/// Reads picture files with the libraries' own readers.
namespace knurl::testing {

/// Throws std::runtime_error where it is no whole PNG.
Image read_png(const std::filesystem::path& path);

struct Gif {
  std::vector<Image> pictures = {};
  std::vector<int> delays = {};  ///< in 1/100 s
  bool repeats = false;
};
/// Throws std::runtime_error where it is no whole GIF.
Gif read_gif(const std::filesystem::path& path);

/// A new empty directory that is removed in the end.
class ScratchDirectory {
 public:
  ScratchDirectory();
  ScratchDirectory(const ScratchDirectory&) = delete;
  ScratchDirectory& operator=(const ScratchDirectory&) = delete;
  ~ScratchDirectory() { std::filesystem::remove_all(path_); }
  [[nodiscard]] const std::filesystem::path& path() const { return path_; }
  /// The names in a directory below it, in order.
  [[nodiscard]] std::vector<std::string> names(const std::string& below = "") const;

 private:
  std::filesystem::path path_;
};

}  // namespace knurl::testing
