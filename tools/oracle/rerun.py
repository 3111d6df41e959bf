"""python3 tools/oracle/rerun.py FILE: runs a program on which XLA aborted (survive.py) in this process, so that XLA aborts
again. Edit the file to reduce the program."""

import json
import math
import sys
from pathlib import Path
from typing import Any

import jax
import numpy as np

import batches
import gradients
import oracle
from dtypes import DTYPES, from_hex


def _array(devices: int, dtype: str, shape: list[int], bits: str) -> np.ndarray:
    """[device, ...], where the bits may be those of one device for all."""
    elements = from_hex(bits, DTYPES[dtype])
    count = devices if elements.size == devices * math.prod(shape) else 1
    return np.broadcast_to(elements.reshape(count, *shape), (devices, *shape))


def _run(line: dict[str, Any]) -> dict[str, Any]:
    mesh, ops = line["mesh"], line["program"]
    devices = math.prod(mesh.values())
    arrays = {name: _array(devices, *array) for name, array in line["arrays"].items()}
    used = np.zeros(devices, np.int32)
    transform = line.get("transform", {})
    if "vjp" in transform:
        vjp = transform["vjp"]
        cotangent = arrays.pop("ct_" + vjp["of"])
        run = jax.jit(gradients.mapped(mesh, ops, vjp, line["check_types"], {}))
        return run(arrays, cotangent, used)[0]
    if "batch" in transform:
        return jax.jit(batches.mapped(mesh, ops, transform["batch"]))(arrays, used)[0]
    return jax.jit(oracle.mapped(mesh, ops, line["outputs"]))(arrays, used)[0]


def main() -> None:
    for name, value in _run(json.loads(Path(sys.argv[1]).read_text())).items():
        print(name, value)


if __name__ == "__main__":
    main()
