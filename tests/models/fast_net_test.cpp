#include "knurl/models/fast/fast_net.h"

#include <array>
#include <bit>
#include <cmath>
#include <limits>

#include <gtest/gtest.h>

#include "knurl/models/fast/kernels.h"
#include "random_spec.h"

namespace knurl::fast {
namespace {

std::vector<float> random_input(std::int64_t rows, int inputs, std::uint64_t seed) {
  Rng rng(seed);
  std::vector<float> out(static_cast<std::size_t>(rows * inputs));
  for (float& value : out) value = static_cast<float>(2.0 * rng.normal());
  return out;
}

double activated(Activation activation, double x) {
  switch (activation) {
    case Activation::linear:
      return x;
    case Activation::tanh:
      return std::tanh(x);
    case Activation::relu:
      return std::max(x, 0.0);
    case Activation::elu:
      return x < 0.0 ? std::expm1(x) : x;
    case Activation::silu:
      return x / (1.0 + std::exp(-x));
  }
  return 0.0;
}

/// The net in double, written as its definition.
std::vector<double> reference(const NetSpec& spec, const Weights& weights, const float* input,
                              std::string_view output) {
  std::vector<std::vector<double>> results;
  for (const LayerSpec& layer : spec.layers) {
    const float* w = weights.tensors.column<float>(layer.name + ".weight").data();
    const float* b = weights.tensors.column<float>(layer.name + ".bias").data();
    std::vector<double> y;
    for (int unit = 0; unit < layer.outputs; ++unit) {
      double sum = b[unit];
      for (int i = 0; i < layer.inputs; ++i) {
        const double x =
            !layer.source ? input[i] : results[*layer.source][static_cast<std::size_t>(i)];
        sum += w[unit * layer.inputs + i] * x;
      }
      y.push_back(activated(layer.activation, sum));
    }
    results.push_back(y);
  }
  for (const NetOutput& each : spec.outputs) {
    if (each.name == output) return results[each.layers.front()];
  }
  return {};
}

TEST(FastNet, EqualsTheDefinitionOverRandomNets) {
  Rng rng(1);
  for (int trial = 0; trial < 200; ++trial) {
    const NetSpec spec = random_spec(rng);
    const Weights weights =
        fresh_weights(spec, rng.split("weights", static_cast<std::uint64_t>(trial)));
    const std::int64_t rows = 1 + static_cast<std::int64_t>(rng.below(9));
    const auto input = random_input(rows, spec.inputs, static_cast<std::uint64_t>(trial));
    FastNet net(spec);
    net.set_weights(weights);
    net.forward(input.data(), rows, spec.inputs);
    for (const NetOutput& output : spec.outputs) {
      for (std::int64_t row = 0; row < rows; ++row) {
        const auto expected =
            reference(spec, weights, input.data() + row * spec.inputs, output.name);
        const auto got = net.output(output.name).row(row);
        ASSERT_EQ(got.size(), expected.size());
        for (std::size_t i = 0; i < got.size(); ++i) ASSERT_NEAR(got[i], expected[i], 1e-5);
      }
    }
  }
}

TEST(FastNet, ARowHasTheSameBitsWhateverTheBatchAndItsPlace) {
  const NetSpec spec = make_net(
      5, {.units = {64, 33}},
      {{.name = "policy", .output = "logits", .size = 3, .init_norm = 1.0},
       {.name = "value", .output = "values", .hidden = {.units = {17}}, .init_norm = 1.0}});
  const std::int64_t most = 67;
  const auto input = random_input(most, spec.inputs, 3);
  FastNet whole(spec);
  whole.set_weights(fresh_weights(spec, Rng(2)));
  whole.forward(input.data(), most, spec.inputs);

  FastNet part(spec);
  part.set_weights(fresh_weights(spec, Rng(2)));
  for (std::int64_t rows = 1; rows <= 17; ++rows) {
    for (std::int64_t first = 0; first + rows <= most; first += 5) {
      part.forward(input.data() + first * spec.inputs, rows, spec.inputs);
      for (const NetOutput& output : spec.outputs) {
        for (std::int64_t row = 0; row < rows; ++row) {
          const auto a = whole.output(output.name).row(first + row);
          const auto b = part.output(output.name).row(row);
          for (std::size_t i = 0; i < a.size(); ++i) {
            ASSERT_EQ(std::bit_cast<std::uint32_t>(a[i]), std::bit_cast<std::uint32_t>(b[i]))
                << rows << " rows from " << first;
          }
        }
      }
    }
  }
}

TEST(FastNet, StridedRowsAreReadInPlace) {
  const NetSpec spec = make_net(3, {}, {{.name = "q", .output = "q", .size = 2, .init_norm = 1.0}});
  FastNet net(spec);
  net.set_weights(fresh_weights(spec, Rng(2)));
  const std::vector<float> wide{1, 2, 3, 99, 99, 4, 5, 6, 99, 99};
  const std::vector<float> tight{1, 2, 3, 4, 5, 6};
  net.forward(wide.data(), 2, 5);
  const std::vector<float> a(net.output("q").row(1).begin(), net.output("q").row(1).end());
  net.forward(tight.data(), 2, 3);
  const std::vector<float> b(net.output("q").row(1).begin(), net.output("q").row(1).end());
  EXPECT_EQ(a, b);
}

TEST(FastNet, NaNIsNotHidden) {
  for (const Activation activation : {Activation::linear, Activation::tanh, Activation::relu,
                                      Activation::elu, Activation::silu}) {
    const NetSpec spec = make_net(2, {.units = {4}, .activation = activation},
                                  {{.name = "q", .output = "q", .size = 2, .init_norm = 1.0}});
    FastNet net(spec);
    net.set_weights(fresh_weights(spec, Rng(2)));
    const std::vector<float> input{1.0F, std::nanf("")};
    net.forward(input.data(), 1, 2);
    EXPECT_TRUE(std::isnan(net.output("q").row(0)[0])) << static_cast<int>(activation);
  }
}

TEST(FastNet, WeightsOfAnotherNetAreRefused) {
  const NetSpec spec = make_net(2, {.units = {4}}, {{.name = "q", .output = "q", .size = 2}});
  const NetSpec other = make_net(3, {.units = {4}}, {{.name = "q", .output = "q", .size = 2}});
  FastNet net(spec);
  EXPECT_THROW(net.set_weights(fresh_weights(other, Rng(1))), std::logic_error);
}

class EachKernel : public ::testing::TestWithParam<std::size_t> {
 protected:
  const Kernels& use() {
    const Kernels* available[3] = {};
    const std::size_t n = available_kernels(available);
    return *available[std::min(GetParam(), n - 1)];
  }

  /// One unit's activation of x.
  std::vector<float> activate(Activation activation, const std::vector<float>& x) {
    std::vector<float> y(x.size() * kPad);
    std::vector<float> weight(kPad, 0.0F);
    const std::vector<float> bias(kPad, 0.0F);
    weight[0] = 1.0F;
    use().dense({.x = x.data(),
                 .x_stride = 1,
                 .weight = weight.data(),
                 .bias = bias.data(),
                 .y = y.data(),
                 .rows = static_cast<std::ptrdiff_t>(x.size()),
                 .inputs = 1,
                 .padded_outputs = kPad,
                 .activation = activation});
    std::vector<float> out;
    for (std::size_t i = 0; i < x.size(); ++i) out.push_back(y[i * kPad]);
    return out;
  }
};

TEST_P(EachKernel, ActivationsAreAccurateOverTheirRange) {
  std::vector<float> x;
  for (int i = -7'300; i <= 7'300; ++i) x.push_back(0.0137F * static_cast<float>(i));
  for (int i = -9'100; i <= 9'100; ++i) x.push_back(0.00011F * static_cast<float>(i));
  for (const Activation activation : {Activation::tanh, Activation::elu, Activation::silu}) {
    const auto y = activate(activation, x);
    for (std::size_t i = 0; i < x.size(); ++i) {
      const double expected = activated(activation, x[i]);
      ASSERT_NEAR(y[i], expected, 4e-7 * std::max(1.0, std::abs(expected))) << x[i];
    }
  }
}

TEST_P(EachKernel, ProductsAreThoseOfMatricesAndTheirTransposes) {
  for (const auto& [rows, depth, columns] : std::vector<std::array<int, 3>>{
           {1, 1, 16}, {4, 64, 64}, {7, 33, 80}, {64, 5, 16}, {3, 0, 16}}) {
    const auto a = random_input(rows, depth, 1);
    const auto b = random_input(depth, columns, 2);
    const auto start = random_input(rows, columns, 3);
    for (const bool transposed : {false, true}) {
      for (const bool add : {false, true}) {
        std::vector<float> c = start;
        use().product({.a = a.data(),
                       .a_row = transposed ? 1 : depth,
                       .a_depth = transposed ? rows : 1,
                       .b = b.data(),
                       .b_depth = columns,
                       .c = c.data(),
                       .c_row = columns,
                       .rows = rows,
                       .depth = depth,
                       .columns = columns,
                       .add = add});
        for (int row = 0; row < rows; ++row) {
          for (int column = 0; column < columns; ++column) {
            const auto at = static_cast<std::size_t>(row * columns + column);
            double expected = add ? start[at] : 0.0;
            for (int k = 0; k < depth; ++k) {
              const int place = transposed ? k * rows + row : row * depth + k;
              expected += static_cast<double>(a[static_cast<std::size_t>(place)]) *
                          b[static_cast<std::size_t>(k * columns + column)];
            }
            ASSERT_NEAR(c[at], expected, 1e-4);
          }
        }
      }
    }
  }
}

TEST_P(EachKernel, TransposesAndSumsColumns) {
  for (const auto& [rows, columns] :
       std::vector<std::array<int, 2>>{{1, 1}, {16, 16}, {33, 47}, {64, 4}, {2, 64}}) {
    const auto from = random_input(rows, columns, 4);
    std::vector<float> to(from.size());
    use().transpose({.from = from.data(), .stride = columns, .rows = rows, .columns = columns},
                    to.data(), rows);
    for (int row = 0; row < rows; ++row) {
      for (int column = 0; column < columns; ++column) {
        ASSERT_EQ(to[static_cast<std::size_t>(column * rows + row)],
                  from[static_cast<std::size_t>(row * columns + column)]);
      }
    }
  }
  const auto from = random_input(21, 32, 5);
  std::vector<float> sums(32);
  use().column_sums({.from = from.data(), .stride = 32, .rows = 21, .columns = 32}, sums.data());
  for (std::size_t column = 0; column < 32; ++column) {
    double expected = 0.0;
    for (std::size_t row = 0; row < 21; ++row) {
      expected += static_cast<double>(from[row * 32 + column]);
    }
    EXPECT_NEAR(sums[column], expected, 1e-5);
  }
}

TEST_P(EachKernel, ExponentialsAndLogarithmsAreAccurateOverTheirRange) {
  std::vector<float> x;
  for (int i = -8'700; i <= 8'700; ++i) x.push_back(0.01F * static_cast<float>(i));
  x.resize(x.size() / kPad * kPad);
  std::vector<float> y(x.size());
  use().exp(x.data(), y.data(), x.size());
  for (std::size_t i = 0; i < x.size(); ++i) {
    ASSERT_NEAR(y[i] / std::exp(static_cast<double>(x[i])), 1.0, 4e-7) << x[i];
  }
  std::vector<float> odd(kPad, -200.0F);
  odd[1] = std::numeric_limits<float>::quiet_NaN();
  use().exp(odd.data(), odd.data(), kPad);
  EXPECT_EQ(odd[0], 0.0F);
  EXPECT_TRUE(std::isnan(odd[1]));
  // log(sum exp) of two logits: logarithms of 1 to 2
  for (float gap = 0.0F; gap < 20.0F; gap += 0.01F) {
    const std::vector<float> logits{gap, 0.0F};
    std::vector<float> log_p(2 * kPad);
    std::vector<float> p(2 * kPad);
    std::vector<float> entropy(kPad);
    use().log_softmax({.logits = logits.data(),
                       .rows = 1,
                       .n = 2,
                       .log_p = log_p.data(),
                       .p = p.data(),
                       .entropy = entropy.data(),
                       .stride = kPad});
    const double expected = -std::log1p(std::exp(-static_cast<double>(gap)));
    ASSERT_NEAR(log_p[0], expected, 2e-6) << gap;
    ASSERT_NEAR(p[0], std::exp(expected), 1e-6) << gap;
  }
}

TEST_P(EachKernel, AdamIsTheTextbookStep) {
  const std::size_t n = 4 * kPad;
  const auto gradient = random_input(static_cast<std::int64_t>(n), 1, 5);
  auto parameter = random_input(static_cast<std::int64_t>(n), 1, 6);
  std::vector<double> expected(parameter.begin(), parameter.end());
  std::vector<double> m(n, 0.0);
  std::vector<double> v(n, 0.0);
  std::vector<float> mean(n, 0.0F);
  std::vector<float> variance(n, 0.0F);
  for (int t = 1; t <= 20; ++t) {
    use().adam({.parameter = parameter.data(),
                .gradient = gradient.data(),
                .mean = mean.data(),
                .variance = variance.data(),
                .n = n,
                .gradient_scale = 0.5F,
                .step_size = static_cast<float>(1e-3 / (1.0 - std::pow(0.9, t))),
                .variance_scale = static_cast<float>(1.0 / std::sqrt(1.0 - std::pow(0.999, t)))});
    for (std::size_t i = 0; i < n; ++i) {
      const double g = 0.5 * gradient[i];
      m[i] = 0.9 * m[i] + 0.1 * g;
      v[i] = 0.999 * v[i] + 0.001 * g * g;
      const double m_hat = m[i] / (1.0 - std::pow(0.9, t));
      const double v_hat = v[i] / (1.0 - std::pow(0.999, t));
      expected[i] -= 1e-3 * m_hat / (std::sqrt(v_hat) + 1e-8);
    }
  }
  for (std::size_t i = 0; i < n; ++i) ASSERT_NEAR(parameter[i], expected[i], 3e-6);  // 20 roundings
}

TEST_P(EachKernel, SumOfSquaresIsExactWhereDoubleIs) {
  const auto x = random_input(64 * kPad, 1, 7);
  double expected = 0.0;
  for (const float value : x) expected += static_cast<double>(value) * value;
  EXPECT_NEAR(use().sum_of_squares(x.data(), x.size()), expected, 1e-9 * expected);
}

INSTANTIATE_TEST_SUITE_P(Isa, EachKernel, ::testing::Values(0U, 1U, 2U));

// one cell, by the definition: gates in the order i, f, g, o
TEST(FastNet, AnLstmCellEqualsItsDefinition) {
  const NetSpec spec =
      make_net(2, {}, {{.name = "q", .output = "q", .size = 1}}, LstmSpec{.cells = 1});
  Weights weights = fresh_weights(spec, Rng(1));
  const auto set = [&](const char* name, const std::vector<float>& numbers) {
    std::ranges::copy(numbers, weights.tensors.column<float>(name).data());
  };
  set("lstm.weight_ih", {0.5F, 0.0F, 0.0F, 0.25F, 1.0F, -1.0F, 0.1F, 0.2F});
  set("lstm.weight_hh", {0.3F, -0.4F, 0.6F, 0.7F});
  set("lstm.bias_ih", {0.1F, 0.5F, 0.0F, -0.2F});
  set("lstm.bias_hh", {0.1F, 0.5F, 0.0F, 0.0F});
  RecordBatch memory(state_of(spec), 1);
  memory.column<float>("state_in_0")[0] = 0.5F;   // h
  memory.column<float>("state_in_1")[0] = -2.0F;  // c
  FastNet net(spec);
  net.set_weights(weights);
  const std::vector<float> x{1.0F, 2.0F};
  net.forward(x.data(), 1, 2, &memory);

  const auto sigmoid = [](double v) { return 1.0 / (1.0 + std::exp(-v)); };
  const double in = sigmoid(0.5 + 0.2 + 0.15);
  const double forget = sigmoid(0.5 + 1.0 - 0.2);
  const double candidate = std::tanh(1.0 - 2.0 + 0.3);
  const double output = sigmoid(0.1 + 0.4 - 0.2 + 0.35);
  const double cell = forget * -2.0 + in * candidate;
  EXPECT_NEAR(net.lstm_cells().row(0)[0], cell, 1e-6);
  EXPECT_NEAR(net.layer_output(*lstm_layer(spec)).row(0)[0], output * std::tanh(cell), 1e-6);
}

TEST(FastNet, WithoutAMemoryAnLstmBeginsFromZero) {
  const NetSpec spec = make_net(2, {}, {{.name = "q", .output = "q", .size = 1, .init_norm = 1.0}},
                                LstmSpec{.cells = 19});
  FastNet net(spec);
  net.set_weights(fresh_weights(spec, Rng(1)));
  const std::vector<float> x{1.0F, 2.0F};
  net.forward(x.data(), 1, 2);
  const float without = net.output("q").row(0)[0];
  RecordBatch memory(state_of(spec), 1);
  net.forward(x.data(), 1, 2, &memory);
  EXPECT_EQ(net.output("q").row(0)[0], without);
  memory.column<float>("state_in_1").row(0)[18] = 1.0F;
  net.forward(x.data(), 1, 2, &memory);
  EXPECT_NE(net.output("q").row(0)[0], without) << "the memory is read";
}

}  // namespace
}  // namespace knurl::fast
