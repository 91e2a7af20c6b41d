// The inner loops, compiled once for each instruction set: a source includes kernels.h, sets the
// target, defines KNURL_KERNELS (the table's name), KNURL_KERNELS_NAME and KNURL_VECTOR_BYTES, and
// includes this file. Everything here has internal linkage, and no library template may be used: an
// instantiation for a newer instruction set would be shared with code that runs on older machines.

namespace knurl::fast {
namespace {

constexpr int kWidth = KNURL_VECTOR_BYTES / 4;
static_assert(kPad % kWidth == 0);

// GCC vectors: arithmetic and comparisons work element by element
using Vec = float __attribute__((vector_size(KNURL_VECTOR_BYTES)));
using IntVec = int __attribute__((vector_size(KNURL_VECTOR_BYTES)));

inline Vec load(const float* from) {
  Vec out;
  __builtin_memcpy(&out, from, sizeof(out));
  return out;
}
inline void store(float* to, Vec value) {
  __builtin_memcpy(to, &value, sizeof(value));
}
inline Vec all(float value) {
  return value - Vec{};
}

/// e^x for x in [-87, 88], relative error below 2e-7 (Cephes' polynomial and reduction).
inline Vec exp(Vec x) {
  x = x > 88.0F ? all(88.0F) : x;
  x = x < -87.0F ? all(-87.0F) : x;
  constexpr float kMagic = 12582912.0F;  // 1.5 * 2^23: adding it rounds to a whole number
  const Vec n = (x * 1.44269504088896341F + kMagic) - kMagic;
  const Vec r = (x - n * 0.693359375F) - n * -2.12194440e-4F;
  Vec p = all(1.9875691500e-4F);
  p = p * r + 1.3981999507e-3F;
  p = p * r + 8.3334519073e-3F;
  p = p * r + 4.1665795894e-2F;
  p = p * r + 1.6666665459e-1F;
  p = p * r + 5.0000001201e-1F;
  p = p * (r * r) + r + 1.0F;
  const IntVec exponent = (__builtin_convertvector(n, IntVec) + 127) << 23;
  Vec scale;
  __builtin_memcpy(&scale, &exponent, sizeof(scale));
  const Vec result = p * scale;
  return x == x ? result : x;  // NaN stays NaN
}

/// tanh, absolute error below 2e-7: a polynomial near 0, exponentials beyond.
inline Vec tanh(Vec x) {
  const Vec size = x < 0.0F ? -x : x;
  const Vec z = x * x;
  Vec p = all(-5.70498872745e-3F);
  p = p * z + 2.06390887954e-2F;
  p = p * z - 5.37397155531e-2F;
  p = p * z + 1.33314422036e-1F;
  p = p * z - 3.33332819422e-1F;
  const Vec near = p * z * x + x;
  const Vec far = 1.0F - 2.0F / (exp(size + size) + 1.0F);
  const Vec signed_far = x < 0.0F ? -far : far;
  return size < 0.625F ? near : signed_far;
}

template <Activation kActivation>
inline Vec activate(Vec x) {
  if constexpr (kActivation == Activation::tanh) {
    return tanh(x);
  } else if constexpr (kActivation == Activation::relu) {
    return x < 0.0F ? Vec{} : x;  // NaN stays NaN
  } else if constexpr (kActivation == Activation::elu) {
    return x < 0.0F ? exp(x) - 1.0F : x;
  } else if constexpr (kActivation == Activation::silu) {
    return x / (1.0F + exp(-x));
  } else {
    return x;
  }
}

/// A block of kRows rows and kColumns vectors of outputs, held in registers while the inputs pass.
template <int kRows, int kColumns, Activation kActivation>
inline void dense_block(const DenseArgs& args, const float* x, float* y, int column) {
  Vec sum[kRows][kColumns];
  for (int r = 0; r < kRows; ++r) {
    for (int c = 0; c < kColumns; ++c) sum[r][c] = load(args.bias + column + c * kWidth);
  }
  const float* weight = args.weight + column;
  for (int i = 0; i < args.inputs; ++i, weight += args.padded_outputs) {
    Vec w[kColumns];
    for (int c = 0; c < kColumns; ++c) w[c] = load(weight + c * kWidth);
    for (int r = 0; r < kRows; ++r) {
      const float value = x[r * args.x_stride + i];
      for (int c = 0; c < kColumns; ++c) sum[r][c] += value * w[c];
    }
  }
  for (int r = 0; r < kRows; ++r) {
    for (int c = 0; c < kColumns; ++c) {
      store(y + r * args.padded_outputs + column + c * kWidth, activate<kActivation>(sum[r][c]));
    }
  }
}

template <int kRows, Activation kActivation>
inline void dense_rows(const DenseArgs& args, const float* x, float* y) {
  int column = 0;
  for (; column + 4 * kWidth <= args.padded_outputs; column += 4 * kWidth) {
    dense_block<kRows, 4, kActivation>(args, x, y, column);
  }
  for (; column < args.padded_outputs; column += kWidth) {
    dense_block<kRows, 1, kActivation>(args, x, y, column);
  }
}

template <Activation kActivation>
void dense_with(const DenseArgs& args) {
  constexpr int kRows = 4;
  const float* x = args.x;
  float* y = args.y;
  std::ptrdiff_t row = 0;
  for (; row + kRows <= args.rows; row += kRows) {
    dense_rows<kRows, kActivation>(args, x, y);
    x += kRows * args.x_stride;
    y += kRows * args.padded_outputs;
  }
  for (; row < args.rows; ++row) {
    dense_rows<1, kActivation>(args, x, y);
    x += args.x_stride;
    y += args.padded_outputs;
  }
}

void dense(const DenseArgs& args) {
  switch (args.activation) {
    case Activation::linear:
      return dense_with<Activation::linear>(args);
    case Activation::tanh:
      return dense_with<Activation::tanh>(args);
    case Activation::relu:
      return dense_with<Activation::relu>(args);
    case Activation::elu:
      return dense_with<Activation::elu>(args);
    case Activation::silu:
      return dense_with<Activation::silu>(args);
  }
}

inline Vec sigmoid(Vec x) {
  return 0.5F * tanh(0.5F * x) + 0.5F;
}

void lstm(const LstmArgs& args) {
  const float* gate = args.gates;
  float* cells = args.cells;
  float* out = args.out;
  for (std::ptrdiff_t row = 0; row < args.rows; ++row) {
    for (int column = 0; column < args.width; column += kWidth) {
      const Vec in = sigmoid(load(gate + column));
      const Vec forget = sigmoid(load(gate + args.width + column));
      const Vec candidate = tanh(load(gate + 2 * args.width + column));
      const Vec output = sigmoid(load(gate + 3 * args.width + column));
      const Vec cell = forget * load(cells + column) + in * candidate;
      store(cells + column, cell);
      store(out + column, output * tanh(cell));
    }
    gate += 4 * args.width;
    cells += args.width;
    out += args.width;
  }
}

inline Vec square_root(Vec x) {
  Vec out;
  for (int i = 0; i < kWidth; ++i) out[i] = __builtin_sqrtf(x[i]);
  return out;
}

void adam(const AdamArgs& args) {
  for (std::size_t i = 0; i < args.n; i += kWidth) {
    const Vec gradient = load(args.gradient + i) * args.gradient_scale;
    const Vec mean = args.beta1 * load(args.mean + i) + args.one_minus_beta1 * gradient;
    const Vec variance =
        args.beta2 * load(args.variance + i) + args.one_minus_beta2 * gradient * gradient;
    store(args.mean + i, mean);
    store(args.variance + i, variance);
    const Vec root = square_root(variance) * args.variance_scale + args.epsilon;
    store(args.parameter + i, load(args.parameter + i) - args.step_size * mean / root);
  }
}

double sum_of_squares(const float* x, std::size_t n) {
  double lanes[kPad] = {};  // the same order of summation on every instruction set
  for (std::size_t i = 0; i < n; i += kPad) {
    for (int lane = 0; lane < kPad; ++lane) {
      const double value = x[i + static_cast<std::size_t>(lane)];
      lanes[lane] += value * value;
    }
  }
  double sum = 0.0;
  for (const double lane : lanes) sum += lane;
  return sum;
}

}  // namespace

__attribute__((visibility("hidden"))) extern const Kernels KNURL_KERNELS;
const Kernels KNURL_KERNELS{KNURL_KERNELS_NAME, dense, lstm, adam, sum_of_squares};

}  // namespace knurl::fast
