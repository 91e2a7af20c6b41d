#pragma once

#include <vector>

#include <torch/torch.h>

#include "knurl/models/trainable_net.h"

namespace knurl {

/// TrainableNet on LibTorch. Parameters and gradients are views into the
/// flat buffers, so that nothing is copied between autograd and the optimizer.
class TorchNet final : public TrainableNet {
 public:
  TorchNet(NetSpec spec, const Weights& weights);

  [[nodiscard]] RecordBatch& parameters() override { return parameters_; }
  [[nodiscard]] RecordBatch& gradients() override { return gradients_; }
  using TrainableNet::forward;
  std::vector<std::span<const float>> forward(const RecordBatch& minibatch,
                                              const Sequences& sequences) override;
  void backward(const std::vector<std::span<const float>>& output_gradients) override;

 private:
  struct Layer {
    torch::Tensor weight;  ///< or the parameters of a layer of another kind
    torch::Tensor bias;
    std::vector<torch::Tensor> lstm = {};  ///< in PyTorch's order
  };
  /// What a forward reads.
  struct Minibatch {
    torch::Tensor inputs;
    const Sequences& sequences;
  };
  [[nodiscard]] torch::Tensor run(std::size_t k, const torch::Tensor& source,
                                  const Minibatch& minibatch) const;
  [[nodiscard]] torch::Tensor run_lstm(std::size_t k, const torch::Tensor& source,
                                       const Minibatch& minibatch) const;

  NetSpec spec_;
  RecordBatch parameters_;
  RecordBatch gradients_;
  std::vector<Layer> layers_;
  std::vector<torch::Tensor> outputs_;  ///< of the last forward, with their graph
};

}  // namespace knurl
