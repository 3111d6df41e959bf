"""What is known of a result, from what is known of the operands."""

from dataclasses import replace
from typing import Any

import avoided
from dtypes import Dtype
from program import Value, loosest


def of_op(result: Value, op: str, operands: list[Value]) -> Value:
    """With what follows from the op alone."""
    return replace(
        result, sliced=avoided.is_sliced(op, operands), inverted=avoided.is_inverted(op, operands)
    )


def moved(name: str, operands: list[Value], shape: tuple[int, ...], zeros: bool = False) -> Value:
    """Elements of the operands, of one dtype, in other places; with `zeros` beside them."""
    kept = [] if avoided.keeps_payload(operands[0].dtype) else ["exact"]
    return Value(
        name,
        operands[0].dtype,
        shape,
        loosest([x.comparison for x in operands] + kept),
        magnitude=max(x.magnitude for x in operands),
        integral=all(x.integral for x in operands),
        nonzero=all(x.nonzero for x in operands) and not zeros,
        positive=all(x.positive for x in operands) and not zeros,
        nan=any(x.nan for x in operands),
        minus_zero=any(x.minus_zero for x in operands),
        tiny=any(x.tiny for x in operands),
        product=any(x.product for x in operands),
        rounded=any(x.rounded for x in operands),
        constant=any(x.constant for x in operands),
    )


def exact(name: str, dtype: Dtype, shape: tuple[int, ...], operands: list[Value], **known: Any) -> Value | None:
    """A result that is made in one way only; nothing where operands may differ between two runs."""
    if loosest([x.comparison for x in operands]) in ("fold", "bound"):
        return None
    constant = any(x.constant for x in operands)  # a product with zero is one too
    return Value(name, dtype, shape, "exact", constant=constant, **known)


def extremum(name: str, operands: list[Value], shape: tuple[int, ...], collective: bool = False) -> Value | None:
    """The result of a maximum or minimum, which has elements of the operands if all floats have one order. For other floats a
    collective has rules of the CPU."""
    if operands[0].dtype.is_complex:
        return None
    result = moved(name, operands, shape)
    if avoided.extremum_of(result):
        return replace(result, comparison=loosest(["exact", result.comparison]))
    if not collective:
        return None
    return replace(result, comparison=loosest(["fold", result.comparison]), cpu=True)


def folded(name: str, x: Value, shape: tuple[int, ...]) -> Value:
    """A sum over a group of floats of which some are special, by the rules of the CPU."""
    return Value(
        name, x.dtype, shape, loosest(["fold", x.comparison]), float("inf"), nan=True, minus_zero=True, tiny=True,
        rounded=True, cpu=True,
    )  # fmt: skip


def rounded(
    name: str,
    operands: list[Value],
    shape: tuple[int, ...],
    magnitude: float,
    *,
    dtype: Dtype | None = None,
    integral: bool = False,
    nonzero: bool = False,
    product: bool = False,
    minus_zero: bool = False,
    nan: bool = False,
    collective: bool = False,
    certain: bool = True,
) -> Value | None:
    """The result of an op on floats or complex numbers that rounds. If it is `certain`, the CPU rounds by known rules. Nothing if
    a result could overflow or an operand be subnormal. `integral` says that it makes integers of integers."""
    dtype = dtype or operands[0].dtype
    # XLA adds no zeros, so a sum with a constant may have another sign of zero.
    constants = any(x.constant for x in operands)
    facts = Value(
        name,
        dtype,
        shape,
        loosest([x.comparison for x in operands] + ["fold"]),
        magnitude=magnitude,
        nonzero=nonzero,
        nan=nan or any(x.nan for x in operands),
        minus_zero=minus_zero,
        product=product,
        rounded=True,
        constant=constants and (dtype.is_complex or all(x.constant for x in operands)),
    )
    if magnitude > dtype.largest or any(x.tiny for x in operands):
        return None
    integers = integral and all(x.integral for x in operands)
    unsigned_zero = not collective or not any(x.minus_zero for x in operands)
    if integers and magnitude <= dtype.integers and not facts.nan and unsigned_zero and not constants:
        if loosest([x.comparison for x in operands]) in ("moved", "exact"):
            return replace(facts, comparison="exact", integral=True, rounded=False)
    # Beside other ops XLA leaves out roundings to the narrow dtypes, and computes in f32 or f16.
    narrow = dtype.bits < 32 and (any(x.rounded for x in operands) or (dtype.bits == 8 and not collective))
    if narrow or constants or not certain:
        return replace(facts, comparison="bound", integral=integers)
    return replace(facts, integral=integers)
