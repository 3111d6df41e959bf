"""Random local ops that move elements."""

import math
from dataclasses import replace

import avoided
import facts
from arguments import new_argument
from maker import LocalMaker
from program import Op, Value, loosest


def reshape(m: LocalMaker) -> Op | None:
    elements = m.x.elements
    sizes: list[int] = []
    for _ in range(m.rng.randint(0, 3)):
        if elements == 0:
            sizes.append(m.rng.randint(0, 2))
            continue
        factor = m.rng.choice([d for d in range(1, elements + 1) if elements % d == 0])
        sizes.append(factor)
        elements //= factor
    if elements != 1:
        sizes.append(elements)
    m.rng.shuffle(sizes)
    return m.op("reshape", [m.x], facts.moved(m.name(), [m.x], tuple(sizes)), {"new_sizes": sizes})


def transpose(m: LocalMaker) -> Op | None:
    permutation = m.rng.sample(range(m.x.rank), m.x.rank)
    shape = tuple(m.x.shape[d] for d in permutation)
    return m.op("transpose", [m.x], facts.moved(m.name(), [m.x], shape), {"permutation": permutation})


def slice_(m: LocalMaker) -> Op | None:
    start = [m.rng.randint(0, extent) for extent in m.x.shape]
    limit = [m.rng.randint(low, extent) for low, extent in zip(start, m.x.shape)]
    parameters: dict[str, object] = {"start_indices": start, "limit_indices": limit}
    strides = [1] * m.x.rank
    if m.rng.random() < 0.5:
        strides = [m.rng.randint(1, 3) for _ in m.x.shape]
        parameters["strides"] = strides
    shape = tuple(-(-(high - low) // step) for low, high, step in zip(start, limit, strides))
    return m.op("slice", [m.x], facts.moved(m.name(), [m.x], shape), parameters)


def concatenate(m: LocalMaker) -> Op | None:
    if m.x.rank == 0:
        return None
    along = m.rng.randrange(m.x.rank)
    parts = [m.x]
    for _ in range(m.rng.randint(0, 2)):
        shape = list(m.x.shape)
        shape[along] = m.rng.randint(0, 3)
        parts.append(m.other(m.x.dtype, tuple(shape)))
    m.rng.shuffle(parts)
    shape = list(m.x.shape)
    shape[along] = sum(part.shape[along] for part in parts)
    return m.op("concatenate", parts, facts.moved(m.name(), parts, tuple(shape)), {"dimension": along})


def split(m: LocalMaker) -> Op | None:
    if m.x.rank == 0:
        return None
    axis = m.rng.randrange(m.x.rank)
    left = m.x.shape[axis]
    sizes: list[int] = []
    while left or not sizes:
        sizes.append(m.rng.randint(0 if left == 0 else 1, left))
        left -= sizes[-1]
    first = len(m.program.values)
    results = []
    for i, size in enumerate(sizes):
        shape = m.x.shape[:axis] + (size,) + m.x.shape[axis + 1 :]
        results.append(facts.moved(f"v{first + i}", [m.x], shape))
    return m.ops("split", [m.x], results, {"sizes": sizes, "axis": axis})


def pad(m: LocalMaker) -> Op | None:
    padding = [[m.rng.randint(-1, 2), m.rng.randint(-1, 2), m.rng.randint(0, 1)] for _ in m.x.shape]
    shape = []
    for extent, (low, high, interior) in zip(m.x.shape, padding):
        shape.append(low + high + extent + interior * max(extent - 1, 0))
    if any(extent < 0 for extent in shape):
        return None
    value = m.other(m.x.dtype, ())
    return m.op("pad", [m.x, value], facts.moved(m.name(), [m.x, value], tuple(shape)), {"padding_config": padding})


def broadcast_in_dim(m: LocalMaker) -> Op | None:
    rank = m.x.rank + m.rng.randint(0, 2)
    dimensions = sorted(m.rng.sample(range(rank), m.x.rank))
    shape = [m.rng.randint(1, 3) for _ in range(rank)]
    for d, extent in zip(dimensions, m.x.shape):
        if extent != 1:
            shape[d] = extent
    return m.op(
        "broadcast_in_dim", [m.x], facts.moved(m.name(), [m.x], tuple(shape)),
        {"shape": shape, "broadcast_dimensions": dimensions},
    )  # fmt: skip


def reorder_sequence(m: LocalMaker) -> Op | None:
    sizes = [(d, cp) for d, extent in enumerate(m.x.shape) for cp in (2, 4, 6) if extent % (2 * cp) == 0]
    if not sizes:
        return None
    along, cp_size = m.rng.choice(sizes)
    parameters: dict[str, object] = {"cp_size": cp_size}
    if along != 1 or m.rng.random() < 0.5:
        parameters["seq_dim"] = along
    if m.rng.random() < 0.5:
        parameters["to_contiguous"] = m.rng.random() < 0.75
    return m.op("reorder_sequence", [m.x], facts.moved(m.name(), [m.x], m.x.shape), parameters)


def dynamic_slice(m: LocalMaker) -> Op | None:
    if not avoided.slices(m.x, places=1):
        return None
    sizes = [m.rng.randint(0, extent) for extent in m.x.shape]
    starts = [m.constant_argument("s32", (), lambda: m.rng.randint(-1, 4)) for _ in m.x.shape]
    return m.op(
        "dynamic_slice", [m.x, *starts], facts.moved(m.name(), [m.x], tuple(sizes)), {"slice_sizes": sizes}
    )


def dynamic_update_slice(m: LocalMaker) -> Op | None:
    update = m.other(m.x.dtype, tuple(m.rng.randint(0, extent) for extent in m.x.shape))
    starts = [m.constant_argument("s32", (), lambda: m.rng.randint(-1, 4)) for _ in m.x.shape]
    return m.op("dynamic_update_slice", [m.x, update, *starts], facts.moved(m.name(), [m.x, update], m.x.shape))


def take(m: LocalMaker) -> Op | None:
    if m.x.rank == 0:
        return None
    axis = m.rng.randrange(m.x.rank)
    if m.x.shape[axis] == 0:
        return None
    count = m.rng.choice([(), (1,), (3,), (2, 2)])
    if not avoided.slices(m.x, math.prod(count)):
        return None
    indices = m.constant_argument(
        m.rng.choice(["s32", "s64", "u8"]), count, lambda: m.rng.randint(0, m.x.shape[axis] + 1)
    )
    parameters: dict[str, object] = {"axis": axis, "mode": m.rng.choice(["fill", "clip"])}
    shape = m.x.shape[:axis] + count + m.x.shape[axis + 1 :]
    result = facts.moved(m.name(), [m.x], shape, zeros=True)
    if parameters["mode"] == "fill":
        result = replace(result, comparison=loosest([m.x.comparison, "exact"]))
        if m.rng.random() < 0.5:
            parameters["fill_value"] = m.number(m.x.dtype)
            result = replace(result, magnitude=max(result.magnitude, 8))
        else:  # with NaNs or the limits of the dtype
            result = replace(result, nan=m.x.dtype.rounds, integral=False)
    return m.op("take", [m.x, indices], result, parameters)


def scatter_add(m: LocalMaker) -> Op | None:
    if m.x.rank == 0 or m.x.dtype.kind == "pred":
        return None
    axis = m.rng.randrange(m.x.rank)
    if m.x.shape[axis] == 0:
        return None
    count = m.rng.choice([(), (1,), (3,), (2, 2)])
    if not avoided.slices(m.x, math.prod(count)):
        return None
    indices = m.constant_argument(
        m.rng.choice(["s32", "s64", "u8"]), count, lambda: m.rng.randint(0, m.x.shape[axis] + 1)
    )
    updates = m.other(m.x.dtype, m.x.shape[:axis] + count + m.x.shape[axis + 1 :])
    result: Value | None
    if not m.x.dtype.rounds:
        result = facts.exact(m.name(), m.x.dtype, m.x.shape, [m.x, updates])
    else:
        magnitude = m.x.magnitude + updates.magnitude * max(indices.elements, 1)
        result = facts.rounded(m.name(), [m.x, updates], m.x.shape, magnitude, integral=True, minus_zero=m.x.minus_zero)
    return m.op(
        "scatter_add", [m.x, updates, indices], result, {"axis": axis, "mode": m.rng.choice(["fill", "clip"])}
    )


def optimization_barrier(m: LocalMaker) -> Op | None:
    operands = [m.x]
    if m.rng.random() < 0.5:
        operands.append(new_argument(m.rng, m.program, m.x.dtype, (2,), m.kind))
    first = len(m.program.values)
    results = [facts.moved(f"v{first + i}", [x], x.shape) for i, x in enumerate(operands)]
    return m.ops("optimization_barrier", operands, results)


MOVEMENT = {
    "reshape": reshape, "transpose": transpose, "slice": slice_, "concatenate": concatenate, "split": split,
    "pad": pad, "broadcast_in_dim": broadcast_in_dim, "reorder_sequence": reorder_sequence, "dynamic_slice": dynamic_slice,
    "dynamic_update_slice": dynamic_update_slice, "take": take, "scatter_add": scatter_add, "optimization_barrier": optimization_barrier,
}  # fmt: skip
