"""Programs that JAX refuses for the states of values, for a boundary, a loop, or a future: the kinds that
refused.py --states writes. What is refused is the last op of a program, or its one output."""

import random
import re
from dataclasses import dataclass, replace
from typing import Any

import jax
from jax import lax
from jax.sharding import Mesh, PartitionSpec

import numpy as np

import avoided
from collectives import Form
from dtypes import DTYPES, Dtype
from generator import Generator
from jax_program import run_ops
from jax_states import zeros
from program import Op, Program, Value, type_text
from states import States
from typed import CASTS, TAKES, TypedGenerator, TypedProgram

OpJson = dict[str, Any]

# Texts of JAX, each with the kind of its error. Other texts are not errors of states.
_KINDS = (
    ("axes of several states", r"can only accept axis_name which corresponds to one of"),
    ("unreduced operand that would be cast to varying", r"pvary cannot accept args which are unreduced"),
    ("reduced operand that would be cast to varying", r"pvary cannot accept args which are reduced"),
    (
        "cast from another state",
        r"Unsupported pcast|pvary is a|preduced is a|preduced input|vary_unreduced_cast|reduced_vary_cast",
    ),
    ("sum of what is not unreduced", r"unreduced_psum|unreduced_reduce_scatter"),
    ("reduced gather of what does not vary", r"all_gather_reduced"),
    ("broadcast of what does not vary", r"must be applied to a device-varying"),
    ("unreduced operand of an op that is not linear", r"unreduced rule for"),
    ("unreduced operand beside another", r"unreduced"),
    ("reduced operand beside another", r"reduced"),
)


KINDS = (*(kind for kind, _ in _KINDS), "boundary", "loop", "done of a value", "future read as a value")


def kind_of(said: str) -> str | None:
    return next((kind for kind, pattern in _KINDS if re.search(pattern, said)), None)


@dataclass(frozen=True)
class Refusal:
    kind: str
    program: Program
    ops: list[OpJson]
    said: str
    operands: list[str]  # the types of those of the op, or of the output
    outputs: list[OpJson] | None = None


def _only(program: Program, ops: list[Op], last: tuple[Value, ...]) -> Program:
    """A program of these ops, and of the arguments that they and the last one read. It is a copy: where the generator
    goes back, it gives names again."""
    names = {x.name for op in ops for x in op.operands} | {x.name for x in last}
    kept = Program(program.mesh)
    kept.data = {name: data for name, data in program.data.items() if name in names}
    kept.values, kept.ops, kept.states = list(program.values), ops, dict(program.states or {})
    return kept


class RefusingGenerator(TypedGenerator):
    """Proposes ops over axes of any states, and keeps what JAX refuses for them."""

    def __init__(self, seed: int):
        super().__init__(seed, list(DTYPES), ["add", "mul", "max", "exp", "cos", "pbroadcast"])
        self.found: list[Refusal] = []

    def _over(self, program: TypedProgram, x: Value, takes: str) -> list[str]:
        right = super()._over(program, x, takes)
        return right if self.rng.random() < 0.5 else list(program.mesh)

    def _typed(
        self, program: TypedProgram, name: str, form: Form, x: Value | None, dtype: Dtype, kind: str
    ) -> Op | None:
        """JAX accepts some over axes of which one alone has the state, and preduced of what is unreduced
        (docs/ops.md, "Where JAX differs"): those are left out."""
        op = super()._typed(program, name, form, x, dtype, kind)
        if op is None:
            return None
        states = program.states[op.operands[0].name]
        along = {states.along(axis) for axis in avoided.axes_of(op)}
        if len(along) > 1 and name not in ("pcast", "all_gather_invariant"):
            return None
        return None if name == "preduced" and "unreduced" in along else op

    def _no_broadcast(self, program: TypedProgram, op: Op) -> None:
        try:
            lax.pbroadcast(program.traced[op.operands[0].name], tuple(avoided.axes_of(op)), op.parameters["source"])
        except Exception as error:  # noqa: BLE001  # of any kind
            self.refused(program, op, f"{type(error).__name__}: {error}")

    def refused(self, program: TypedProgram, op: Op, said: str) -> None:
        kind = kind_of(said)
        if kind is None or not avoided.refuses_rightly(op):
            return
        if kind == "reduced operand beside another":
            # A single operand stands beside a constant of JAX's own, as in pmean. If there are two errors, JAX may
            # tell the one and we the other.
            if len(op.operands) == 1 or any(program.states[x.name].unreduced for x in op.operands):
                return
        kept = _only(program, program.needed_for({operand.name for operand in op.operands}), op.operands)
        operands = [type_text(x, program.states[x.name]) for x in op.operands]
        self.found.append(Refusal(kind, kept, [*kept.json_ops(), replace(op, started=False).json()], said, operands))


def _traced(program: Program, run: Any) -> str | None:
    """The error of JAX as it traces run() of the program's values under shard_map. Nothing if it accepts it."""
    mesh = Mesh(np.array(jax.devices()[: program.devices]).reshape(*program.mesh.values()), tuple(program.mesh))

    def trace(x: Any) -> Any:
        assert program.states is not None
        values = {v.name: v for v in program.values}
        arguments = {
            name: zeros(values[name].shape, values[name].dtype.numpy, program.states[name], program.mesh)
            for name in program.data
        }
        run(run_ops(program.json_ops(), arguments, started=False))
        return x

    everywhere = PartitionSpec()
    try:
        jax.eval_shape(
            jax.shard_map(trace, mesh=mesh, in_specs=everywhere, out_specs=everywhere, check_vma=True), np.zeros(())
        )
    except Exception as error:  # noqa: BLE001  # of any kind
        return f"{type(error).__name__}: {error}"
    return None


def _only_varies(states: States) -> bool:
    return bool(states.varying) and not states.unreduced and not states.reduced


def boundary(generator: TypedGenerator, rng: random.Random) -> Refusal | None:
    """A value that varies over an axis that is not in the spec of its output."""
    program = generator.next()
    states = program.states
    values = [x for op in program.ops for x in op.results if x.rank and _only_varies(states[x.name])]
    if not values:
        return None
    value = rng.choice(values)
    axes = rng.sample(list(program.mesh), min(value.rank, len(program.mesh)))
    spec = [None if rng.random() < 0.5 else axis for axis in axes]
    maker = next(op for op in program.ops if value in op.results)
    kept = _only(program, [*program.needed_for({operand.name for operand in maker.operands}), maker], ())
    mesh = Mesh(np.array(jax.devices()[: kept.devices]).reshape(*kept.mesh.values()), tuple(kept.mesh))
    arguments = {x.name: x for x in kept.values if x.name in kept.data}

    def of_one_device() -> Any:
        given = {name: zeros(x.shape, x.dtype.numpy, states[name], kept.mesh) for name, x in arguments.items()}
        return run_ops(kept.json_ops(), given, started=False)[value.name]

    try:
        out = PartitionSpec(*spec)
        jax.eval_shape(jax.shard_map(of_one_device, mesh=mesh, in_specs=(), out_specs=out, check_vma=True))
    except ValueError as error:
        outputs = [{"id": value.name, "spec": spec}]
        type_of = type_text(value, states[value.name])
        return Refusal("boundary", kept, kept.json_ops(), f"ValueError: {error}", [type_of], outputs)
    return None


def loop(generator: TypedGenerator, rng: random.Random) -> Refusal | None:
    """A carry whose states are others after the body."""
    program = generator.next()
    fits = [
        op
        for op in program.ops
        if len(op.operands) == 1 == len(op.results)
        and (op.operands[0].dtype, op.operands[0].shape) == (op.results[0].dtype, op.results[0].shape)
        and program.states[op.operands[0].name] != program.states[op.results[0].name]
    ]
    if not fits:
        return None
    op = rng.choice(fits)
    (x,) = op.operands
    kept = _only(program, program.needed_for({operand.name for operand in op.operands}), op.operands)
    body = replace(op, started=False).json()

    def run(values: dict[str, Any]) -> None:
        lax.fori_loop(
            0, 2, lambda _, h: run_ops([body], {**values, x.name: h}, started=False)[body["id"]], values[x.name]
        )

    said = _traced(kept, run)
    if said is None:
        return None
    in_loop = {
        "id": "l", "op": "fori_loop", "lower": 0, "upper": 2, "index": "i", "carry": {"h": x.name},
        "body": [{**body, "of": "h"}], "yield": {"h": body["id"]},
    }  # fmt: skip
    types = [type_text(y, program.states[y.name]) for y in (x, op.results[0])]
    return Refusal("loop", kept, [*kept.json_ops(), in_loop], said, types)


# Ops that read a future as a value.
_READERS: tuple[OpJson, ...] = (
    {"op": "neg"}, {"op": "exp"}, {"op": "psum", "axis_name": "x"}, {"op": "pvary", "axis_name": "x"},
)  # fmt: skip


def future(generator: TypedGenerator, rng: random.Random) -> Refusal | None:
    """A value that is done, or a future that is read as a value."""
    program = generator.next()
    return _done_of_value(program, rng) if rng.random() < 0.5 else _future_as_value(program, rng)


def _done_of_value(program: TypedProgram, rng: random.Random) -> Refusal | None:
    maker = rng.choice(program.ops)
    value = rng.choice(maker.results)
    kept = _only(program, [*program.needed_for({operand.name for operand in maker.operands}), maker], ())
    said = _traced(kept, lambda found: found[value.name].done())
    last = {"id": "r", "op": "done", "of": value.name}
    operands = [type_text(value, program.states[value.name])]
    return Refusal("done of a value", kept, [*kept.json_ops(), last], said, operands) if said else None


def _future_as_value(program: TypedProgram, rng: random.Random) -> Refusal | None:
    started = [op for op in program.ops if op.started and _has_start(op)]
    if not started:
        return None
    op = rng.choice(started)
    (result,) = op.results
    kept = _only(program, program.needed_for({operand.name for operand in op.operands}), op.operands)
    last = {"id": "r", "of": result.name + "f", **rng.choice(_READERS)}
    said = _traced(kept, lambda found: run_ops([op.json(), last], found))
    operands = ["future " + type_text(result, program.states[result.name])]
    ops = [*kept.json_ops(), op.json(), last]
    return Refusal("future read as a value", kept, ops, said, operands) if said else None


def _has_start(op: Op) -> bool:
    parameters = {key: given for key, given in op.parameters.items() if key != "axis_name"}
    return avoided.has_start(op.name, tuple(avoided.axes_of(op)), parameters, op.operands[0].elements)
