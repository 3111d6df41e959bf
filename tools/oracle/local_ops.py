"""All random local ops, by name."""

import random
from collections.abc import Callable

import elementwise
import movement
import reductions
import sources
from dtypes import Dtype
from maker import LocalMaker
from program import Op, Program, Value

_Make = Callable[[LocalMaker], Op | None]


def _named(make: Callable[[LocalMaker, str], Op | None], ops: tuple[str, ...]) -> dict[str, _Make]:
    """One maker for several ops."""

    def of(op: str) -> _Make:
        return lambda m: make(m, op)

    return {op: of(op) for op in ops}


_OF_VALUES: dict[str, _Make] = {
    **_named(elementwise.binary, elementwise.BINARY),
    **_named(elementwise.unary, elementwise.UNARY),
    **_named(elementwise.compare, elementwise.COMPARE),
    **_named(elementwise.part, elementwise.OF_COMPLEX),
    "conj": elementwise.conj,
    "complex": elementwise.complex_,
    "select_n": elementwise.select_n,
    "convert_element_type": elementwise.convert_element_type,
    **movement.MOVEMENT,
    "reduce_sum": reductions.reduce_sum,
    **_named(reductions.extreme, ("reduce_max", "reduce_min")),
    "dot_general": reductions.dot_general,
    "dot_product_attention": reductions.dot_product_attention,
}

LOCAL_OPS = tuple(_OF_VALUES) + tuple(sources.SOURCES)


def takes_values(op: str) -> bool:
    return op in _OF_VALUES


def accepts(op: str, dtype: Dtype) -> bool:
    """Whether the op has a form for the dtype, of its first operand or else of its result."""
    if op in ("axis_index", "axis_size"):
        return dtype.name == "s32"
    if op == "dot_product_attention":
        # XLA on the CPU lacks the sums of products in f32 that jax.nn asks for of f16 and bf16.
        return dtype.name in ("f32", "f64")
    if op in ("exp", "log", "sqrt", "rsqrt", "logistic", "sin", "cos"):
        return dtype.rounds
    if op in elementwise.OF_COMPLEX:
        return dtype.is_complex
    if op in ("conj", "complex"):
        return dtype.name in elementwise.TO_COMPLEX or (op == "conj" and dtype.is_complex)
    if op in ("max", "min", "lt", "le", "gt", "ge", "reduce_max", "reduce_min"):
        return not dtype.is_complex
    if op in ("add", "sub", "mul", "div", "neg", "reduce_sum", "scatter_add", "iota"):
        return dtype.kind != "pred"
    return True


def random_local_op(
    rng: random.Random, program: Program, op: str, x: Value | None, dtype: Dtype, kind: str
) -> Op | None:
    """Nothing where no such op of x is legal."""
    maker = LocalMaker(rng, program, x, kind) if x else LocalMaker(rng, program, Value("", dtype, (), "moved"), kind)
    if takes_values(op):
        return _OF_VALUES[op](maker)
    return sources.SOURCES[op](maker, dtype)
