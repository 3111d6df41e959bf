"""Random inputs of mpmd_map, and makers of the ops in random bodies: by name, an op's parameters, its operands, and
what is known of its result."""

import math
import random
from typing import Any

import numpy as np

from dtypes import DTYPES, Dtype, from_hex
from mpmd_map_programs import BodyMaker, Facts, Json, Mesh, Ref, View

_OPS = ("copy", "add", "sub", "mul", "max", "min", "neg", "convert_element_type", "reduce_sum", "dot_general",
        "reshape", "transpose", "full", "axis_index", "axis_size")  # fmt: skip
_MOST = 2.0**14  # no float grows beyond it, so none overflows

Made = tuple[Json, list[View], Dtype, list[int], Facts]


def _fits(dtype: Dtype, facts: Facts) -> Facts | None:
    """The facts, where the dtype may round. Nothing where it may overflow."""
    if not dtype.is_float:
        return Facts()
    if facts.bound > _MOST:
        return None
    return Facts(facts.whole and facts.bound <= dtype.integers, facts.bound, facts.zero, facts.negative_zero)


def _binary(rng: random.Random, maker: BodyMaker, op: str, a: View) -> Made | None:
    b = rng.choice([v for v in maker.readable() if v.dtype is a.dtype and v.shape == a.shape])
    x, y = a.facts, b.facts
    negative_zero = x.negative_zero or y.negative_zero
    if op in ("max", "min"):
        if negative_zero:  # which zero is the larger is XLA's choice
            return None
        facts = x.either(y)
    elif op == "mul":
        zero = x.zero or y.zero
        facts = Facts(x.whole and y.whole, x.bound * y.bound, zero, zero)
    else:
        facts = Facts(x.whole and y.whole, x.bound + y.bound, True, negative_zero)
    fits = _fits(a.dtype, facts)
    return ({"op": op}, [a, b], a.dtype, a.shape, fits) if fits else None


def _convert(rng: random.Random, a: View) -> Made | None:
    to = DTYPES[rng.choice(("s32", "f32", "bf16", "f16", "s8", "u32", "s16"))]
    facts = a.facts
    if a.dtype.is_float and to.is_integer:
        # Where the number is not there, XLA says nothing.
        if to.kind == "unsigned" or facts.bound >= 2.0 ** (to.bits - 1):
            return None
        facts = Facts()
    elif a.dtype.is_integer and to.is_float:
        largest = 2.0**a.dtype.bits
        if largest > 2.0**8 and to.name != "f32":  # XLA rounds to f32 first
            return None
        facts = Facts(largest <= to.integers, min(largest, _MOST) if largest <= _MOST else largest, True)
    fits = _fits(to, facts) if to.is_float else Facts()
    return ({"op": "convert_element_type", "new_dtype": to.name}, [a], to, a.shape, fits) if fits else None


def _reduce_sum(rng: random.Random, a: View) -> Made | None:
    rank = len(a.shape)
    if rank < 2 or a.facts.negative_zero:
        return None
    axes = sorted(rng.sample(range(rank), rng.randint(1, rank - 1)))
    shape = [size for d, size in enumerate(a.shape) if d not in axes]
    bound = a.facts.bound * math.prod(a.shape[d] for d in axes)
    if a.dtype.is_float and not (a.facts.whole and bound <= a.dtype.integers):
        return None
    facts = Facts(True, bound, True) if a.dtype.is_float else Facts()
    return {"op": "reduce_sum", "axes": axes}, [a], a.dtype, shape, facts


def _dot_general(rng: random.Random, maker: BodyMaker, a: View) -> Made | None:
    if a.dtype.name not in ("s32", "f32", "bf16", "f16") or len(a.shape) < 2:
        return None
    choices = [
        (b, i, j)
        for b in maker.readable()
        if b.dtype is a.dtype
        for i, size in enumerate(a.shape)
        for j, other in enumerate(b.shape)
        if size == other and len(a.shape) + len(b.shape) - 2 in (1, 2, 3)
    ]
    if not choices:
        return None
    b, i, j = rng.choice(choices)
    bound = a.facts.bound * b.facts.bound * a.shape[i]
    if a.dtype.is_float:
        whole = a.facts.whole and b.facts.whole and bound <= a.dtype.integers
        if not whole or a.facts.zero or b.facts.zero:
            return None
    shape = [s for d, s in enumerate(a.shape) if d != i] + [s for d, s in enumerate(b.shape) if d != j]
    facts = Facts(True, bound, True) if a.dtype.is_float else Facts()
    return {"op": "dot_general", "dimension_numbers": [[[i], [j]], [[], []]]}, [a, b], a.dtype, shape, facts


def _reshape(rng: random.Random, a: View) -> Made:
    left, shape = math.prod(a.shape), []
    while left > 1 and len(shape) < 2:
        shape.append(rng.choice([size for size in range(1, left + 1) if left % size == 0]))
        left //= shape[-1]
    shape.append(left)
    return {"op": "reshape", "new_sizes": shape}, [a], a.dtype, shape, a.facts


def make(rng: random.Random, maker: BodyMaker, op: str) -> Made | None:
    """An op of this name. Nothing where there is none of which all results are the same."""
    views = maker.readable()
    a = rng.choice(views)
    if op == "full":
        dtype = DTYPES[rng.choice(("s32", "f32", a.dtype.name))]
        value: Any = rng.randint(1, 5) if dtype.is_integer else rng.choice((1, 2, -3, 4))
        shape = a.shape if rng.random() < 0.7 else [rng.randint(1, 4)]
        facts = Facts(True, 4, False) if dtype.is_float else Facts()
        return {"op": "full", "shape": shape, "fill_value": value, "dtype": dtype.name}, [], dtype, shape, facts
    if op in ("axis_index", "axis_size"):
        dtype = DTYPES[rng.choice(("s32", "s32", a.dtype.name if a.dtype.is_integer else "s32"))]
        return {"op": op, "axis_name": rng.choice(list(maker.mesh.axes))}, [], dtype, a.shape, Facts()
    if op == "copy":
        return {"op": op}, [a], a.dtype, a.shape, a.facts
    if op == "neg":
        facts = Facts(a.facts.whole, a.facts.bound, a.facts.zero, a.facts.zero)
        return {"op": op}, [a], a.dtype, a.shape, facts
    if op == "convert_element_type":
        return _convert(rng, a)
    if op == "reduce_sum":
        return _reduce_sum(rng, a)
    if op == "dot_general":
        return _dot_general(rng, maker, a)
    if op == "reshape":
        return _reshape(rng, a)
    if op == "transpose":
        order = rng.sample(range(len(a.shape)), len(a.shape))
        shape = [a.shape[d] for d in order]
        return {"op": op, "permutation": order}, [a], a.dtype, shape, a.facts
    return _binary(rng, maker, op, a)


def elements(rng: random.Random, dtype: Dtype, shape: list[int]) -> tuple[np.ndarray, Facts]:
    """Integers of the whole range, and floats that are small whole numbers or fractions, none of them 0."""
    count = int(np.prod(shape))
    if dtype.is_integer:
        bits = [rng.getrandbits(dtype.bits) for _ in range(count)]
        return from_hex("".join(f"{each:0{dtype.bits // 4}x}" for each in bits), dtype).reshape(shape), Facts()
    whole = rng.random() < 0.5
    numbers = [rng.choice((-1, 1)) * (rng.randint(1, 4) if whole else rng.uniform(1 / 16, 1)) for _ in range(count)]
    return np.array(numbers).astype(dtype.numpy).reshape(shape), Facts(whole, 4 if whole else 1, False)


def random_inputs(rng: random.Random, mesh: Mesh) -> tuple[list[Ref], list[np.ndarray]]:
    first = DTYPES[rng.choice(("s32", "f32", "bf16", "s32", "f32", "f16", "s8", "u32"))]
    refs, data = [], []
    for i in range(rng.randint(1, 3)):
        dtype = first if rng.random() < 0.75 else DTYPES[rng.choice(("s32", "f32", "bf16"))]
        shape = [rng.randint(1, 4) for _ in range(rng.choice((1, 2, 2, 3)))]
        if refs and rng.random() < 0.5:
            shape = list(refs[-1].shape)
        if mesh.instances > 1 and len(shape) > 1 and rng.random() < 0.8:
            shape[0] = mesh.instances + rng.randint(0, 1)
        x, facts = elements(rng, dtype, shape)
        refs.append(Ref(f"in{i}", dtype, shape, facts, "in", {None}))
        data.append(x)
    return refs, data


def fill(rng: random.Random, maker: BodyMaker, ops: int, outputs: int) -> None:
    """The body: ops, then what writes the outputs that are left."""
    for _ in range(20 * ops):
        if len(maker.body) >= ops:
            break
        made = make(rng, maker, rng.choice(_OPS))
        if made and 0 < np.prod(made[3]) <= 64:
            op, operands, dtype, shape, facts = made
            if to := maker.target(dtype, shape):
                maker.emit(op, operands, facts, to)
    if maker.alias and not maker.shared:
        own = [v for v in maker.writable() if v.ref is maker.outs[0]]
        to = rng.choice(own)
        operand = rng.choice([v for v in maker.readable() if v.dtype is to.dtype and v.shape == to.shape])
        maker.emit({"op": "neg"}, [operand], Facts(operand.facts.whole, operand.facts.bound, True, True), to)
    while len(maker.outs) < outputs:
        views = [v for v in maker.readable() if len(v.shape) < 3]
        made_here = [v for v in views if v.ref in maker.scratch]
        maker.output(rng.choice(made_here or views))
