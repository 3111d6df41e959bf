"""Runs many programs in JAX at once: those on one number of devices in one jit, each under its own shard_map."""

import math
import os
from typing import Any

os.environ["XLA_FLAGS"] = os.environ.get("XLA_FLAGS", "") + " --xla_force_host_platform_device_count=8"

import jax  # noqa: E402  # reads the flags
import numpy as np  # noqa: E402
from jax.sharding import Mesh, PartitionSpec  # noqa: E402

from jax_program import run_ops  # noqa: E402
from jax_states import entered, spec_of, varying  # noqa: E402
from program import Program, Value  # noqa: E402
from states import States, distinct_copies  # noqa: E402

jax.config.update("jax_enable_x64", True)
jax.config.update("jax_platforms", "cpu")

Results = dict[str, np.ndarray]  # [device, ...]


def mapped(
    mesh: dict[str, int], ops: list[dict[str, Any]], outputs: list[str], states: dict[str, States] | None = None
) -> Any:
    """A function of the arguments of all devices, the devices along dimension 0, and of an array that it gives back. With
    the states of the arguments, types are checked."""
    devices = jax.devices()[: math.prod(mesh.values())]

    def of_one_device(arguments: dict[str, Any], used: Any) -> tuple[dict[str, Any], Any]:
        values = run_ops(ops, {name: x[0] for name, x in arguments.items()})
        return {name: values[name][None] for name in outputs}, used

    def of_one_device_typed(arguments: dict[str, Any], used: Any) -> tuple[dict[str, Any], Any]:
        assert states is not None
        values = run_ops(ops, {name: entered(x[0], states[name]) for name, x in arguments.items()})
        return {name: varying(values[name], mesh)[None] for name in outputs}, used

    spec = PartitionSpec(tuple(mesh))
    on = Mesh(np.array(devices).reshape(*mesh.values()), tuple(mesh))
    if states is None:
        return jax.shard_map(of_one_device, mesh=on, in_specs=spec, out_specs=spec, check_vma=False)
    in_specs = ({name: spec_of(given, mesh) for name, given in states.items()}, spec)
    return jax.shard_map(of_one_device_typed, mesh=on, in_specs=in_specs, out_specs=spec, check_vma=True)


def _mapped(program: Program, outputs: list[Value]) -> Any:
    states = program.states and {name: program.states[name] for name in program.data}
    return mapped(program.mesh, program.json_ops(), [value.name for value in outputs], states)


def _given(program: Program) -> dict[str, np.ndarray]:
    """The arguments of _mapped()."""
    states = program.states
    if states is None:
        return program.data
    return {name: distinct_copies(data, states[name], program.mesh) for name, data in program.data.items()}


def run_programs(programs: list[tuple[Program, list[Value]]]) -> list[Results]:
    """The outputs of each program."""
    results: list[Results] = [{} for _ in programs]
    for devices in sorted({program.devices for program, _ in programs}):
        chosen = [i for i, (program, _) in enumerate(programs) if program.devices == devices]
        functions = [_mapped(*programs[i]) for i in chosen]
        together = jax.jit(lambda arguments, functions=functions: [f(*a) for f, a in zip(functions, arguments)])
        # A shard_map that uses no argument, beside others in one jit, refuses to be compiled.
        used = np.zeros(devices, np.int32)
        for i, (found, _) in zip(chosen, together([(_given(programs[i][0]), used) for i in chosen])):
            results[i] = {name: np.asarray(x) for name, x in found.items()}
    jax.clear_caches()  # none of it comes again
    return results
