#include "knurl/models/fast/conv.h"

#include <algorithm>

#include "knurl/models/fast/kernels.h"

namespace knurl::fast {
namespace {

/// One line of a patch: `kernel width` pixels of line `y`, from column `x` on; beyond the picture's
/// edges there are zeros.
void copy_line(const ConvShape& shape, const float* picture, int y, int x, float* to) {
  const int channels = shape.channels;
  const int first = std::clamp(-x, 0, shape.kernel[1]);
  const int end = std::clamp(shape.size[1] - x, first, shape.kernel[1]);
  const bool inside = y >= 0 && y < shape.size[0];
  const int copied = inside ? end - first : 0;
  const int before = inside ? first : shape.kernel[1];
  to = std::fill_n(to, std::ptrdiff_t{before} * channels, 0.0F);
  if (!inside) return;
  const float* from = picture + (std::ptrdiff_t{y} * shape.size[1] + x + first) * channels;
  to = std::copy_n(from, std::ptrdiff_t{copied} * channels, to);
  std::fill_n(to, std::ptrdiff_t{shape.kernel[1] - end} * channels, 0.0F);
}

void fill_patches(const ConvShape& shape, const float* picture, float* to) {
  const Extent places = shape.output();
  const Extent before = shape.before();
  const std::ptrdiff_t line = std::ptrdiff_t{shape.kernel[1]} * shape.channels;
  for (int py = 0; py < places[0]; ++py) {
    for (int px = 0; px < places[1]; ++px) {
      for (int ky = 0; ky < shape.kernel[0]; ++ky, to += line) {
        copy_line(shape, picture, py * shape.stride[0] - before[0] + ky,
                  px * shape.stride[1] - before[1], to);
      }
    }
  }
}

}  // namespace

void arrange_conv_weights(const ConvShape& shape, const float* from, float* to) {
  const int width = padded(shape.filters);
  const int pixels = shape.kernel[0] * shape.kernel[1];
  for (int filter = 0; filter < shape.filters; ++filter) {
    for (int channel = 0; channel < shape.channels; ++channel) {
      for (int pixel = 0; pixel < pixels; ++pixel) {
        const std::ptrdiff_t input = std::ptrdiff_t{pixel} * shape.channels + channel;
        to[input * width + filter] = *from++;
      }
    }
  }
}

void Convolution::run(const ConvShape& shape, const ConvArgs& args) {
  const Extent size = shape.output();
  const std::ptrdiff_t places = std::ptrdiff_t{size[0]} * size[1];
  const int width = padded(shape.filters);
  const bool dense_rows = width == shape.filters;  // results need no gathering
  patches_.resize(static_cast<std::size_t>(places * shape.patch()));
  if (!dense_rows) results_.resize(static_cast<std::size_t>(places * width));
  for (std::int64_t row = 0; row < args.rows; ++row) {
    float* y = args.y + row * args.y_stride;
    fill_patches(shape, args.x + row * args.x_stride, patches_.data());
    kernels().dense({.x = patches_.data(),
                     .x_stride = shape.patch(),
                     .weight = args.weight,
                     .bias = args.bias,
                     .y = dense_rows ? y : results_.data(),
                     .rows = places,
                     .inputs = shape.patch(),
                     .padded_outputs = width,
                     .activation = args.activation});
    if (dense_rows) continue;
    for (std::ptrdiff_t place = 0; place < places; ++place) {
      y = std::copy_n(results_.data() + place * width, shape.filters, y);
    }
  }
}

}  // namespace knurl::fast
