#pragma once

#include <filesystem>
#include <memory>

#include "knurl/envs/picture/image.h"

namespace knurl {

/// Writes a PNG file. Throws Error(io) with path and reason.
void write_png(const std::filesystem::path& path, const Image& image);

/// Writes an animated GIF that repeats for ever, picture by picture, so that it need not fit into
/// memory. Pictures of up to 256 colours are kept as they are; colours of others are rounded to a
/// cube of 6 x 7 x 6. Not whole before close().
class GifWriter {
 public:
  struct Options {
    int width = 0;
    int height = 0;
    int delay = 3;  ///< of each picture, in 1/100 s
  };

  /// Throws Error(io) with path and reason, as the other methods do.
  GifWriter(const std::filesystem::path& path, const Options& options);
  GifWriter(GifWriter&&) noexcept;
  GifWriter& operator=(GifWriter&&) noexcept;
  ~GifWriter();

  /// Of the size that the options say.
  void add(const Image& image);
  void close();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace knurl
