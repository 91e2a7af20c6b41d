#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <optional>
#include <unordered_map>
#include <utility>
#include <vector>

#include <gif_lib.h>

#include "knurl/core/base/check.h"
#include "knurl/core/base/error.h"
#include "knurl/envs/picture/files.h"

namespace knurl {
namespace {

constexpr int kMostColors = 256;

/// A picture as a GIF holds it.
struct Indexed {
  std::vector<GifColorType> palette = {};
  std::vector<GifPixelType> pixels = {};
};

std::uint32_t key_of(Color color) {
  return static_cast<std::uint32_t>(color.red << 16 | color.green << 8 | color.blue);
}

/// Nothing where there are more colours than fit.
std::optional<Indexed> with_own_colors(const Image& image) {
  Indexed out;
  std::unordered_map<std::uint32_t, GifPixelType> known;
  out.pixels.reserve(image.pixels.size());
  for (const Color color : image.pixels) {
    auto found = known.find(key_of(color));
    if (found == known.end()) {
      if (out.palette.size() == kMostColors) return std::nullopt;
      found = known.emplace(key_of(color), static_cast<GifPixelType>(out.palette.size())).first;
      out.palette.push_back({color.red, color.green, color.blue});
    }
    out.pixels.push_back(found->second);
  }
  return out;
}

/// The nearest of `levels` numbers from 0 to 255 that are as far apart, by its index.
int level_of(int value, int levels) {
  return (value * (levels - 1) + 127) / 255;
}

Indexed with_cube_colors(const Image& image) {
  constexpr int kRed = 6;
  constexpr int kGreen = 7;
  constexpr int kBlue = 6;
  Indexed out;
  const auto value = [](int level, int levels) {
    return static_cast<GifByteType>(level * 255 / (levels - 1));
  };
  for (int red = 0; red < kRed; ++red) {
    for (int green = 0; green < kGreen; ++green) {
      for (int blue = 0; blue < kBlue; ++blue) {
        out.palette.push_back({value(red, kRed), value(green, kGreen), value(blue, kBlue)});
      }
    }
  }
  out.pixels.reserve(image.pixels.size());
  for (const Color color : image.pixels) {
    out.pixels.push_back(static_cast<GifPixelType>(
        (level_of(color.red, kRed) * kGreen + level_of(color.green, kGreen)) * kBlue +
        level_of(color.blue, kBlue)));
  }
  return out;
}

struct FreeColorMap {
  void operator()(ColorMapObject* map) const { GifFreeMapObject(map); }
};

}  // namespace

struct GifWriter::State {
  std::string path = {};
  Options options = {};
  std::unique_ptr<std::FILE, int (*)(std::FILE*)> stream{nullptr, std::fclose};
  GifFileType* file = nullptr;

  static int write(GifFileType* file, const GifByteType* bytes, int count) {
    auto* stream = static_cast<std::FILE*>(file->UserData);
    return static_cast<int>(std::fwrite(bytes, 1, static_cast<std::size_t>(count), stream));
  }

  [[noreturn]] void fail_with(int code) const {
    const char* reason = errno != 0 ? std::strerror(errno) : GifErrorString(code);
    fail(ErrorKind::io, "{}: cannot be written: {}", path, reason ? reason : "unknown reason");
  }
  void expect(int result) const {
    if (result == GIF_ERROR) fail_with(file->Error);
  }
};

GifWriter::GifWriter(const std::filesystem::path& path, const Options& options)
    : state_(std::make_unique<State>()) {
  constexpr int kColorBits = 8;
  state_->path = path.string();
  state_->options = options;
  errno = 0;
  int code = 0;
  state_->stream.reset(std::fopen(path.c_str(), "wb"));
  if (!state_->stream) state_->fail_with(code);
  state_->file = EGifOpen(state_->stream.get(), &State::write, &code);
  if (!state_->file) state_->fail_with(code);
  EGifSetGifVersion(state_->file, true);
  state_->expect(
      EGifPutScreenDesc(state_->file, options.width, options.height, kColorBits, 0, nullptr));
  // how often to repeat: 0 is for ever
  constexpr std::array<GifByteType, 3> kForEver{1, 0, 0};
  state_->expect(EGifPutExtensionLeader(state_->file, APPLICATION_EXT_FUNC_CODE));
  state_->expect(EGifPutExtensionBlock(state_->file, 11, "NETSCAPE2.0"));
  state_->expect(EGifPutExtensionBlock(state_->file, kForEver.size(), kForEver.data()));
  state_->expect(EGifPutExtensionTrailer(state_->file));
}

GifWriter::GifWriter(GifWriter&&) noexcept = default;
GifWriter& GifWriter::operator=(GifWriter&&) noexcept = default;

GifWriter::~GifWriter() {
  int code = 0;
  if (state_ && state_->file) (void)EGifCloseFile(state_->file, &code);
}

void GifWriter::add(const Image& image) {
  const Options& options = state_->options;
  GifFileType* file = state_->file;
  check(image.width == options.width && image.height == options.height,
        "all pictures of a GIF have one size");
  std::optional<Indexed> own = with_own_colors(image);
  Indexed indexed = own ? std::move(*own) : with_cube_colors(image);
  int size = 2;  // a palette's size is a power of two
  while (size < static_cast<int>(indexed.palette.size())) size *= 2;
  indexed.palette.resize(static_cast<std::size_t>(size));
  const std::unique_ptr<ColorMapObject, FreeColorMap> colors(
      GifMakeMapObject(size, indexed.palette.data()));

  errno = 0;
  const GraphicsControlBlock control{.DisposalMode = DISPOSE_DO_NOT,
                                     .UserInputFlag = false,
                                     .DelayTime = options.delay,
                                     .TransparentColor = NO_TRANSPARENT_COLOR};
  std::array<GifByteType, 4> bytes{};
  const auto length = EGifGCBToExtension(&control, bytes.data());
  state_->expect(
      EGifPutExtension(file, GRAPHICS_EXT_FUNC_CODE, static_cast<int>(length), bytes.data()));
  state_->expect(EGifPutImageDesc(file, 0, 0, image.width, image.height, false, colors.get()));
  for (int row = 0; row < image.height; ++row) {
    state_->expect(EGifPutLine(
        file, indexed.pixels.data() + static_cast<std::ptrdiff_t>(row) * image.width, image.width));
  }
}

void GifWriter::close() {
  errno = 0;
  int code = 0;
  GifFileType* file = std::exchange(state_->file, nullptr);
  if (EGifCloseFile(file, &code) == GIF_ERROR) state_->fail_with(code);
  if (std::fclose(state_->stream.release()) != 0) state_->fail_with(E_GIF_ERR_CLOSE_FAILED);
}

}  // namespace knurl
