"""Programs with the transform batch, and what jax.vmap computes of them under shard_map."""

import math
import random
from dataclasses import dataclass
from typing import Any

import jax
import numpy as np
from jax.sharding import Mesh, PartitionSpec

import avoided
from generator import Generator
from jax_program import run_ops
from jax_states import entered, spec_of, states_of, varying
from program import Program, Value
from states import distinct_copies


@dataclass
class Batch:
    """A program for all elements of a batch. Where the batch takes the place of a mesh axis, its mesh and data are of
    what is left."""

    program: Program
    mesh: dict[str, int]
    size: int
    axis: str | None
    in_axes: dict[str, int | None]
    data: dict[str, np.ndarray]  # [device, ...]
    outputs: list[Value]

    @property
    def devices(self) -> int:
        return int(np.prod(list(self.mesh.values())))

    def transform(self) -> dict[str, Any]:
        batch: dict[str, Any] = {"size": self.size}
        if self.axis:
            batch["axis_name"] = self.axis
        batch["in_axes"] = self.in_axes
        batch["out_axes"] = {value.name: 0 for value in self.outputs}
        return {"batch": batch}

    def comparison(self, value: Value) -> str:
        """Over the batched axis XLA sums in an order of its own."""
        return "bound" if self.axis and value.dtype.rounds and value.comparison != "moved" else value.comparison


def random_batch(generator: Generator, rng: random.Random) -> Batch:
    """One that JAX can run."""
    while True:
        program = generator.next()
        # A value has no state along a batched axis, so types are checked along those that are left.
        takes_place = len(program.mesh) > 1 and program.states is None and rng.random() < 0.5
        axis = rng.choice(list(program.mesh)) if takes_place else None
        if not all(avoided.is_batched(op, axis) for op in program.ops):
            continue
        size = program.mesh[axis] if axis else rng.randint(1, 3)
        mesh = {name: extent for name, extent in program.mesh.items() if name != axis}
        in_axes: dict[str, int | None] = {}
        data = {}
        for name, of_devices in program.data.items():
            batched = rng.random() < 0.7 or len(program.data) == 1
            in_axes[name] = rng.randint(0, of_devices.ndim - 1) if batched else None
            entries = _entries(program, of_devices, axis, size)
            dimension = in_axes[name]
            data[name] = entries[0] if dimension is None else np.stack(entries, 1 + dimension)
        batch = Batch(program, mesh, size, axis, in_axes, data, program.outputs(all_results=True))
        if _runs(batch):
            return batch


def _entries(program: Program, of_devices: np.ndarray, axis: str | None, size: int) -> list[np.ndarray]:
    """Those of the batch: of an axis the places on it, else the elements in other orders."""
    if axis is None:
        flat = of_devices.reshape(len(of_devices), -1)
        return [np.roll(flat, b, 1).reshape(of_devices.shape) for b in range(size)]
    shape = of_devices.shape[1:]
    places = of_devices.reshape(*program.mesh.values(), *shape)
    moved = np.moveaxis(places, list(program.mesh).index(axis), 0)
    return [place.reshape(len(of_devices) // size, *shape) for place in moved]


def mapped(axes: dict[str, int], ops: list[dict[str, Any]], batch: dict[str, Any]) -> Any:
    """A function of the arguments of all devices, the devices along dimension 0, and of an array that it gives back.
    The values of the batch's `out_axes` have it along dimension 0."""
    devices = np.array(jax.devices()[: math.prod(axes.values())]).reshape(*axes.values())
    mesh = Mesh(devices, tuple(axes))
    given = {"axis_name": batch["axis_name"]} if "axis_name" in batch else {}

    def of_one(values: dict[str, Any]) -> dict[str, Any]:
        found = run_ops(ops, values, started=False)
        return {name: found[name] for name in batch["out_axes"]}

    def of_one_device(arguments: dict[str, Any], used: Any) -> tuple[dict[str, Any], Any]:
        values = {name: x[0] for name, x in arguments.items()}
        found = jax.vmap(of_one, in_axes=(batch["in_axes"],), axis_size=batch["size"], **given)(values)
        return {name: x[None] for name, x in found.items()}, used

    spec = PartitionSpec(tuple(axes))
    return jax.shard_map(of_one_device, mesh=mesh, in_specs=spec, out_specs=spec, check_vma=False)


def _mapped_with_states(batch: Batch) -> Any:
    """The mapped function of a program with states, which takes the distinct copies of the arguments."""
    devices = np.array(jax.devices()[: batch.devices]).reshape(*batch.mesh.values())
    mesh = Mesh(devices, tuple(batch.mesh))
    ops = batch.program.json_ops()
    states = batch.program.states
    assert states is not None

    def of_one(values: dict[str, Any]) -> dict[str, Any]:
        found = run_ops(ops, values, started=False)
        return {value.name: found[value.name] for value in batch.outputs}

    def of_one_device(arguments: dict[str, Any], used: Any) -> tuple[dict[str, Any], Any]:
        values = {name: entered(x[0], states[name]) for name, x in arguments.items()}
        found = jax.vmap(of_one, in_axes=(batch.in_axes,), axis_size=batch.size)(values)
        for name, x in found.items():
            assert states_of(x, batch.mesh) == states[name], name
        return {name: varying(x, batch.mesh)[None] for name, x in found.items()}, used

    spec = PartitionSpec(tuple(batch.mesh))
    in_specs = ({name: spec_of(states[name], batch.mesh) for name in batch.data}, spec)
    return jax.shard_map(of_one_device, mesh=mesh, in_specs=in_specs, out_specs=spec, check_vma=True)


def _given(batch: Batch) -> dict[str, np.ndarray]:
    """The arguments of _mapped()."""
    states = batch.program.states
    if states is None:
        return batch.data
    return {name: distinct_copies(data, states[name], batch.mesh) for name, data in batch.data.items()}


def _mapped(batch: Batch) -> Any:
    if batch.program.states is not None:
        return _mapped_with_states(batch)
    return mapped(batch.mesh, batch.program.json_ops(), batch.transform()["batch"])


def _used(batch: Batch) -> np.ndarray:
    return np.zeros(batch.devices, np.int32)


def _runs(batch: Batch) -> bool:
    """JAX refuses many collectives over a batched axis, each in its own way; see avoided.is_batched."""
    try:
        found, _ = jax.eval_shape(_mapped(batch), _given(batch), _used(batch))
    except (ValueError, TypeError, NotImplementedError, AssertionError, IndexError, KeyError, NameError):
        return False
    return all(
        found[value.name].shape == (batch.devices, batch.size, *value.shape) for value in batch.outputs
    )


def run_batches(batches: list[Batch]) -> list[dict[str, np.ndarray]]:
    """The outputs of each."""
    results: list[dict[str, np.ndarray]] = [{} for _ in batches]
    for devices in sorted({batch.devices for batch in batches}):
        chosen = [i for i, batch in enumerate(batches) if batch.devices == devices]
        functions = [_mapped(batches[i]) for i in chosen]
        together = jax.jit(lambda arguments, functions=functions: [f(*a) for f, a in zip(functions, arguments)])
        for i, (found, _) in zip(chosen, together([(_given(batches[i]), _used(batches[i])) for i in chosen])):
            results[i] = {name: np.asarray(x) for name, x in found.items()}
    jax.clear_caches()
    return results
