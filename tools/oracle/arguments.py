"""Random elements of arguments: small integers, fractions, whole ranges, special floats."""

import random
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

import avoided
from dtypes import Dtype
from program import Program, Value


def _small(rng: random.Random, dtype: Dtype) -> int:
    if dtype.kind == "pred":
        return rng.randint(0, 1)
    if dtype.kind == "unsigned":
        return rng.randint(0, 8)
    return rng.randint(-1, 1) if dtype.name.startswith("f8") else rng.randint(-4, 4)


def _fraction(rng: random.Random, positive: bool) -> float:
    size = rng.uniform(2.0**-4, 1)
    return size if positive else size * rng.choice((-1, 1))


def _complex_argument(
    rng: random.Random, program: Program, dtype: Dtype, shape: tuple[int, ...], kind: str
) -> Value:
    """Both parts are arguments of this kind."""
    scratch = Program(program.mesh)
    facts, _ = (new_argument(rng, scratch, dtype.part, shape, kind) for _ in range(2))
    re, im = scratch.data.values()
    joined = np.stack([re, im], axis=-1).view(dtype.numpy).reshape(re.shape)
    magnitude = min(2 * facts.magnitude, dtype.largest)
    return program.add_argument(replace(facts, name=program.next_name(), dtype=dtype, magnitude=magnitude), joined)


def _special_bits(rng: random.Random, dtype: Dtype) -> int:
    """NaNs with any payload, infinities, zeros of both signs, subnormals: bits that are often equal."""
    sign = rng.getrandbits(1) << (dtype.bits - 1)
    mantissa = {"f16": 10, "bf16": 7, "f32": 23, "f64": 52, "f8e4m3fn": 3, "f8e5m2": 2}[dtype.name]
    exponent = ((1 << (dtype.bits - 1)) - 1) >> mantissa << mantissa
    return sign | rng.choice(
        (
            0,
            rng.randint(1, (1 << mantissa) - 1) if avoided.has_subnormals(dtype) else exponent,
            exponent,  # infinity, or of f8e4m3fn 256
            exponent | rng.randint(1, (1 << mantissa) - 1),  # NaN, or of f8e4m3fn up to NaN
            rng.getrandbits(dtype.bits - 1) | (0 if avoided.has_subnormals(dtype) else 1 << mantissa),
        )
    )


def _array(dtype: Dtype, elements: Sequence[float], shape: tuple[int, ...]) -> np.ndarray:
    return np.array(elements, dtype=object).astype(np.float64 if dtype.is_float else object).astype(
        dtype.numpy
    ).reshape(shape)


def new_argument(
    rng: random.Random, program: Program, dtype: Dtype, shape: tuple[int, ...], kind: str
) -> Value:
    """`kind` is "small", "fractions", "positive" or "special"; integers that are not small take any
    bits."""
    if dtype.is_complex:
        return _complex_argument(rng, program, dtype, shape, kind)
    whole = (program.devices, *shape)
    count = int(np.prod(whole, dtype=np.int64))
    name = program.next_name()
    if not dtype.is_float:
        if kind == "small" or dtype.kind == "pred":
            elements = [_small(rng, dtype) for _ in range(count)]
        else:
            low = -(1 << (dtype.bits - 1)) if dtype.kind == "signed" else 0
            elements = [low + rng.getrandbits(dtype.bits) for _ in range(count)]
        return program.add_argument(Value(name, dtype, shape, "moved"), _array(dtype, elements, whole))
    if kind == "special":
        bits = np.array([_special_bits(rng, dtype) for _ in range(count)], dtype=f"u{dtype.bits // 8}")
        value = Value(name, dtype, shape, "moved", dtype.largest, nan=True, minus_zero=True, tiny=True)
        return program.add_argument(value, bits.view(dtype.numpy).reshape(whole))
    if kind == "small":
        elements = [_small(rng, dtype) for _ in range(count)]
        largest = 1 if dtype.name.startswith("f8") else 4
        value = Value(name, dtype, shape, "moved", largest, integral=True)
        return program.add_argument(value, _array(dtype, elements, whole))
    fractions = [_fraction(rng, kind == "positive") for _ in range(count)]
    value = Value(name, dtype, shape, "moved", 1, nonzero=True, positive=kind == "positive")
    return program.add_argument(value, _array(dtype, fractions, whole))
