"""python3 tools/oracle/rerun.py FILE: runs a program on which XLA aborted (survive.py) in this process, so that XLA aborts
again. Edit the file to reduce the program."""

import json
import math
import sys
from pathlib import Path

import jax
import numpy as np

from dtypes import DTYPES, from_hex
from oracle import mapped


def _array(devices: int, dtype: str, shape: list[int], bits: str) -> np.ndarray:
    """[device, ...], where the bits may be those of one device for all."""
    elements = from_hex(bits, DTYPES[dtype])
    count = devices if elements.size == devices * math.prod(shape) else 1
    return np.broadcast_to(elements.reshape(count, *shape), (devices, *shape))


def main() -> None:
    line = json.loads(Path(sys.argv[1]).read_text())
    devices = math.prod(line["mesh"].values())
    arrays = {name: _array(devices, *array) for name, array in line["arrays"].items()}
    run = jax.jit(mapped(line["mesh"], line["program"], line["outputs"]))
    found, _ = run(arrays, np.zeros(devices, np.int32))
    for name, value in found.items():
        print(name, value)


if __name__ == "__main__":
    main()
