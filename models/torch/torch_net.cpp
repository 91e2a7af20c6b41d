#include "knurl/models/torch/torch_net.h"

#include <algorithm>

#include "knurl/core/base/check.h"
#include "knurl/models/columns.h"

namespace knurl {
namespace {

/// A tensor that is a column of a batch of one row. The batch must outlive it.
torch::Tensor view(RecordBatch& batch, const std::string& name) {
  const std::size_t index = batch.index_of(name);
  return torch::from_blob(batch.data(index), batch.columns()[index].row_shape);
}

torch::Tensor activate(Activation activation, const torch::Tensor& x) {
  switch (activation) {
    case Activation::linear:
      return x;
    case Activation::tanh:
      return torch::tanh(x);
    case Activation::relu:
      return torch::relu(x);
    case Activation::elu:
      return torch::elu(x);
    case Activation::silu:
      return torch::silu(x);
  }
  return x;
}

}  // namespace

TorchNet::TorchNet(NetSpec spec, const Weights& weights)
    : spec_(std::move(spec)), parameters_(weights.tensors), gradients_(parameters_.columns(), 1) {
  check(parameters_.columns() == tensors_of(spec_), "weights are those of this net");
  for (const DenseLayer& layer : spec_.layers) {
    const auto parameter = [&](const std::string& name) {
      torch::Tensor tensor = view(parameters_, name).requires_grad_();
      tensor.mutable_grad() = view(gradients_, name);  // autograd adds into it
      return tensor;
    };
    layers_.push_back({parameter(layer.name + ".weight"), parameter(layer.name + ".bias")});
  }
}

std::vector<std::span<const float>> TorchNet::forward(const RecordBatch& minibatch) {
  const auto inputs = minibatch.column<float>(column::kNetInputs);
  const torch::Tensor x = torch::from_blob(const_cast<float*>(inputs.data()),  // only read
                                           {minibatch.rows(), spec_.inputs});
  std::vector<torch::Tensor> results;
  for (std::size_t k = 0; k < layers_.size(); ++k) {
    const DenseLayer& layer = spec_.layers[k];
    const torch::Tensor& source = layer.source ? results[*layer.source] : x;
    results.push_back(
        activate(layer.activation, torch::linear(source, layers_[k].weight, layers_[k].bias)));
  }
  outputs_.clear();
  std::vector<std::span<const float>> out;
  for (const NetOutput& output : spec_.outputs) {
    outputs_.push_back(results[output.layer].contiguous());
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
