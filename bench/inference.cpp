// Compiled for this very machine: the plain loop shall be as fast as Eigen can make it.

#include <Eigen/Dense>
#include <fmt/format.h>

#include "bench.h"
#include "knurl/models/fast/fast_net.h"

namespace knurl::bench {
namespace {

using Matrix = Eigen::Matrix<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

constexpr int kInputs = 4;
constexpr int kHidden = 64;
constexpr int kOutputs = 2;
constexpr double kSeconds = 0.5;

/// Microseconds of a call.
double microseconds_of(const std::function<void()>& call) {
  for (int i = 0; i < 100; ++i) call();
  std::int64_t calls = 0;
  const double start = bench::now();
  while (bench::now() - start < kSeconds) {
    for (int i = 0; i < 100; ++i) call();
    calls += 100;
  }
  return 1e6 * (bench::now() - start) / static_cast<double>(calls);
}

Row compare(int batch) {
  const NetSpec spec = make_net(kInputs, {.units = {kHidden, kHidden}},
                                {{.name = "policy", .output = "logits", .size = kOutputs}});
  fast::FastNet net(spec);
  net.set_weights(fresh_weights(spec, Rng(1)));
  const std::vector<float> input(static_cast<std::size_t>(batch * kInputs), 0.3F);

  const Matrix x = Matrix::Constant(batch, kInputs, 0.3F);
  const Matrix w0 = Matrix::Random(kInputs, kHidden);
  const Matrix w1 = Matrix::Random(kHidden, kHidden);
  const Matrix w2 = Matrix::Random(kHidden, kOutputs);
  const Eigen::RowVectorXf b0 = Eigen::RowVectorXf::Random(kHidden);
  const Eigen::RowVectorXf b1 = Eigen::RowVectorXf::Random(kHidden);
  const Eigen::RowVectorXf b2 = Eigen::RowVectorXf::Random(kOutputs);
  Matrix h0(batch, kHidden);
  Matrix h1(batch, kHidden);
  Matrix y(batch, kOutputs);
  float sink = 0.0F;
  const auto eigen = [&] {
    h0.noalias() = x * w0;
    h0.rowwise() += b0;
    h0 = h0.array().tanh();
    h1.noalias() = h0 * w1;
    h1.rowwise() += b1;
    h1 = h1.array().tanh();
    y.noalias() = h1 * w2;
    y.rowwise() += b2;
    sink += y(0, 0);
  };
  const Pair pair =
      measure([&] { return microseconds_of([&] { net.forward(input.data(), batch, kInputs); }); },
              [&] { return microseconds_of(eigen); });
  return {.bench = "inference",
          .what = fmt::format("forward {}-{}-{}-{} tanh, batch {}, one thread", kInputs, kHidden,
                              kHidden, kOutputs, batch),
          .unit = "us",
          .ours = pair.ours,
          .other = pair.other,
          .other_name = sink == 1.0F ? "" : "plain Eigen 3.4 (-march=native)"};
}

}  // namespace

std::vector<Row> inference(const Places& /*places*/) {
  return {compare(1), compare(8), compare(64), compare(512)};
}

}  // namespace knurl::bench
