#include "knurl/algorithms/learner/optimizer.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "knurl/core/base/error.h"
#include "knurl/models/fast/kernels.h"
#include "knurl/models/weights.h"

namespace knurl {
namespace {

constexpr const char* kSteps = "steps";

/// Copies between a batch of tensors and the same tensors under a prefix in a state.
std::vector<ColumnSpec> prefixed(const std::string& prefix, const RecordBatch& tensors) {
  std::vector<ColumnSpec> out;
  for (ColumnSpec column : tensors.columns()) {
    column.name = prefix + "/" + column.name;
    out.push_back(std::move(column));
  }
  return out;
}

void copy_tensors(const RecordBatch& from, const std::string& from_prefix, RecordBatch& to,
                  const std::string& to_prefix) {
  const auto name = [](const std::string& prefix, const std::string& tensor) {
    return prefix.empty() ? tensor : prefix + "/" + tensor;
  };
  const RecordBatch& plain = from_prefix.empty() ? from : to;
  for (const ColumnSpec& column : plain.columns()) {
    const std::size_t source = from.index_of(name(from_prefix, column.name));
    const std::size_t target = to.index_of(name(to_prefix, column.name));
    std::memcpy(to.data(target), from.data(source), to.row_bytes(target));
  }
}

/// A state of `steps` and some buffers laid out as the parameters.
class Moments {
 public:
  Moments(std::vector<std::string> names, const RecordBatch& parameters)
      : names_(std::move(names)) {
    for (std::size_t i = 0; i < names_.size(); ++i) buffers_.emplace_back(parameters.columns(), 1);
  }

  std::int64_t steps = 0;

  float* operator[](std::size_t index) { return flat(buffers_[index]).data(); }

  [[nodiscard]] RecordBatch state() const {
    RecordBatch out(columns(), 1);
    out.column<std::int64_t>(kSteps)[0] = steps;
    for (std::size_t i = 0; i < names_.size(); ++i) copy_tensors(buffers_[i], "", out, names_[i]);
    return out;
  }
  void restore(const RecordBatch& state) {
    if (state.columns() != columns()) {
      fail(ErrorKind::checkpoint, "the optimizer's state is of another optimizer or net");
    }
    steps = state.column<std::int64_t>(kSteps)[0];
    for (std::size_t i = 0; i < names_.size(); ++i) copy_tensors(state, names_[i], buffers_[i], "");
  }

 private:
  [[nodiscard]] std::vector<ColumnSpec> columns() const {
    std::vector<ColumnSpec> out{{kSteps, DType::int64, {}}};
    for (std::size_t i = 0; i < names_.size(); ++i) {
      const auto more = prefixed(names_[i], buffers_[i]);
      out.insert(out.end(), more.begin(), more.end());
    }
    return out;
  }

  std::vector<std::string> names_;
  std::vector<RecordBatch> buffers_;
};

class Adam final : public Optimizer {
 public:
  Adam(const OptimizerConfig& config, const RecordBatch& parameters)
      : config_(config), moments_({"mean", "variance"}, parameters) {}

  void step(RecordBatch& parameters, const RecordBatch& gradients, double lr,
            double gradient_scale) override {
    const auto t = static_cast<double>(++moments_.steps);
    const double beta1 = config_.beta1;
    const double beta2 = config_.beta2;
    const auto parameter = flat(parameters);
    fast::kernels().adam(
        {.parameter = parameter.data(),
         .gradient = flat(gradients).data(),
         .mean = moments_[0],
         .variance = moments_[1],
         .n = parameter.size(),
         .gradient_scale = static_cast<float>(gradient_scale),
         .beta1 = static_cast<float>(beta1),
         .one_minus_beta1 = static_cast<float>(1.0 - beta1),
         .beta2 = static_cast<float>(beta2),
         .one_minus_beta2 = static_cast<float>(1.0 - beta2),
         .step_size = static_cast<float>(lr / (1.0 - std::pow(beta1, t))),
         .variance_scale = static_cast<float>(1.0 / std::sqrt(1.0 - std::pow(beta2, t))),
         .epsilon = static_cast<float>(config_.epsilon.value())});
  }
  [[nodiscard]] RecordBatch state() const override { return moments_.state(); }
  void restore(const RecordBatch& state) override { moments_.restore(state); }

 private:
  OptimizerConfig config_;
  Moments moments_;
};

class Sgd final : public Optimizer {
 public:
  Sgd(const OptimizerConfig& config, const RecordBatch& parameters)
      : momentum_(static_cast<float>(config.momentum.value())),
        moments_({"momentum"}, parameters) {}

  void step(RecordBatch& parameters, const RecordBatch& gradients, double lr,
            double gradient_scale) override {
    const auto parameter = flat(parameters);
    const auto gradient = flat(gradients);
    float* velocity = moments_[0];
    const auto scale = static_cast<float>(gradient_scale);
    const auto rate = static_cast<float>(lr);
    for (std::size_t i = 0; i < parameter.size(); ++i) {
      velocity[i] = momentum_ * velocity[i] + scale * gradient[i];
      parameter[i] -= rate * velocity[i];
    }
    ++moments_.steps;
  }
  [[nodiscard]] RecordBatch state() const override { return moments_.state(); }
  void restore(const RecordBatch& state) override { moments_.restore(state); }

 private:
  float momentum_;
  Moments moments_;
};

/// Scales each tensor whose own norm is above the clip.
void clip_each_norm(RecordBatch& gradients, double clip) {
  for (std::size_t i = 0; i < gradients.columns().size(); ++i) {
    auto* data = reinterpret_cast<float*>(gradients.data(i));
    const std::int64_t n = gradients.width(i);
    double squares = 0.0;
    for (std::int64_t k = 0; k < n; ++k) squares += static_cast<double>(data[k]) * data[k];
    const auto scale = static_cast<float>(std::min(1.0, clip / (std::sqrt(squares) + 1e-6)));
    for (std::int64_t k = 0; k < n; ++k) data[k] *= scale;
  }
}

}  // namespace

std::unique_ptr<Optimizer> make_optimizer(const OptimizerConfig& config,
                                          const RecordBatch& parameters) {
  if (config.type.value() == OptimizerType::sgd) return std::make_unique<Sgd>(config, parameters);
  return std::make_unique<Adam>(config, parameters);
}

ClippedGradients clip_gradients(RecordBatch& gradients, std::optional<double> clip, GradClipBy by) {
  const auto all = flat(gradients);
  ClippedGradients out{.norm = std::sqrt(fast::kernels().sum_of_squares(all.data(), all.size()))};
  if (!clip) return out;
  switch (by) {
    case GradClipBy::global_norm:
      out.scale = std::min(1.0, *clip / (out.norm + 1e-6));
      break;
    case GradClipBy::norm:
      clip_each_norm(gradients, *clip);
      break;
    case GradClipBy::value: {
      const auto limit = static_cast<float>(*clip);
      for (float& g : all) g = std::clamp(g, -limit, limit);
      break;
    }
  }
  return out;
}

}  // namespace knurl
