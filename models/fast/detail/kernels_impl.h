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

/// The same, and 0 below -87.
inline Vec exp_or_zero(Vec x) {
  return x < -87.0F ? Vec{} : exp(x);
}

/// Natural logarithm of x > 0, relative error below 3e-7 (Cephes' polynomial and reduction).
inline Vec log(Vec x) {
  IntVec bits;
  __builtin_memcpy(&bits, &x, sizeof(bits));
  // x = 2^e m with m in [sqrt(1/2), sqrt(2))
  const IntVec shifted = bits - 0x3f3504f3;
  const IntVec exponent = shifted >> 23;
  const IntVec mantissa_bits = (shifted & 0x007fffff) + 0x3f3504f3;
  Vec mantissa;
  __builtin_memcpy(&mantissa, &mantissa_bits, sizeof(mantissa));
  const Vec m = mantissa - 1.0F;
  const Vec e = __builtin_convertvector(exponent, Vec);
  const Vec z = m * m;
  Vec p = all(7.0376836292e-2F);
  p = p * m - 1.1514610310e-1F;
  p = p * m + 1.1676998740e-1F;
  p = p * m - 1.2420140846e-1F;
  p = p * m + 1.4249322787e-1F;
  p = p * m - 1.6668057665e-1F;
  p = p * m + 2.0000714765e-1F;
  p = p * m - 2.4999993993e-1F;
  p = p * m + 3.3333331174e-1F;
  const Vec tail = p * m * z + e * -2.12194440e-4F - 0.5F * z;
  const Vec result = m + tail + e * 0.693359375F;
  return x == x ? result : x;  // NaN stays NaN
}

/// tanh, relative error below 4e-7: x P(x^2) / Q(x^2), fitted for the least largest relative error
/// up to 7.9, and from there on what it is at 7.9.
inline Vec tanh(Vec x) {
  constexpr float kEnd = 7.9F;
  x = x > kEnd ? all(kEnd) : x;  // NaN stays NaN
  x = x < -kEnd ? all(-kEnd) : x;
  const Vec z = x * x;
  Vec p = all(1.5429567e-08F);
  p = p * z + 2.20243674e-05F;
  p = p * z + 0.00357905962F;
  p = p * z + 0.134506777F;
  p = p * z + 1.0F;
  Vec q = all(8.59942304e-07F);
  q = q * z + 0.000342376123F;
  q = q * z + 0.0261924937F;
  q = q * z + 0.467840046F;
  q = q * z + 1.0F;
  return x * p / q;
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

/// The derivative of an activation, from its results; of silu from what it was given.
template <Activation kActivation>
inline Vec slope(Vec at) {
  if constexpr (kActivation == Activation::tanh) {
    return 1.0F - at * at;
  } else if constexpr (kActivation == Activation::relu) {
    return at > 0.0F ? all(1.0F) : Vec{};
  } else if constexpr (kActivation == Activation::elu) {
    return at < 0.0F ? at + 1.0F : all(1.0F);
  } else if constexpr (kActivation == Activation::silu) {
    const Vec s = 1.0F / (1.0F + exp(-at));
    return s * (1.0F + at * (1.0F - s));
  } else {
    return all(1.0F);
  }
}

/// Calls a function template's object with the activation as a constant.
template <class Function>
inline void with_constant(Activation activation, Function&& function) {
  switch (activation) {
    case Activation::linear:
      return function.template operator()<Activation::linear>();
    case Activation::tanh:
      return function.template operator()<Activation::tanh>();
    case Activation::relu:
      return function.template operator()<Activation::relu>();
    case Activation::elu:
      return function.template operator()<Activation::elu>();
    case Activation::silu:
      return function.template operator()<Activation::silu>();
  }
}

/// A block of a matrix, kRows rows of kColumns vectors, which stays in registers.
template <int kRows, int kColumns>
struct Block {
  Vec sum[kRows][kColumns];

  /// Adds a b, a [kRows, depth] and b [depth, kColumns vectors].
  inline void add_product(const float* a, std::ptrdiff_t a_row, std::ptrdiff_t a_depth,
                          const float* b, std::ptrdiff_t b_depth, std::ptrdiff_t depth) {
    for (std::ptrdiff_t k = 0; k < depth; ++k, a += a_depth, b += b_depth) {
      Vec factor[kColumns];
      for (int c = 0; c < kColumns; ++c) factor[c] = load(b + c * kWidth);
      for (int r = 0; r < kRows; ++r) {
        const float value = a[r * a_row];
        for (int c = 0; c < kColumns; ++c) sum[r][c] += value * factor[c];
      }
    }
  }
};

template <int kRows, int kColumns, Activation kActivation>
inline void dense_block(const DenseArgs& args, const float* x, float* y, int column) {
  Block<kRows, kColumns> block;
  for (int r = 0; r < kRows; ++r) {
    for (int c = 0; c < kColumns; ++c) block.sum[r][c] = load(args.bias + column + c * kWidth);
  }
  block.add_product(x, args.x_stride, 1, args.weight + column, args.padded_outputs, args.inputs);
  for (int r = 0; r < kRows; ++r) {
    for (int c = 0; c < kColumns; ++c) {
      store(y + r * args.padded_outputs + column + c * kWidth,
            activate<kActivation>(block.sum[r][c]));
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
  with_constant(args.activation, [&]<Activation kActivation>() { dense_with<kActivation>(args); });
}

/// The two halves of a perfect shuffle: which numbers of two vectors stand one after the other.
struct Shuffle {
  IntVec low = {};
  IntVec high = {};
  Shuffle() {
    for (int i = 0; i < kWidth; ++i) {
      low[i] = i / 2 + i % 2 * kWidth;
      high[i] = low[i] + kWidth / 2;
    }
  }
};

void narrow(const NarrowArgs& args) {
  const Shuffle shuffle;
  const std::ptrdiff_t n = args.rows * args.outputs;
  std::ptrdiff_t row = 0;
  int output = 0;
  for (std::ptrdiff_t first = 0; first < n; first += kWidth) {
    const int count = n - first < kWidth ? static_cast<int>(n - first) : kWidth;
    const int first_output = output;
    Vec sum[kWidth] = {};
    for (int i = 0; i < count; ++i) {
      const float* x = args.x + row * args.x_stride;
      const float* weight = args.weight + output * args.inputs;
      for (int k = 0; k < args.inputs; k += kWidth) sum[i] += load(x + k) * load(weight + k);
      if (++output == args.outputs) {
        output = 0;
        ++row;
      }
    }
    // the sums of kWidth vectors, each in the same order, side by side in one
    for (int half = kWidth / 2; half > 0; half /= 2) {
      for (int i = 0; i < half; ++i) {
        sum[i] = __builtin_shuffle(sum[i], sum[i + half], shuffle.low) +
                 __builtin_shuffle(sum[i], sum[i + half], shuffle.high);
      }
    }
    int unit = first_output;
    for (int i = 0; i < count; ++i) {
      args.y[first + i] = sum[0][i] + args.bias[unit];
      unit = unit + 1 == args.outputs ? 0 : unit + 1;
    }
  }
}

template <int kRows, int kColumns, Activation kSlopeOf>
inline void product_block(const ProductArgs& args, std::ptrdiff_t row, int column) {
  Block<kRows, kColumns> block;
  const std::ptrdiff_t first = row * args.c_row + column;
  for (int r = 0; r < kRows; ++r) {
    for (int c = 0; c < kColumns; ++c) {
      block.sum[r][c] = args.add ? load(args.c + first + r * args.c_row + c * kWidth) : Vec{};
    }
  }
  block.add_product(args.a + row * args.a_row, args.a_row, args.a_depth, args.b + column,
                    args.b_depth, args.depth);
  for (int r = 0; r < kRows; ++r) {
    for (int c = 0; c < kColumns; ++c) {
      const std::ptrdiff_t at = first + r * args.c_row + c * kWidth;
      Vec out = block.sum[r][c];
      if constexpr (kSlopeOf != Activation::linear)
        out *= slope<kSlopeOf>(load(args.slope_at + at));
      store(args.c + at, out);
    }
  }
}

template <int kRows, Activation kSlopeOf>
inline void product_rows(const ProductArgs& args, std::ptrdiff_t row) {
  int column = 0;
  for (; column + 4 * kWidth <= args.columns; column += 4 * kWidth) {
    product_block<kRows, 4, kSlopeOf>(args, row, column);
  }
  for (; column < args.columns; column += kWidth) {
    product_block<kRows, 1, kSlopeOf>(args, row, column);
  }
}

void product(const ProductArgs& args) {
  with_constant(args.slope_of, [&]<Activation kSlopeOf>() {
    constexpr int kRows = 4;
    std::ptrdiff_t row = 0;
    for (; row + kRows <= args.rows; row += kRows) product_rows<kRows, kSlopeOf>(args, row);
    for (; row < args.rows; ++row) product_rows<1, kSlopeOf>(args, row);
  });
}

/// Transposes a square of kWidth rows of kWidth numbers: a perfect shuffle of the rows for each of
/// the bits of their numbers.
inline void transpose_square(const float* from, std::ptrdiff_t stride, float* to,
                             std::ptrdiff_t to_stride, const Shuffle& shuffle) {
  Vec rows[kWidth];
  for (int i = 0; i < kWidth; ++i) rows[i] = load(from + i * stride);
  for (int bit = 1; bit < kWidth; bit *= 2) {
    Vec shuffled[kWidth];
    for (int i = 0; i < kWidth / 2; ++i) {
      shuffled[2 * i] = __builtin_shuffle(rows[i], rows[i + kWidth / 2], shuffle.low);
      shuffled[2 * i + 1] = __builtin_shuffle(rows[i], rows[i + kWidth / 2], shuffle.high);
    }
    for (int i = 0; i < kWidth; ++i) rows[i] = shuffled[i];
  }
  for (int i = 0; i < kWidth; ++i) store(to + i * to_stride, rows[i]);
}

void transpose(const MatrixArgs& args, float* to, std::ptrdiff_t to_stride) {
  const Shuffle shuffle;
  const std::ptrdiff_t whole_rows = args.rows / kWidth * kWidth;
  const int whole_columns = args.columns / kWidth * kWidth;
  for (std::ptrdiff_t row = 0; row < whole_rows; row += kWidth) {
    for (int column = 0; column < whole_columns; column += kWidth) {
      transpose_square(args.from + row * args.stride + column, args.stride,
                       to + column * to_stride + row, to_stride, shuffle);
    }
  }
  for (std::ptrdiff_t row = 0; row < args.rows; ++row) {
    for (int column = row < whole_rows ? whole_columns : 0; column < args.columns; ++column) {
      to[column * to_stride + row] = args.from[row * args.stride + column];
    }
  }
}

void column_sums(const MatrixArgs& args, float* to) {
  for (int column = 0; column < args.columns; column += kWidth) {
    Vec sum = {};
    const float* from = args.from + column;
    for (std::ptrdiff_t row = 0; row < args.rows; ++row, from += args.stride) sum += load(from);
    store(to + column, sum);
  }
}

void log_softmax(const LogSoftmaxArgs& args) {
  transpose({.from = args.logits, .stride = args.n, .rows = args.rows, .columns = args.n},
            args.log_p, args.stride);
  const std::ptrdiff_t padded_rows = (args.rows + kPad - 1) / kPad * kPad;
  for (int action = 0; action < args.n; ++action) {
    for (std::ptrdiff_t row = args.rows; row < padded_rows; ++row) {
      args.log_p[action * args.stride + row] = 0.0F;
    }
  }
  for (std::ptrdiff_t row = 0; row < padded_rows; row += kWidth) {
    float* log_p = args.log_p + row;
    float* p = args.p + row;
    Vec largest = load(log_p);
    for (int action = 1; action < args.n; ++action) {
      const Vec x = load(log_p + action * args.stride);
      largest = x > largest ? x : largest;
    }
    Vec sum = {};
    for (int action = 0; action < args.n; ++action) {
      const Vec x = exp_or_zero(load(log_p + action * args.stride) - largest);
      store(p + action * args.stride, x);
      sum += x;
    }
    const Vec log_sum = largest + log(sum);
    const Vec share = 1.0F / sum;
    Vec entropy = {};
    for (int action = 0; action < args.n; ++action) {
      const Vec log_of = load(log_p + action * args.stride) - log_sum;
      const Vec of = load(p + action * args.stride) * share;
      store(log_p + action * args.stride, log_of);
      store(p + action * args.stride, of);
      entropy -= of * log_of;
    }
    store(args.entropy + row, entropy);
  }
}

void exp_all(const float* from, float* to, std::size_t n) {
  for (std::size_t i = 0; i < n; i += kWidth) store(to + i, exp_or_zero(load(from + i)));
}

void activate_all(Activation activation, const float* from, float* to, std::size_t n) {
  with_constant(activation, [&]<Activation kActivation>() {
    for (std::size_t i = 0; i < n; i += kWidth)
      store(to + i, activate<kActivation>(load(from + i)));
  });
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
const Kernels KNURL_KERNELS{
    KNURL_KERNELS_NAME, dense,       narrow,  lstm,         product, transpose,
    column_sums,        log_softmax, exp_all, activate_all, adam,    sum_of_squares};

}  // namespace knurl::fast
