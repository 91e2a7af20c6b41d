"""Writes tests/golden/reference.safetensors with the safetensors package, for the test that reads it.

Made with safetensors 0.5.3 and numpy 2.4.6 by:  python tests/golden/make_safetensors.py
"""
import pathlib

import numpy as np
from safetensors.numpy import save_file

save_file(
    {
        "net.weight": np.arange(6, dtype=np.float32).reshape(2, 3) / 4,
        "steps": np.array(123456789012, dtype=np.int64),
        "mask": np.array([True, False, True]),
        "bytes": np.array([0, 127, 255], dtype=np.uint8),
        "double": np.array([[0.1]], dtype=np.float64),
    },
    pathlib.Path(__file__).with_name("reference.safetensors"),
    metadata={"made by": "safetensors"},
)
