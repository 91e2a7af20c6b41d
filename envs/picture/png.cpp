#include <cerrno>
#include <cstring>

#include <png.h>

#include "knurl/core/base/error.h"
#include "knurl/envs/picture/files.h"

namespace knurl {

void write_png(const std::filesystem::path& path, const Image& image) {
  static_assert(sizeof(Color) == 3, "rows are written as they lie");
  png_image header{};
  header.version = PNG_IMAGE_VERSION;
  header.width = static_cast<png_uint_32>(image.width);
  header.height = static_cast<png_uint_32>(image.height);
  header.format = PNG_FORMAT_RGB;
  errno = 0;
  if (png_image_write_to_file(&header, path.c_str(), 0, image.pixels.data(), 0, nullptr) != 0) {
    return;
  }
  fail(ErrorKind::io, "{}: cannot be written: {}", path.string(),
       errno != 0 ? std::strerror(errno) : header.message);
}

}  // namespace knurl
