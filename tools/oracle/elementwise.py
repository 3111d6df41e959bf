"""Random elementwise ops."""

import math
from dataclasses import replace

import avoided
import facts
from dtypes import DTYPES
from maker import LocalMaker
from program import Op, Value, loosest

BINARY = ("add", "sub", "mul", "div", "max", "min")
UNARY = ("neg", "exp", "log", "sqrt", "rsqrt", "logistic", "sin", "cos")
OF_COMPLEX = ("real", "imag")
TO_COMPLEX = {"f32": "c64", "f64": "c128"}
COMPARE = ("eq", "ne", "lt", "le", "gt", "ge")
# Arguments of exp and the like, and those of sin and cos, are not large.
MOST_EXPONENT = 8.0


def _arithmetic(m: LocalMaker, op: str, x: Value, y: Value) -> Value | None:
    shape = x.shape if x.rank else y.shape
    if not x.dtype.rounds:
        if op == "div" and not avoided.divides_integers(m.program, y):
            return None
        if op == "sub" and avoided.is_constant(x, y):
            return None
        return facts.exact(m.name(), x.dtype, shape, [x, y])
    nan = x.nan or y.nan
    if op in ("add", "sub"):
        # XLA may join a product and a sum to one operation with one rounding.
        return facts.rounded(
            m.name(), [x, y], shape, x.magnitude + y.magnitude, integral=True, nan=nan,
            minus_zero=x.minus_zero or y.minus_zero, certain=not (x.product or y.product),
        )  # fmt: skip
    if op == "mul":
        # XLA multiplies the factors of two means first.
        return facts.rounded(
            m.name(), [x, y], shape, x.magnitude * y.magnitude, integral=True, nan=nan, minus_zero=True, product=True,
            nonzero=x.nonzero and y.nonzero, certain=not (x.product or y.product or x.dtype.is_complex),
        )  # fmt: skip
    if x.dtype.is_complex and not y.nonzero:
        return None  # infinities and NaNs differ from part to part
    # A zero below gives infinities and NaNs; a number that is not zero is at least 1/16.
    least = 2.0**-4
    exact_divisor = y.nonzero and y.comparison in ("moved", "exact")
    return facts.rounded(
        m.name(), [x, y], shape, x.magnitude / least if exact_divisor else x.magnitude, nan=nan or not exact_divisor,
        minus_zero=True, product=True,
        certain=avoided.divides(x, y) and not (x.product or y.product or x.dtype.is_complex),
    )  # fmt: skip


def binary(m: LocalMaker, op: str) -> Op | None:
    x = m.x
    if op in ("add", "sub", "mul", "div") and x.dtype.kind == "pred":
        return None
    scalar = m.rng.random() < 0.2
    y = m.other(x.dtype, () if scalar else x.shape)
    operands = [x, y] if m.rng.random() < 0.5 else [y, x]
    if op in ("max", "min"):
        shape = operands[0].shape if operands[0].rank else operands[1].shape
        result = facts.extremum(m.name(), operands, shape)
    else:
        result = _arithmetic(m, op, *operands)
    return m.op(op, operands, result)


def unary(m: LocalMaker, op: str) -> Op | None:
    x = m.x
    if op == "neg":
        if x.dtype.kind == "pred":
            return None
        if not x.dtype.rounds:
            return m.op(op, [x], facts.exact(m.name(), x.dtype, x.shape, [x]))
        # We make all NaNs one, and XLA changes their sign.
        comparison = loosest(["exact", x.comparison])
        moved = facts.moved(m.name(), [x], x.shape)
        return m.op(op, [x], replace(moved, positive=False, minus_zero=True, comparison=comparison))
    if not x.dtype.rounds or x.magnitude > MOST_EXPONENT or x.tiny or x.nan:
        return None
    return m.op(op, [x], _transcendental(m, op, x))


def _transcendental(m: LocalMaker, op: str, x: Value) -> Value | None:
    if x.comparison not in ("moved", "exact") and op in ("log", "rsqrt", "sqrt"):
        return None  # near zero the result of a rounded operand may be anything
    if x.dtype.is_complex and op in ("log", "rsqrt", "sqrt") and not avoided.function_of_complex(x):
        return None
    grows = op == "exp" or (x.dtype.is_complex and op in ("sin", "cos"))
    magnitude = math.exp(x.magnitude) if grows else MOST_EXPONENT
    # Complex operands of these are not zero.
    nan = x.nan or (op in ("log", "rsqrt", "sqrt") and not (x.positive or x.dtype.is_complex))
    # Near the ends of their range exp and logistic would be subnormal in f8.
    if x.dtype.bits == 8 and op in ("exp", "logistic") and x.magnitude > 2:
        return None
    return facts.rounded(
        m.name(), [x], x.shape, magnitude, nan=nan, minus_zero=True,
        certain=op == "sqrt" and not x.dtype.is_complex,
        product=op in ("exp", "rsqrt"),
    )  # fmt: skip


def compare(m: LocalMaker, op: str) -> Op | None:
    x = m.x
    y = m.other(x.dtype, x.shape)
    if x.dtype.is_complex and op not in ("eq", "ne"):
        return None
    if not (avoided.arithmetic_on(x) and avoided.arithmetic_on(y)) or avoided.is_constant(x, y):
        return None
    return m.op(op, [x, y], facts.exact(m.name(), DTYPES["pred"], x.shape, [x, y]))


def part(m: LocalMaker, op: str) -> Op | None:
    x = m.x
    if not x.dtype.is_complex:
        return None
    # A real part of a number that is not zero may be.
    moved = replace(facts.moved(m.name(), [x], x.shape), dtype=x.dtype.part, nonzero=x.nonzero and x.name in m.program.data)
    return m.op(op, [x], moved)


def conj(m: LocalMaker) -> Op | None:
    x = m.x
    name = x.dtype.name if x.dtype.is_complex else TO_COMPLEX.get(x.dtype.name)
    if name is None:
        return None
    # We make all NaNs one.
    comparison = loosest(["exact", x.comparison])
    moved = facts.moved(m.name(), [x], x.shape)
    return m.op("conj", [x], replace(moved, dtype=DTYPES[name], positive=False, minus_zero=True, comparison=comparison))


def complex_(m: LocalMaker) -> Op | None:
    x = m.x
    if x.dtype.name not in TO_COMPLEX:
        return None
    y = m.other(x.dtype, x.shape)
    operands = [x, y] if m.rng.random() < 0.5 else [y, x]
    moved = facts.moved(m.name(), operands, x.shape)
    to = DTYPES[TO_COMPLEX[x.dtype.name]]
    magnitude = 2 * moved.magnitude
    return m.op("complex", operands, replace(moved, dtype=to, magnitude=magnitude)) if magnitude <= to.largest else None


def select_n(m: LocalMaker) -> Op | None:
    x = m.x
    count = m.rng.randint(1, 3)
    cases = [x] + [m.other(x.dtype, x.shape) for _ in range(count - 1)]
    if count == 3 or m.rng.random() < 0.3:
        which = m.constant_argument("s32", m.which_shape(), lambda: m.rng.randint(0, count - 1))
    else:
        which = m.constant_argument("pred", m.which_shape(), lambda: m.rng.randint(0, min(1, count - 1)))
    m.rng.shuffle(cases)
    return m.op("select_n", [which, *cases], facts.moved(m.name(), cases, x.shape))


def convert_element_type(m: LocalMaker) -> Op | None:
    x = m.x
    to = DTYPES[m.rng.choice(list(DTYPES))]
    name = m.name()
    if to == x.dtype:
        result: Value | None = facts.moved(name, [x], x.shape)
    elif not x.dtype.rounds and not to.rounds:
        result = facts.exact(name, to, x.shape, [x])
    elif not to.rounds:
        if not avoided.converts_to_integer(x):
            return None
        result = facts.exact(name, to, x.shape, [x])
    elif not x.dtype.rounds:
        most = 1.0 if x.dtype.kind == "pred" else 2.0 ** x.dtype.bits
        if most > to.largest:
            return None
        base = facts.exact(name, to, x.shape, [x], magnitude=most, integral=True)
        result = base if base is None or most <= to.integers else replace(base, comparison="fold", rounded=True)
    else:
        if not avoided.arithmetic_on(x) or x.magnitude > to.largest:
            return None
        wider = to.part.bits > x.dtype.part.bits and not (x.dtype.name == "bf16" and to.name == "f16")
        result = replace(facts.moved(name, [x], x.shape), dtype=to)
        if to.is_complex and not x.dtype.is_complex:
            result = replace(result, positive=False)  # the imaginary part is zero
        if x.dtype.is_complex and not to.is_complex:
            result = replace(result, nonzero=False)
        if wider:
            # XLA may leave out the rounding to the narrow dtype, before.
            loose = "bound" if x.rounded else "exact"
        else:
            loose = "exact" if x.integral and x.magnitude <= to.integers else "fold"
            result = replace(result, rounded=loose == "fold" or x.rounded, integral=loose == "exact")
        result = replace(result, comparison=loosest([x.comparison, loose]))
    return m.op("convert_element_type", [x], result, {"new_dtype": to.name})
