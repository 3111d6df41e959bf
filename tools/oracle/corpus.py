"""The line of a program in a corpus: a scenario in short, with what JAX computed.

{"numerics": "ieee", "mesh": {"x": 2}, "arrays": {"v0": ["f32", [3], BITS]}, "program": [...],
 "results": {"v1": ["exact", "f32", [3], BITS]}}

Where types are checked, an array has its states after the bits, as {"varying": ["x"], "unreduced": ["y"]}, the line
says "check_types": true, and "types" has the type that JAX gives each value: {"v1": "f32[3]{V:x}"}.

BITS are the elements of all devices, in order, in hexadecimal; of one device alone where all have the same. "exact" is
one of program.COMPARISONS. "numerics" is "ieee" where those hold too, but for roundings."""

import json
from dataclasses import replace
from typing import Any

import numpy as np

from batches import Batch
from dtypes import to_hex
from gradients import Gradient
from oracle import Results
from program import Program, Value, type_text


def _bits(per_device: np.ndarray) -> str:
    bits = to_hex(per_device)
    first = to_hex(per_device[0])
    return first if bits == first * len(per_device) else bits


def gradient_line(gradient: Gradient, found: dict[str, np.ndarray], states: dict[str, list[str]]) -> str:
    """Likewise with a transform."""
    program, of = gradient.program, gradient.of
    arrays = _arrays(program)
    cotangent = gradient.cotangent()
    arrays[cotangent] = [of.dtype.name, of.shape, _bits(found[cotangent])]
    results = {}
    for x in gradient.arguments:
        name = gradient.sums().get("ct_" + x.name, "ct_" + x.name)
        results[name] = ["bound", x.dtype.name, x.shape, _bits(found[name])]
    line = {
        "numerics": "ieee",
        "check_types": gradient.typed,
        "mesh": program.mesh,
        "arrays": arrays,
        "program": program.json_ops(),
        "transform": gradient.transform(),
    }
    if program.states:
        of_cotangents = gradient.states()
        arrays[cotangent].append(of_cotangents[cotangent].json())
        if gradient.then():
            line["then"] = gradient.then()
        line["types"] = {
            "ct_" + x.name: type_text(x, of_cotangents["ct_" + x.name]) for x in gradient.arguments
        }
    elif states:
        arrays[cotangent].append({"varying": states[of.name]})
    line["results"] = results
    return json.dumps(line, separators=(",", ":"))


def batch_line(batch: Batch, found: dict[str, np.ndarray]) -> str:
    """Likewise; the arrays have the batch along a dimension."""
    program = batch.program
    values = {value.name: value for value in program.values}
    results = {}
    for value in batch.outputs:
        array = found[value.name]
        assert array.dtype == value.dtype.numpy, (value, array.dtype)
        results[value.name] = [batch.comparison(value), value.dtype.name, array.shape[1:], _bits(array)]
    arrays: dict[str, list[Any]] = {
        name: [values[name].dtype.name, data.shape[1:], _bits(data)] for name, data in batch.data.items()
    }
    line = {
        "numerics": "ieee" if program.ieee else "xla-cpu",
        "mesh": batch.mesh,
        "arrays": arrays,
        "program": program.json_ops(),
        "transform": batch.transform(),
    }
    if program.states:
        for name, array in arrays.items():
            array.append(program.states[name].json())
        line["check_types"] = True
        line["types"] = {
            value.name: type_text(replace(value, shape=found[value.name].shape[1:]), program.states[value.name])
            for value in batch.outputs
        }
    line["results"] = results
    return json.dumps(line, separators=(",", ":"))


def _arrays(program: Program) -> dict[str, list[Any]]:
    types = {value.name: value for value in program.values}
    arrays: dict[str, list[Any]] = {
        name: [types[name].dtype.name, types[name].shape, _bits(data)] for name, data in program.data.items()
    }
    if program.states:
        for name, array in arrays.items():
            array.append(program.states[name].json())
    return arrays


def _types(program: Program) -> dict[str, str]:
    states = program.states or {}
    return {result.name: type_text(result, states[result.name]) for op in program.ops for result in op.results}


def _scenario(program: Program) -> dict[str, Any]:
    scenario = {
        "numerics": "ieee" if program.ieee else "xla-cpu",
        "mesh": program.mesh,
        "arrays": _arrays(program),
        "program": program.json_ops(),
    }
    if program.states:
        scenario |= {"check_types": True, "types": _types(program)}
    return scenario


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
