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


def _text(scenario: dict[str, Any], results: dict[str, Any]) -> str:
    return json.dumps({**scenario, "results": results}, separators=(",", ":"))


def _arrays(program: Program, data: dict[str, np.ndarray]) -> dict[str, list[Any]]:
    dtypes = {value.name: value.dtype.name for value in program.values}
    states = program.states
    return {
        name: [dtypes[name], array.shape[1:], _bits(array), *([states[name].json()] if states else [])]
        for name, array in data.items()
    }


def _scenario(program: Program) -> dict[str, Any]:
    scenario: dict[str, Any] = {
        "numerics": "ieee" if program.ieee else "xla-cpu",
        "mesh": program.mesh,
        "arrays": _arrays(program, program.data),
        "program": program.json_ops(),
    }
    if program.states:
        states = program.states
        types = {result.name: type_text(result, states[result.name]) for op in program.ops for result in op.results}
        scenario |= {"check_types": True, "types": types}
    return scenario


def corpus_line(program: Program, outputs: list[Value], found: Results) -> str:
    results = {}
    for value in outputs:
        array = found[value.name]
        assert array.dtype == value.dtype.numpy, (value, array.dtype)
        assert array.shape == (program.devices, *value.shape), (value, array.shape)
        results[value.name] = [value.comparison, value.dtype.name, value.shape, _bits(array)]
    return _text(_scenario(program), results)


def _gradient_scenario(gradient: Gradient, cotangent: np.ndarray, varying: list[str] | None) -> dict[str, Any]:
    """`varying`: the axes over which the cotangent varies, of a program whose states JAX has checked."""
    program, of = gradient.program, gradient.of
    given: list[Any] = [of.dtype.name, of.shape, _bits(cotangent)]
    line = {
        "numerics": "ieee",
        "check_types": gradient.typed,
        "mesh": program.mesh,
        "arrays": {**_arrays(program, program.data), gradient.cotangent(): given},
        "program": program.json_ops(),
        "transform": gradient.transform(),
    }
    if program.states:
        states = gradient.states()
        given.append(states[gradient.cotangent()].json())
        if gradient.then():
            line["then"] = gradient.then()
        line["types"] = {"ct_" + x.name: type_text(x, states["ct_" + x.name]) for x in gradient.arguments}
    elif varying is not None:
        given.append({"varying": varying})
    return line


def gradient_line(gradient: Gradient, found: dict[str, np.ndarray], states: dict[str, list[str]]) -> str:
    """The line of a program with a transform."""
    results = {}
    for x in gradient.arguments:
        name = gradient.sums().get("ct_" + x.name, "ct_" + x.name)
        results[name] = ["bound", x.dtype.name, x.shape, _bits(found[name])]
    cotangent = found[gradient.cotangent()]
    return _text(_gradient_scenario(gradient, cotangent, states.get(gradient.of.name)), results)


def _batch_scenario(batch: Batch) -> dict[str, Any]:
    program = batch.program
    line = {
        "numerics": "ieee" if program.ieee else "xla-cpu",
        "mesh": batch.mesh,
        "arrays": _arrays(program, batch.data),
        "program": program.json_ops(),
        "transform": batch.transform(),
    }
    if program.states:
        line["check_types"] = True
    return line


def batch_line(batch: Batch, found: dict[str, np.ndarray]) -> str:
    """Likewise; the arrays have the batch along a dimension."""
    results = {}
    for value in batch.outputs:
        array = found[value.name]
        assert array.dtype == value.dtype.numpy, (value, array.dtype)
        results[value.name] = [batch.comparison(value), value.dtype.name, array.shape[1:], _bits(array)]
    line = _batch_scenario(batch)
    states = batch.program.states
    if states:
        line["types"] = {
            value.name: type_text(replace(value, shape=found[value.name].shape[1:]), states[value.name])
            for value in batch.outputs
        }
    return _text(line, results)


# Lines without results, for the programs on which XLA aborts. rerun.py reads them.


def aborted_program(program: Program, outputs: list[Value]) -> str:
    return json.dumps({**_scenario(program), "outputs": [value.name for value in outputs]})


def aborted_gradient(gradient: Gradient) -> str:
    return json.dumps(_gradient_scenario(gradient, gradient.given, None))


def aborted_batch(batch: Batch) -> str:
    return json.dumps(_batch_scenario(batch))
