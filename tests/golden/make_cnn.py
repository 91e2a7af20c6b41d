"""Writes tests/golden/cnn.safetensors: what PyTorch makes of a small net of convolutions, its output
and the gradients of sum(y * dy). Names of weights are knurl's; pictures are [height, width, channels].

Made with torch 2.15 and safetensors 0.5.3 by:
  python tests/golden/make_cnn.py
"""
import pathlib

import torch as th
import torch.nn.functional as F
from safetensors.torch import save_file

th.manual_seed(3)
first = th.nn.Conv2d(3, 4, kernel_size=(4, 3), stride=2)
second = th.nn.Conv2d(4, 5, kernel_size=(2, 3))
out = th.nn.Linear(2 * 2 * 5, 2)
names = {"conv.0": first, "conv.1": second, "q.out": out}

x = th.randn(6, 5, 7, 3)
dy = th.randn(6, 2)
# size 5, kernel 4, stride 2: 3 lines read 8, so 1 zero above and 2 below; 7, 3, 2: 4 columns read 9
padded = F.pad(x.permute(0, 3, 1, 2), (1, 1, 1, 2))
hidden = F.relu(second(F.relu(first(padded))))
y = out(hidden.permute(0, 2, 3, 1).flatten(1))
(y * dy).sum().backward()

tensors = {"x": x, "y": y, "dy": dy}
for name, module in names.items():
    for kind in ("weight", "bias"):
        parameter = getattr(module, kind)
        tensors[f"weights/{name}.{kind}"] = parameter
        tensors[f"gradients/{name}.{kind}"] = parameter.grad
save_file({name: tensor.detach().contiguous() for name, tensor in tensors.items()},
          pathlib.Path(__file__).with_name("cnn.safetensors"))
