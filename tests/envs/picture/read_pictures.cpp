#include "read_pictures.h"

#include <algorithm>
#include <cstdlib>
#include <stdexcept>

#include <gif_lib.h>
#include <png.h>

namespace knurl::testing {

Image read_png(const std::filesystem::path& path) {
  png_image header{};
  header.version = PNG_IMAGE_VERSION;
  if (png_image_begin_read_from_file(&header, path.c_str()) == 0) {
    throw std::runtime_error(path.string() + ": " + header.message);
  }
  header.format = PNG_FORMAT_RGB;
  Image out(static_cast<int>(header.width), static_cast<int>(header.height), {});
  if (png_image_finish_read(&header, nullptr, out.pixels.data(), 0, nullptr) == 0) {
    throw std::runtime_error(path.string() + ": " + header.message);
  }
  return out;
}

Gif read_gif(const std::filesystem::path& path) {
  int code = 0;
  GifFileType* file = DGifOpenFileName(path.c_str(), &code);
  if (!file || DGifSlurp(file) != GIF_OK) throw std::runtime_error(path.string() + ": no GIF");
  Gif out;
  for (int i = 0; i < file->ImageCount; ++i) {
    const SavedImage& saved = file->SavedImages[i];
    Image image(saved.ImageDesc.Width, saved.ImageDesc.Height, {});
    for (std::size_t k = 0; k < image.pixels.size(); ++k) {
      const GifColorType& color = saved.ImageDesc.ColorMap->Colors[saved.RasterBits[k]];
      image.pixels[k] = {color.Red, color.Green, color.Blue};
    }
    out.pictures.push_back(std::move(image));
    GraphicsControlBlock control{};
    out.delays.push_back(DGifSavedExtensionToGCB(file, i, &control) == GIF_OK ? control.DelayTime
                                                                              : -1);
    for (int k = 0; k < saved.ExtensionBlockCount; ++k) {
      const ExtensionBlock& block = saved.ExtensionBlocks[k];
      const std::string bytes(reinterpret_cast<const char*>(block.Bytes),
                              static_cast<std::size_t>(block.ByteCount));
      out.repeats = out.repeats || bytes == "NETSCAPE2.0";
    }
  }
  DGifCloseFile(file, &code);
  return out;
}

std::vector<std::string> ScratchDirectory::names(const std::string& below) const {
  std::vector<std::string> out;
  for (const auto& entry : std::filesystem::directory_iterator(path() / below)) {
    out.push_back(entry.path().filename());
  }
  std::ranges::sort(out);
  return out;
}

}  // namespace knurl::testing
