"""Random programs of which one op is made wrong so that JAX refuses it: python3 tools/oracle/refused.py --programs N."""

import argparse
import json
import random
from collections import Counter
from collections.abc import Callable
from typing import Any

import oracle  # sets up JAX  # noqa: F401

import jax
import numpy as np
from jax.sharding import Mesh, PartitionSpec

from dtypes import DTYPES
from generator import Generator
from jax_program import run_ops
from program import Op, Program, Value
from refused_states import KINDS, Refusal, RefusingGenerator, boundary, future, loop
from typed import TypedGenerator

OpJson = dict[str, Any]
# Makes the op wrong; false where it has nothing to make wrong.
Spoil = Callable[[random.Random, Program, Op, OpJson], bool]


def _unknown_axis(rng: random.Random, program: Program, op: Op, json_op: OpJson) -> bool:
    if "axis_name" not in json_op:
        return False
    json_op["axis_name"] = "q"
    json_op.pop("axis_index_groups", None)
    return True


def _repeated_axis(rng: random.Random, program: Program, op: Op, json_op: OpJson) -> bool:
    axes = json_op.get("axis_name")
    if not axes or op.name in ("pargmax", "pargmin", "axis_index", "axis_size"):
        return False
    name = axes if isinstance(axes, str) else axes[0]
    json_op["axis_name"] = [name, name]
    return True


def _several_axes_of_pargmax(rng: random.Random, program: Program, op: Op, json_op: OpJson) -> bool:
    if op.name not in ("pargmax", "pargmin") or len(program.mesh) < 2:
        return False
    json_op["axis_name"] = list(program.mesh)[:2]
    return True


def _groups(rng: random.Random, program: Program, op: Op, json_op: OpJson) -> bool:
    """An index is missing, or there twice."""
    groups = json_op.get("axis_index_groups")
    if not groups:
        return False
    group = rng.choice(groups)
    if rng.random() < 0.5 and len(group) > 1:
        group[0] = group[1]
    else:
        group[rng.randrange(len(group))] += 100
    return True


def _perm(rng: random.Random, program: Program, op: Op, json_op: OpJson) -> bool:
    perm = json_op.get("perm")
    if op.name == "pshuffle" and perm and len(perm) > 1:
        perm[0] = perm[1]
        return True
    if op.name == "ppermute" and perm and len(perm) > 1:
        perm[0][rng.randrange(2)] = perm[1][rng.randrange(2)]
        return True
    return False


_DIMENSIONS = (
    "axis", "scatter_dimension", "split_axis", "concat_axis", "dimension",
)  # fmt: skip


def _dimension_beyond(rng: random.Random, program: Program, op: Op, json_op: OpJson) -> bool:
    """Over no axes an exchange is the identity whatever its dimensions, but JAX looks at that of pswapaxes."""
    given = [key for key in _DIMENSIONS if isinstance(json_op.get(key), int)]
    if not given or json_op.get("axis_name") == []:
        return False
    json_op[rng.choice(given)] += 7
    return True


def _axes_beyond(rng: random.Random, program: Program, op: Op, json_op: OpJson) -> bool:
    axes = json_op.get("axes")
    if not axes:
        return False
    axes[0] = axes[0] + 7 if rng.random() < 0.5 else axes[-1]
    return len(set(axes)) < len(axes) or axes[0] >= 7


def _not_divisible(rng: random.Random, program: Program, op: Op, json_op: OpJson) -> bool:
    """A tiled exchange along a dimension that the ranks do not divide, or an untiled one of another extent."""
    key = {"psum_scatter": "scatter_dimension", "all_to_all": "split_axis", "pswapaxes": "axis"}.get(op.name)
    if key is None or not json_op["axis_name"]:
        return False
    x = op.operands[0]
    others = [d for d in range(x.rank) if d != json_op[key]]
    if not others:
        return False
    json_op[key] = rng.choice(others)
    return True


def _another_operand(
    rng: random.Random, program: Program, op: Op, json_op: OpJson, fits: Callable[[Value, Value], bool]
) -> bool:
    """One of several operands replaced by an earlier value that `fits` its place: fits(value, operand)."""
    of = json_op.get("of")
    if not isinstance(of, list):
        return False
    at = rng.randrange(len(of))
    at_op = next(i for i, other in enumerate(program.ops) if other is op)
    before = list(program.data) + [r.name for other in program.ops[:at_op] for r in other.results]
    values = {v.name: v for v in program.values}
    others = [n for n in before if fits(values[n], op.operands[at])]
    if not others:
        return False
    of[at] = rng.choice(others)
    return True


def _another_dtype(rng: random.Random, program: Program, op: Op, json_op: OpJson) -> bool:
    """An operand of another dtype beside the others."""
    if op.name in ("optimization_barrier", "dynamic_slice", "take", "done"):
        return False
    return _another_operand(rng, program, op, json_op, lambda v, mine: v.dtype != mine.dtype and v.shape == mine.shape)


def _another_shape(rng: random.Random, program: Program, op: Op, json_op: OpJson) -> bool:
    """An operand of another shape beside the others."""
    if op.name in ("optimization_barrier", "take", "concatenate"):
        return False
    return _another_operand(
        rng, program, op, json_op, lambda v, mine: v.dtype == mine.dtype and v.rank > 0 and v.shape != mine.shape
    )


_LISTS = ("new_sizes", "permutation", "limit_indices", "strides", "slice_sizes", "sizes", "broadcast_dimensions", "shape")


def _list_of_parameter(rng: random.Random, program: Program, op: Op, json_op: OpJson) -> bool:
    """A number too many, too large, or twice."""
    given = [key for key in _LISTS if json_op.get(key)]
    if not given or (op.name in ("full", "iota") and given == ["shape"]):
        return False
    numbers = json_op[rng.choice(given)]
    if rng.random() < 0.5:
        numbers[rng.randrange(len(numbers))] += 9
    else:
        numbers.append(numbers[0])
    return True


def _order(rng: random.Random, program: Program, op: Op, json_op: OpJson) -> bool:
    """An op that needs an order, a number or a float, of a dtype that has none."""
    if op.name not in ("add", "exp", "sin", "psum", "all_gather", "max", "neg", "log", "reduce_sum", "psum_scatter"):
        return False
    kind = op.operands[0].dtype.kind
    swaps = {"pred": "neg", "signed": "exp", "unsigned": "sin", "complex": "reduce_max"}
    if kind not in swaps:
        return False
    name = json_op.get("id")
    of = json_op["of"] if isinstance(json_op["of"], str) else json_op["of"][0]
    json_op.clear()
    json_op.update(id=name, op=swaps[kind], of=of)
    if kind == "complex":
        json_op["axes"] = list(range(op.operands[0].rank))
    return True


def _contraction(rng: random.Random, program: Program, op: Op, json_op: OpJson) -> bool:
    numbers = json_op.get("dimension_numbers")
    if not numbers or not numbers[0][0]:
        return False
    numbers[0][0].pop()
    return True


SPOILS: dict[str, Spoil] = {
    "unknown axis": _unknown_axis,
    "repeated axis": _repeated_axis,
    "several axes of pargmax": _several_axes_of_pargmax,
    "groups": _groups,
    "perm": _perm,
    "dimension beyond": _dimension_beyond,
    "axes beyond": _axes_beyond,
    "not divisible": _not_divisible,
    "another dtype": _another_dtype,
    "another shape": _another_shape,
    "list": _list_of_parameter,
    "order": _order,
    "contraction": _contraction,
}


def _refusal(program: Program, ops: list[OpJson]) -> str | None:
    """The error of JAX as it traces the ops. Nothing if it accepts them."""
    mesh = Mesh(np.array(jax.devices()[: program.devices]).reshape(*program.mesh.values()), tuple(program.mesh))
    spec = PartitionSpec(tuple(program.mesh))

    def of_one_device(arguments: dict[str, Any]) -> Any:
        values = {name: x[0] for name, x in arguments.items()}
        found = run_ops(ops, values, started=False)
        return {name: x[None] for name, x in found.items() if name not in values}

    mapped = jax.shard_map(of_one_device, mesh=mesh, in_specs=spec, out_specs=spec, check_vma=False)
    try:
        jax.eval_shape(mapped, program.data)
    except Exception as error:  # noqa: BLE001  # of any kind
        return f"{type(error).__name__}: {error}".split("\n")[0][:160]
    return None


def refused(count: int, seed: int) -> list[dict[str, Any]]:
    generator, rng = Generator(seed, list(DTYPES), []), random.Random(seed)
    made: list[dict[str, Any]] = []
    of_kind: Counter[str] = Counter()
    while len(made) < count:
        program = generator.next()
        written = program.json_ops()
        at = {op.results[0].name: op for op in program.ops}
        choices = []
        for i, json_op in enumerate(written):
            name = json_op["id"] if isinstance(json_op["id"], str) else json_op["id"][0]
            op = at.get(name) or at.get(name.removesuffix("f"))
            if op and json_op["op"] != "done":
                choices.append((i, op))
        rng.shuffle(choices)
        for kind in sorted(SPOILS, key=lambda kind: of_kind[kind]):
            hit = next(
                (
                    (i, ops)
                    for i, op in choices
                    for ops in [json.loads(json.dumps(written))]
                    if SPOILS[kind](rng, program, op, ops[i])
                ),
                None,
            )
            if hit is None:
                continue
            i, ops = hit
            # Ops after the wrong one would only add to the message.
            says = _refusal(program, ops[: i + 1])
            if says is None or says.startswith("KeyError"):  # an id that no value has yet
                continue
            of_kind[kind] += 1
            types = {value.name: value for value in program.values}
            made.append(
                {
                    "mesh": program.mesh,
                    "arrays": {name: [types[name].dtype.name, types[name].shape] for name in program.data},
                    "program": ops[: i + 1],
                    "kind": kind,
                    "jax": says,
                }
            )
            break
    return made


def refused_for_states(of_a_kind: int, seed: int) -> list[dict[str, Any]]:
    """As many of each kind."""
    generator, rng = TypedGenerator(seed, list(DTYPES), []), random.Random(seed)
    refusing = RefusingGenerator(seed)
    found: dict[str, list[Refusal]] = {kind: [] for kind in KINDS}
    while any(len(refusals) < of_a_kind for refusals in found.values()):
        refusing.found.clear()
        refusing.next()
        few = any(len(found[kind]) < of_a_kind for kind in KINDS[-4:])  # of the next three
        others = [make(generator, rng) for make in (boundary, loop, future)] if few else []
        for refusal in [*refusing.found, *others]:
            if refusal is not None:
                found[refusal.kind].append(refusal)
    return [_line(refusal) for refusals in found.values() for refusal in refusals[:of_a_kind]]


def _line(refusal: Refusal) -> dict[str, Any]:
    program = refusal.program
    types = {value.name: value for value in program.values}
    assert program.states is not None
    line = {
        "mesh": program.mesh,
        "check_types": True,
        "arrays": {
            name: [types[name].dtype.name, types[name].shape, program.states[name].json()] for name in program.data
        },
        "program": refusal.ops,
        "kind": refusal.kind,
        "operands": refusal.operands,
        "jax": refusal.said.split("\n")[0][:160],
    }
    if refusal.outputs:
        line["outputs"] = refusal.outputs
    return line


def main() -> None:
    parser = argparse.ArgumentParser(prog="refused", description=__doc__)
    parser.add_argument("--programs", type=int, default=260)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--states", action="store_true", help="for states of values, boundaries, loops and futures")
    given = parser.parse_args()
    of_a_kind = given.programs // len(KINDS)
    lines = refused_for_states(of_a_kind, given.seed) if given.states else refused(given.programs, given.seed)
    for line in lines:
        print(json.dumps(line, separators=(",", ":")))


if __name__ == "__main__":
    main()
