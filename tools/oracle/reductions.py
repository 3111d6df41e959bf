"""Random reductions along dimensions, and products."""

from dataclasses import replace

import facts
from dtypes import DTYPES
from maker import LocalMaker
from program import Op, Value


def _axes(m: LocalMaker) -> tuple[list[int], tuple[int, ...], int]:
    axes = m.rng.sample(range(m.x.rank), m.rng.randint(min(1, m.x.rank), m.x.rank))
    kept = tuple(extent for d, extent in enumerate(m.x.shape) if d not in axes)
    terms = 1
    for d in axes:
        terms *= m.x.shape[d]
    return axes, kept, terms


def _of_terms(result: Value | None, terms: int) -> Value | None:
    """The result of a sum of so many terms. XLA makes a constant of a sum without terms."""
    return replace(result, constant=True) if result and terms == 0 else result


def reduce_sum(m: LocalMaker) -> Op | None:
    x = m.x
    if x.dtype.kind == "pred":
        return None
    axes, shape, terms = _axes(m)
    result: Value | None
    if not x.dtype.rounds:
        result = facts.exact(m.name(), x.dtype, shape, [x])
    else:
        # XLA sums in an order of its own, and may join the sum with a product.
        result = facts.rounded(
            m.name(), [x], shape, x.magnitude * max(terms, 1), integral=True, collective=True, certain=False
        )
    return m.op("reduce_sum", [x], _of_terms(result, terms), {"axes": axes})


def extreme(m: LocalMaker, op: str) -> Op | None:
    axes, shape, terms = _axes(m)
    if terms == 0:
        return None
    return m.op(op, [m.x], facts.extremum(m.name(), [m.x], shape), {"axes": axes})


def dot_general(m: LocalMaker) -> Op | None:
    x = m.x
    batch = 1 if x.rank >= 2 and m.rng.random() < 0.4 else 0
    dimensions = m.rng.sample(range(x.rank), x.rank)
    batches, rest = dimensions[:batch], dimensions[batch:]
    contracted = rest[: m.rng.randint(0, min(2, len(rest)))]
    free = [m.rng.randint(1, 3) for _ in range(m.rng.randint(0, 1))]
    # The other operand has its dimensions in the order batch, contracted, free.
    y = m.other(x.dtype, tuple(x.shape[d] for d in batches + contracted) + tuple(free))
    numbers = [
        [contracted, list(range(batch, batch + len(contracted)))],
        [batches, list(range(batch))],
    ]
    left = [extent for d, extent in enumerate(x.shape) if d not in batches + contracted]
    shape = tuple([x.shape[d] for d in batches] + left + free)
    parameters: dict[str, object] = {"dimension_numbers": numbers}
    dtype = x.dtype
    wider = {"s8": "s32", "s16": "s32", "u8": "u32", "f16": "f32", "bf16": "f32", "c64": "c128"}
    if dtype.name in wider and m.rng.random() < 0.3:
        dtype = DTYPES[wider[dtype.name]]
        parameters["preferred_element_type"] = dtype.name
    terms = 1
    for d in contracted:
        terms *= x.shape[d]
    result: Value | None
    if not x.dtype.rounds:
        result = facts.exact(m.name(), dtype, shape, [x, y])
    elif x.nan or y.nan:
        return None
    else:
        # A product of which nothing is summed keeps its sign of zero in XLA.
        magnitude = x.magnitude * y.magnitude * max(terms, 1)
        result = facts.rounded(
            m.name(), [x, y], shape, magnitude, dtype=dtype, product=True, minus_zero=True, certain=False,
        )  # fmt: skip
    return m.op("dot_general", [x, y], _of_terms(result, terms), parameters)


def dot_product_attention(m: LocalMaker) -> Op | None:
    """Attention with x as its query where it fits: jax.nn takes one dimension of a batch or none."""
    query = m.x
    if not 3 <= query.rank <= 4:
        query = m.other(m.x.dtype, (*([2] if m.rng.random() < 0.5 else []), m.rng.randint(1, 3), m.rng.randint(1, 2), 2))
    if query.elements == 0:
        return None
    heads, depth = query.shape[-2:]
    key_heads = m.rng.choice([k for k in range(1, heads + 1) if heads % k == 0])
    shape = (*query.shape[:-3], m.rng.randint(1, 3), key_heads, depth)
    key, value = m.other(query.dtype, shape), m.other(query.dtype, shape)
    if query.nan or key.nan or value.nan:
        return None
    parameters: dict[str, object] = {"is_causal": True} if m.rng.random() < 0.5 else {}
    if m.rng.random() < 0.5:
        parameters["scale"] = m.rng.choice([0.5, 1, 3])
    result = facts.rounded(
        m.name(), [query, key, value], query.shape, value.magnitude, product=True, minus_zero=True, certain=False,
    )  # fmt: skip
    return m.op("dot_product_attention", [query, key, value], result, parameters)
