#pragma once

#include <cstddef>

#include "knurl/models/activation.h"

namespace knurl::fast {

/// Floats in the widest vector of any instruction set: buffers are padded to whole multiples.
inline constexpr int kPad = 16;

constexpr int padded(int n) {
  return (n + kPad - 1) / kPad * kPad;
}

/// y = activation(x W + b) for `rows` rows. `weight` is [inputs, padded(outputs)] row-major, `bias`
/// and each row of y have padded(outputs) elements, what lies behind `outputs` is 0. Each element
/// is summed in order of the inputs, whatever the number of rows.
struct DenseArgs {
  const float* x = nullptr;
  std::ptrdiff_t x_stride = 0;  ///< floats from one row to the next
  const float* weight = nullptr;
  const float* bias = nullptr;
  float* y = nullptr;
  std::ptrdiff_t rows = 0;
  int inputs = 0;
  int padded_outputs = 0;
  Activation activation = Activation::linear;
};

/// y = x W^T + b for a few outputs: dot products. Rows of x and of `weight` [outputs, inputs] have
/// a multiple of kPad numbers. Each element has the same bits whatever the number of rows.
struct NarrowArgs {
  const float* x = nullptr;
  std::ptrdiff_t x_stride = 0;  ///< floats from one row to the next
  const float* weight = nullptr;
  const float* bias = nullptr;
  float* y = nullptr;  ///< [rows, outputs]
  std::ptrdiff_t rows = 0;
  int inputs = 0;
  int outputs = 0;
};

/// c = a b for `rows` rows of `columns` numbers, perhaps added to what c has, perhaps times the
/// slope of an activation. Each element is summed in order of `depth`, whatever the number of rows.
/// With the steps between elements of `a` it may stand for its transpose.
struct ProductArgs {
  const float* a = nullptr;
  std::ptrdiff_t a_row = 0;    ///< floats from one row to the next
  std::ptrdiff_t a_depth = 1;  ///< floats from one element of a row to the next
  const float* b = nullptr;    ///< [depth, columns]
  std::ptrdiff_t b_depth = 0;  ///< floats from one of its rows to the next
  float* c = nullptr;
  std::ptrdiff_t c_row = 0;
  std::ptrdiff_t rows = 0;
  std::ptrdiff_t depth = 0;
  int columns = 0;  ///< a multiple of kPad
  bool add = false;
  /// Where the slope is taken, laid out as c: an activation's results, but what silu was given.
  const float* slope_at = nullptr;
  Activation slope_of = Activation::linear;
};

/// log p = logits - log(sum exp(logits)) of rows of n logits, p, and the entropy -sum p log p. An
/// action's results lie one behind the other, `stride` floats from the next action's; rows up to
/// the next multiple of kPad are written.
struct LogSoftmaxArgs {
  const float* logits = nullptr;  ///< [rows, n]
  std::ptrdiff_t rows = 0;
  int n = 0;
  float* log_p = nullptr;    ///< [n, stride]
  float* p = nullptr;        ///< [n, stride]
  float* entropy = nullptr;  ///< [stride]
  std::ptrdiff_t stride = 0;
};

/// Rows of numbers.
struct MatrixArgs {
  const float* from = nullptr;
  std::ptrdiff_t stride = 0;  ///< floats from one row to the next
  std::ptrdiff_t rows = 0;
  int columns = 0;
};

/// One step of Adam (Kingma and Ba 2015, algorithm 1) on n parameters, n a multiple of kPad.
struct AdamArgs {
  float* parameter = nullptr;
  const float* gradient = nullptr;
  float* mean = nullptr;      ///< first moment
  float* variance = nullptr;  ///< second moment
  std::size_t n = 0;
  float gradient_scale = 1.0F;  ///< clipping: every gradient times this
  float beta1 = 0.9F;
  float one_minus_beta1 = 0.1F;  ///< from double: 1 - beta in float has lost digits
  float beta2 = 0.999F;
  float one_minus_beta2 = 0.001F;
  float step_size = 0.0F;       ///< lr / (1 - beta1^t)
  float variance_scale = 1.0F;  ///< 1 / sqrt(1 - beta2^t)
  float epsilon = 1e-8F;
};

/// One step of an LSTM's cells (LayerKind::lstm), from its gates [rows, 4 width] before their
/// functions. width is a multiple of kPad.
struct LstmArgs {
  const float* gates = nullptr;
  float* cells = nullptr;  ///< c [rows, width] in, c' out
  float* out = nullptr;    ///< h' [rows, width]
  std::ptrdiff_t rows = 0;
  int width = 0;
};

/// The inner loops, compiled for one instruction set.
struct Kernels {
  const char* name;
  void (*dense)(const DenseArgs& args);
  void (*narrow)(const NarrowArgs& args);
  void (*lstm)(const LstmArgs& args);
  void (*product)(const ProductArgs& args);
  /// Writes the transpose into rows of `to`, `to_stride` floats apart.
  void (*transpose)(const MatrixArgs& args, float* to, std::ptrdiff_t to_stride);
  /// Sums of the columns, of which there are a multiple of kPad, in order of the rows.
  void (*column_sums)(const MatrixArgs& args, float* to);
  void (*log_softmax)(const LogSoftmaxArgs& args);
  /// e^x of n numbers, a multiple of kPad; 0 below -87, 1.6e38 above 88.
  void (*exp)(const float* from, float* to, std::size_t n);
  /// n numbers, a multiple of kPad, through an activation.
  void (*activate)(Activation activation, const float* from, float* to, std::size_t n);
  void (*adam)(const AdamArgs& args);
  /// Sum of squares of n numbers, n a multiple of kPad, in a fixed order.
  double (*sum_of_squares)(const float* x, std::size_t n);
};

/// The kernels for this machine: "x86-64-v4", "x86-64-v3" or "baseline", chosen once. The
/// environment variable KNURL_ISA chooses another that the machine has.
const Kernels& kernels();

/// All kernels that this machine can run, best first.
std::size_t available_kernels(const Kernels* (&out)[3]);

}  // namespace knurl::fast
