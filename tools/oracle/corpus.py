"""The line of a program in a corpus: a scenario in short, with what JAX computed.

{"numerics": "ieee", "mesh": {"x": 2}, "arrays": {"v0": ["f32", [3], BITS]}, "program": [...],
 "results": {"v1": ["exact", "f32", [3], BITS]}}

BITS are the elements of all devices, in order, in hexadecimal; of one device alone where all have the same. "exact" is
one of program.COMPARISONS. "numerics" is "ieee" where those hold too, but for roundings."""

import json
from typing import Any

import numpy as np

from batches import Batch
from dtypes import to_hex
from gradients import Gradient
from oracle import Results
from program import Program, Value


def _bits(per_device: np.ndarray) -> str:
    bits = to_hex(per_device)
    first = to_hex(per_device[0])
    return first if bits == first * len(per_device) else bits


def gradient_line(gradient: Gradient, found: dict[str, np.ndarray], states: dict[str, list[str]]) -> str:
    """Likewise with a transform; an array may have the axes over which it varies after its bits."""
    program, of = gradient.program, gradient.of
    types = {value.name: value for value in program.values}
    arrays = {
        name: [types[name].dtype.name, types[name].shape, _bits(data)] for name, data in program.data.items()
    }
    cotangent = gradient.cotangent()
    arrays[cotangent] = [of.dtype.name, of.shape, to_hex(found[cotangent]), *([states[of.name]] if states else [])]
    results = {
        "ct_" + x.name: ["bound", x.dtype.name, x.shape, _bits(found["ct_" + x.name])] for x in gradient.arguments
    }
    line = {
        "numerics": "ieee",
        "check_types": gradient.typed,
        "mesh": program.mesh,
        "arrays": arrays,
        "program": program.json_ops(),
        "transform": gradient.transform(),
        "results": results,
    }
    return json.dumps(line, separators=(",", ":"))


def batch_line(batch: Batch, found: dict[str, np.ndarray]) -> str:
    """Likewise; the arrays have the batch along a dimension."""
    program = batch.program
    types = {value.name: value for value in program.values}
    results = {}
    for value in batch.outputs:
        array = found[value.name]
        assert array.dtype == value.dtype.numpy, (value, array.dtype)
        results[value.name] = [batch.comparison(value), value.dtype.name, array.shape[1:], _bits(array)]
    line = {
        "numerics": "ieee" if program.ieee else "xla-cpu",
        "mesh": batch.mesh,
        "arrays": {
            name: [types[name].dtype.name, data.shape[1:], _bits(data)] for name, data in batch.data.items()
        },
        "program": program.json_ops(),
        "transform": batch.transform(),
        "results": results,
    }
    return json.dumps(line, separators=(",", ":"))


def _scenario(program: Program) -> dict[str, Any]:
    types = {value.name: value for value in program.values}
    return {
        "numerics": "ieee" if program.ieee else "xla-cpu",
        "mesh": program.mesh,
        "arrays": {
            name: [types[name].dtype.name, types[name].shape, _bits(data)] for name, data in program.data.items()
        },
        "program": program.json_ops(),
    }


def aborted_line(program: Program, outputs: list[Value]) -> str:
    """Of a program without results: what rerun.py reads."""
    return json.dumps({**_scenario(program), "outputs": [value.name for value in outputs]})


def corpus_line(program: Program, outputs: list[Value], found: Results) -> str:
    results = {}
    for value in outputs:
        array = found[value.name]
        assert array.dtype == value.dtype.numpy, (value, array.dtype)
        assert array.shape == (program.devices, *value.shape), (value, array.shape)
        results[value.name] = [value.comparison, value.dtype.name, value.shape, _bits(array)]
    return json.dumps({**_scenario(program), "results": results}, separators=(",", ":"))
