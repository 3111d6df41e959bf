"""Programs with the transform vjp, and what jax.vjp computes of them under shard_map."""

import math
import random
from dataclasses import dataclass
from typing import Any

import jax
import numpy as np
from jax import lax
from jax._src.lax import parallel
from jax.sharding import Mesh, PartitionSpec

import avoided
from arguments import new_argument
from generator import Generator
from jax_program import run_ops
from jax_states import entered, spec_of, states_of, varying
from program import Op, Program, Value
from states import States, distinct_copies, equal_copies

MOST_DEPTH = 6


@dataclass
class Gradient:
    """The cotangents of float arguments of a program, of one value's."""

    program: Program
    of: Value
    arguments: list[Value]
    typed: bool  # whether states are checked
    overlap: bool
    recompute: list[str] | str
    given: np.ndarray  # the cotangent: [device, ...]

    def cotangent(self) -> str:
        return "ct_" + self.of.name

    def states(self) -> dict[str, States]:
        """The states of the cotangents, by their names. Requires that the program has states."""
        states = self.program.states
        assert states is not None
        return {"ct_" + x.name: states[x.name].of_cotangent() for x in (*self.arguments, self.of)}

    def sums(self) -> dict[str, str]:
        """The names of the sums of unreduced cotangents, of which alone JAX shows the elements."""
        if self.program.states is None:
            return {}
        states = self.states()
        names = ["ct_" + x.name for x in self.arguments]
        return {name: "sum_" + name for name in names if states[name].unreduced}

    def then(self) -> list[dict[str, Any]]:
        """Ops after the backward pass."""
        return [
            {"id": total, "op": "unreduced_psum", "of": name, "axis_name": list(self.states()[name].unreduced)}
            for name, total in self.sums().items()
        ]

    def transform(self) -> dict[str, Any]:
        vjp: dict[str, Any] = {"of": self.of.name, "with_respect_to": [x.name for x in self.arguments]}
        if self.overlap:
            vjp["overlap"] = True
        if self.recompute:
            vjp["recompute"] = self.recompute
        return {"vjp": vjp}


def _gradient_of(program: Program, of: Value, typed: bool) -> tuple[list[Op], list[Value]] | None:
    """The ops of the slice, and the arguments with a gradient; nothing where there is none, or none in JAX."""
    ops = program.needed_for({of.name})
    if not ops or avoided.goes_back_by_slices(ops):
        return None
    read = [operand for op in ops for operand in op.operands]
    arguments = {x.name: x for x in read if x.name in program.data and avoided.has_cotangent(x)}
    active = set(arguments)
    depth = {name: 0 for name in active}
    for op in ops:
        if typed and not program.states and not avoided.has_states(op):
            return None
        passed = [x for x in op.operands if x.name in active]
        if not passed:
            continue
        floats = [result for result in op.results if result.dtype.rounds]
        if op.name in ("pargmax", "pargmin") or (floats and not avoided.has_gradient(op, passed)):
            return None
        for result in floats:
            active.add(result.name)
            depth[result.name] = 1 + max(depth[x.name] for x in passed)
    if of.name not in active or depth[of.name] > MOST_DEPTH:
        return None
    return ops, list(arguments.values())


def random_gradient(generator: Generator, rng: random.Random) -> Gradient:
    while True:
        program = generator.next()
        typed = program.states is not None or rng.random() < 0.5
        candidates = [x for op in program.ops for x in op.results if avoided.has_cotangent(x)]
        rng.shuffle(candidates)
        for of in candidates:
            found = _gradient_of(program, of, typed)
            if found is None:
                continue
            ops, arguments = found
            kept = Program(program.mesh)
            names = {x.name for op in ops for x in op.operands}
            kept.data = {name: data for name, data in program.data.items() if name in names}
            kept.values = program.values
            kept.ops = ops
            kept.states = program.states
            recompute: list[str] | str = []
            if rng.random() < 0.3:
                recompute = "all" if rng.random() < 0.5 else [rng.choice(ops).results[0].name]
            overlap = rng.random() < 0.3
            gradient = Gradient(kept, of, arguments, typed, overlap, recompute, _cotangent(program, of, rng))
            if program.states is None:
                return gradient
            gradient.given = equal_copies(gradient.given, gradient.states()[gradient.cotangent()], program.mesh)
            if _runs(gradient):
                return gradient


def _cotangent(program: Program, of: Value, rng: random.Random) -> np.ndarray:
    scratch = Program(program.mesh)
    cotangent = new_argument(rng, scratch, of.dtype, of.shape, rng.choice(["small", "fractions"]))
    return scratch.data[cotangent.name]


def mapped(
    axes: dict[str, int], ops: list[dict[str, Any]], vjp: dict[str, Any], typed: bool, states: dict[str, list[str]]
) -> Any:
    """A function of the arguments and of the cotangent, of all devices, the devices along dimension 0, and of an array
    that it gives back. Where states are checked, the copies of a cotangent that is invarying are added first, and the
    axes over which it varies go to `states`."""
    devices = jax.devices()[: math.prod(axes.values())]
    mesh = Mesh(np.array(devices).reshape(*axes.values()), tuple(axes))
    of = vjp["of"]

    def of_one_device(arguments: dict[str, Any], cotangent: Any, used: Any) -> tuple[dict[str, Any], Any]:
        values = {name: x[0] for name, x in arguments.items()}
        cotangent = cotangent[0]

        def forward(floats: dict[str, Any]) -> Any:
            return run_ops(ops, {**values, **floats}, started=False)[of]

        result, pull = jax.vjp(forward, {name: values[name] for name in vjp["with_respect_to"]})
        if typed:
            varying = [axis for axis in axes if axis in jax.typeof(result).manual_axis_type.varying]
            states[of] = varying
            missing = tuple(axis for axis in axes if axis not in varying)
            cotangent = lax.psum(cotangent, missing) if missing else cotangent
        found = pull(cotangent)[0]
        results = {"ct_" + name: x[None] for name, x in found.items()}
        results["ct_" + of] = cotangent[None]
        return results, used

    spec = PartitionSpec(tuple(axes))
    return jax.shard_map(of_one_device, mesh=mesh, in_specs=spec, out_specs=spec, check_vma=typed)


def _mapped(gradient: Gradient, states: dict[str, list[str]]) -> Any:
    program = gradient.program
    return mapped(program.mesh, program.json_ops(), gradient.transform()["vjp"], gradient.typed, states)


def _mapped_with_states(gradient: Gradient) -> Any:
    """The mapped gradient of a program with states. It takes the distinct copies of the arguments and of the cotangent, and
    gives the sums of unreduced results."""
    program = gradient.program
    states = program.states
    assert states is not None
    mesh = Mesh(np.array(jax.devices()[: program.devices]).reshape(*program.mesh.values()), tuple(program.mesh))
    ops = program.json_ops()
    of_cotangents = gradient.states()
    cotangent_states = of_cotangents[gradient.cotangent()]

    def of_one_device(arguments: dict[str, Any], cotangent: Any, used: Any) -> tuple[dict[str, Any], Any]:
        values = {name: entered(x[0], states[name]) for name, x in arguments.items()}

        def forward(floats: dict[str, Any]) -> Any:
            return run_ops(ops, {**values, **floats}, started=False)[gradient.of.name]

        _, pull = jax.vjp(forward, {x.name: values[x.name] for x in gradient.arguments})
        found = pull(entered(cotangent[0], cotangent_states))[0]
        results = {}
        for name, x in found.items():
            name = "ct_" + name
            assert states_of(x, program.mesh) == of_cotangents[name], name
            if name in gradient.sums():
                name, x = gradient.sums()[name], parallel.unreduced_psum(x, of_cotangents[name].unreduced)
            results[name] = varying(x, program.mesh)[None]
        return results, used

    spec = PartitionSpec(tuple(program.mesh))
    in_specs = (
        {name: spec_of(states[name], program.mesh) for name in program.data},
        spec_of(cotangent_states, program.mesh),
        spec,
    )
    return jax.shard_map(of_one_device, mesh=mesh, in_specs=in_specs, out_specs=(spec, spec), check_vma=True)


def _runs(gradient: Gradient) -> bool:
    """Whether JAX has a gradient of each op in these states, and can lower it; see avoided.is_typed_alike."""
    given = _data(gradient)
    try:
        jax.jit(_mapped_with_states(gradient)).lower(*_distinct(gradient, given))
    except Exception:  # noqa: BLE001  # of any kind
        return False
    return True


def _distinct(gradient: Gradient, given: tuple[Any, ...]) -> tuple[Any, ...]:
    """The arguments of _mapped_with_states(), made from those that _data() gives."""
    program = gradient.program
    assert program.states is not None
    data, cotangent, used = given
    arguments = {name: distinct_copies(x, program.states[name], program.mesh) for name, x in data.items()}
    states = gradient.states()[gradient.cotangent()]
    return arguments, distinct_copies(cotangent, states, program.mesh), used


def _data(gradient: Gradient) -> tuple[Any, ...]:
    """The arguments of the function of a gradient."""
    return gradient.program.data, gradient.given, np.zeros(gradient.program.devices, np.int32)


def run_gradients(gradients: list[Gradient]) -> list[dict[str, Any]]:
    """The gradients that JAX finds, and, if states are checked, the axes over which the cotangent of `of` varies. If JAX
    refuses the states of a program, it is run without the check."""
    lines: list[dict[str, Any]] = [{} for _ in gradients]
    for devices in sorted({gradient.program.devices for gradient in gradients}):
        chosen = [i for i, gradient in enumerate(gradients) if gradient.program.devices == devices]
        given = [_data(gradients[i]) for i in chosen]
        for i, arguments in zip(chosen, given):
            if gradients[i].program.states:
                continue
            try:
                jax.eval_shape(_mapped(gradients[i], {}), *arguments)
            except ValueError:
                gradients[i].typed = False
        states: list[dict[str, list[str]]] = [{} for _ in chosen]
        functions = []
        taken = []
        for i, state, arguments in zip(chosen, states, given):
            with_states = gradients[i].program.states is not None
            functions.append(_mapped_with_states(gradients[i]) if with_states else _mapped(gradients[i], state))
            taken.append(_distinct(gradients[i], arguments) if with_states else arguments)
        together = jax.jit(lambda arguments, functions=functions: [f(*a) for f, a in zip(functions, arguments)])
        for i, state, arguments, (found, _) in zip(chosen, states, given, together(taken)):
            lines[i] = {"found": {name: np.asarray(x) for name, x in found.items()}, "states": state}
            lines[i]["found"].setdefault(gradients[i].cotangent(), arguments[1])
        jax.clear_caches()
    return lines
