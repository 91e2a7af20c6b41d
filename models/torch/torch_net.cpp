#include "knurl/models/torch/torch_net.h"

#include <algorithm>

#include "knurl/core/base/check.h"
#include "knurl/models/columns.h"
#include "knurl/models/torch/layers.h"

namespace knurl {
namespace {

/// A column that is only read, as a tensor [rows, width].
torch::Tensor read_only(const RecordBatch& batch, const char* name) {
  const auto numbers = batch.column<float>(name);
  return torch::from_blob(const_cast<float*>(numbers.data()), {batch.rows(), numbers.width()});
}

/// A tensor that is a column of a batch of one row. The batch must outlive it.
torch::Tensor view(RecordBatch& batch, const std::string& name) {
  const std::size_t index = batch.index_of(name);
  return torch::from_blob(batch.data(index), batch.columns()[index].row_shape);
}

}  // namespace

TorchNet::TorchNet(NetSpec spec, const Weights& weights)
    : spec_(std::move(spec)), parameters_(weights.tensors), gradients_(parameters_.columns(), 1) {
  check(parameters_.columns() == tensors_of(spec_), "weights are those of this net");
  for (const LayerSpec& layer : spec_.layers) {
    const auto parameter = [&](const std::string& name) {
      torch::Tensor tensor = view(parameters_, name).requires_grad_();
      tensor.mutable_grad() = view(gradients_, name);  // autograd adds into it
      return tensor;
    };
    switch (layer.kind) {
      case LayerKind::dense:
      case LayerKind::conv:
        layers_.push_back({parameter(layer.name + ".weight"), parameter(layer.name + ".bias")});
        break;
      case LayerKind::filter:  // parameters without gradients
        layers_.push_back(
            {view(parameters_, layer.name + ".scale"), view(parameters_, layer.name + ".mean")});
        break;
      case LayerKind::lstm:
        layers_.emplace_back();
        for (const char* name : {".weight_ih", ".weight_hh", ".bias_ih", ".bias_hh"}) {
          layers_.back().several.push_back(parameter(layer.name + name));
        }
        break;
      case LayerKind::free:
      case LayerKind::sde_log_std:
        layers_.push_back({parameter(layer.name + ".value"), {}});
        break;
      case LayerKind::custom: {
        Layer& own = layers_.emplace_back();
        for (const ColumnSpec& column : custom_tensors(*layer.custom, layer.name + ".")) {
          own.several.push_back(parameter(column.name));
        }
        break;
      }
    }
  }
}

torch::Tensor TorchNet::run_lstm(std::size_t k, const torch::Tensor& source,
                                 const Minibatch& minibatch) const {
  const int cells = spec_.layers[k].outputs;
  const int observations = observation_inputs(spec_);
  torch::Tensor x = source;
  if (spec_.inputs > observations) {
    x = torch::cat({source, minibatch.inputs.narrow(1, observations, spec_.inputs - observations)},
                   1);
  }
  std::vector<std::int64_t> batch_sizes = minibatch.sequences.batch_sizes;
  if (batch_sizes.empty()) batch_sizes = {x.size(0)};
  torch::Tensor h = torch::zeros({batch_sizes[0], cells});
  torch::Tensor c = h;
  if (minibatch.sequences.states.rows() > 0) {
    h = read_only(minibatch.sequences.states, column::kStateH);
    c = read_only(minibatch.sequences.states, column::kStateC);
  }
  return std::get<0>(torch::lstm(x, torch::tensor(batch_sizes), {h.unsqueeze(0), c.unsqueeze(0)},
                                 layers_[k].several, true, 1, 0.0, true, false));
}

torch::Tensor TorchNet::run(std::size_t k, const torch::Tensor& source,
                            const Minibatch& minibatch) const {
  const LayerSpec& layer = spec_.layers[k];
  const Layer& tensors = layers_[k];
  const bool narrow = !layer.source && spec_.inputs > observation_inputs(spec_);
  const torch::Tensor x = narrow ? source.narrow(1, 0, observation_inputs(spec_)) : source;
  switch (layer.kind) {
    case LayerKind::dense:
      break;
    case LayerKind::conv:
      return convolve(layer, tensors.weight, tensors.bias, x);
    case LayerKind::custom:
      return apply_custom(layer, tensors.several, x);
    case LayerKind::filter:
      return torch::clamp((x - tensors.bias) * tensors.weight, -kFilterClip, kFilterClip);
    case LayerKind::lstm:
      return run_lstm(k, x, minibatch);
    case LayerKind::free:
      return tensors.weight.expand({x.size(0), layer.outputs});
    case LayerKind::sde_log_std: {
      const torch::Tensor variance =
          torch::matmul(x.detach().square(), torch::exp(2.0 * tensors.weight));
      return 0.5 * torch::log(variance + kSdeEpsilon);
    }
  }
  return activate(layer.activation, torch::linear(x, tensors.weight, tensors.bias));
}

std::vector<std::span<const float>> TorchNet::forward(const RecordBatch& minibatch,
                                                      const Sequences& sequences) {
  const Minibatch read{.inputs = read_only(minibatch, column::kNetInputs), .sequences = sequences};
  check(read.inputs.size(1) == spec_.inputs, "a minibatch is what this net reads");
  std::vector<torch::Tensor> results;
  for (std::size_t k = 0; k < layers_.size(); ++k) {
    const auto& source = spec_.layers[k].source;
    results.push_back(run(k, source ? results[*source] : read.inputs, read));
  }
  outputs_.clear();
  std::vector<std::span<const float>> out;
  for (const NetOutput& output : spec_.outputs) {
    std::vector<torch::Tensor> parts;
    for (const std::size_t layer : output.layers) parts.push_back(results[layer]);
    outputs_.push_back(parts.size() > 1 ? torch::cat(parts, 1) : parts[0].contiguous());
    out.emplace_back(outputs_.back().data_ptr<float>(),
                     static_cast<std::size_t>(outputs_.back().numel()));
  }
  return out;
}

void TorchNet::backward(const std::vector<std::span<const float>>& output_gradients) {
  check(output_gradients.size() == outputs_.size(), "there is a gradient for each output");
  std::vector<torch::Tensor> gradients;
  for (std::size_t i = 0; i < outputs_.size(); ++i) {
    gradients.push_back(
        torch::from_blob(const_cast<float*>(output_gradients[i].data()), outputs_[i].sizes()));
  }
  std::ranges::fill(flat(gradients_), 0.0F);
  torch::autograd::backward(outputs_, gradients);
  outputs_.clear();
}

}  // namespace knurl
