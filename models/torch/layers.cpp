#include "knurl/models/torch/layers.h"

#include <algorithm>

namespace knurl {
namespace {

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

/// A contiguous tensor [rows, size] as rows.
template <class Float>
FloatRows<Float> rows_of(const torch::Tensor& tensor) {
  return {.data = tensor.data_ptr<float>(),
          .rows = tensor.size(0),
          .stride = tensor.size(1),
          .size = static_cast<int>(tensor.size(1))};
}

template <class Float>
std::vector<std::span<Float>> numbers_of(at::TensorList tensors) {
  std::vector<std::span<Float>> out;
  for (const torch::Tensor& tensor : tensors) {
    out.emplace_back(tensor.data_ptr<float>(), static_cast<std::size_t>(tensor.numel()));
  }
  return out;
}

/// A custom layer in autograd's graph.
class CustomFunction : public torch::autograd::Function<CustomFunction> {
 public:
  static torch::Tensor forward(AutogradContext* context, const LayerSpec* layer,
                               const torch::Tensor& input, at::TensorList tensors) {
    const torch::Tensor x = input.contiguous();
    const torch::Tensor y = torch::empty({x.size(0), layer->outputs});
    run_custom_layer(*layer->custom, layer->name, numbers_of<const float>(tensors),
                     rows_of<const float>(x), rows_of<float>(y));
    variable_list saved{x, y};
    saved.insert(saved.end(), tensors.begin(), tensors.end());
    context->save_for_backward(saved);
    context->saved_data["layer"] = reinterpret_cast<std::int64_t>(layer);
    return y;
  }

  static variable_list backward(AutogradContext* context, const variable_list& gradients) {
    const auto* layer = reinterpret_cast<const LayerSpec*>(context->saved_data["layer"].toInt());
    const variable_list saved = context->get_saved_variables();
    const variable_list tensors(saved.begin() + 2, saved.end());
    const torch::Tensor dy = gradients[0].contiguous();
    const torch::Tensor dx = torch::zeros_like(saved[0]);
    variable_list d_tensors;
    for (const torch::Tensor& tensor : tensors) d_tensors.push_back(torch::zeros_like(tensor));
    call_custom_layer(*layer->custom, layer->name, [&] {
      layer->custom->backward({.tensors = numbers_of<const float>(tensors),
                               .x = rows_of<const float>(saved[0]),
                               .y = rows_of<const float>(saved[1]),
                               .dy = rows_of<const float>(dy),
                               .dx = rows_of<float>(dx),
                               .d_tensors = numbers_of<float>(d_tensors)});
    });
    variable_list out{torch::Tensor(), dx};  // the layer itself has no gradient
    out.insert(out.end(), d_tensors.begin(), d_tensors.end());
    return out;
  }
};

}  // namespace

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

torch::Tensor convolve(const LayerSpec& layer, const torch::Tensor& weight,
                       const torch::Tensor& bias, const torch::Tensor& x) {
  const ConvShape& conv = layer.conv;
  torch::Tensor pictures =
      x.reshape({x.size(0), conv.size[0], conv.size[1], conv.channels}).permute({0, 3, 1, 2});
  const auto [above, left] = conv.before();
  const auto [below, right] = conv.after();
  pictures = torch::constant_pad_nd(pictures, {left, right, above, below});
  const torch::Tensor made =
      torch::conv2d(pictures, weight, bias, {conv.stride[0], conv.stride[1]});
  return activate(layer.activation, made.permute({0, 2, 3, 1}).reshape({x.size(0), layer.outputs}));
}

torch::Tensor apply_custom(const LayerSpec& layer, const std::vector<torch::Tensor>& tensors,
                           const torch::Tensor& x) {
  return CustomFunction::apply(&layer, x, at::TensorList(tensors));
}

}  // namespace knurl
