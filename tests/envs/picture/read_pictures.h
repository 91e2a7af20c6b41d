#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "knurl/envs/picture/image.h"
#include "scratch.h"

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

class ScratchDirectory : public Scratch {
 public:
  /// The names in a directory below it, in order.
  [[nodiscard]] std::vector<std::string> names(const std::string& below = "") const;
};

}  // namespace knurl::testing
