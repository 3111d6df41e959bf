"""A program of a scenario in JAX: one call of jax.lax for each op."""

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
from jax import lax
from jax._src import core
from jax._src.lax import parallel

import avoided
from dtypes import DTYPES

Array = Any
_STARTS: dict[str, Callable[..., Any]] = {
    "psum": parallel.psum_start,
    "all_gather": parallel.all_gather_start,
    "psum_scatter": parallel.psum_scatter_start,
    "all_to_all": parallel.all_to_all_start,
    "ppermute": parallel.ppermute_start,
}
_EXECUTION = ("id", "op", "of")


def _pbroadcast(x: Array, axes: tuple[str, ...], source: int) -> Array:
    """pbroadcast has no lowering for the CPU."""
    return lax.all_gather(x, axes)[source] if axes else x


def _pcast(x: Array, axes: tuple[str, ...], to: str) -> Array:
    return lax.pcast(x, axes, to=to)


_COLLECTIVES: dict[str, Callable[..., Array]] = {
    "psum": lax.psum,
    "pmean": lax.pmean,
    "pmax": lax.pmax,
    "pmin": lax.pmin,
    "pargmax": lambda x, axes: parallel.pargmax(x, axes[0]),
    "pargmin": lambda x, axes: parallel.pargmin(x, axes[0]),
    "all_gather": lax.all_gather,
    "psum_scatter": lax.psum_scatter,
    "all_to_all": lax.all_to_all,
    "pswapaxes": lax.pswapaxes,
    "ppermute": lax.ppermute,
    "pshuffle": lax.pshuffle,
    "pbroadcast": _pbroadcast,
    "unreduced_psum": parallel.unreduced_psum,
    "unreduced_psum_scatter": parallel.unreduced_psum_scatter,
    "all_gather_invariant": parallel.all_gather_invariant,
    "all_gather_reduced": parallel.all_gather_reduced,
    "pvary": parallel.pvary,
    "preduced": parallel.preduced,
    "vary_unreduced_cast": parallel.vary_unreduced_cast,
    "reduced_vary_cast": core.reduced_vary_cast,
    "pcast": _pcast,
}


def _alike(operands: list[Array]) -> list[Array]:
    """Scalars beside arrays, as arrays."""
    shape = next((x.shape for x in operands if x.ndim), ())
    return [jnp.broadcast_to(x, shape) for x in operands]


def _scatter_add(array: Array, updates: Array, indices: Array, axis: int, mode: str) -> Array:
    if mode == "clip":  # JAX counts a negative index from the end, then clips
        indices = jnp.clip(indices, 0, array.shape[axis] - 1)
    rows = array.at[(slice(None),) * axis + (indices,)]
    return rows.add(updates, mode="drop")


def _reorder_sequence(x: Array, cp_size: int, seq_dim: int = 1, to_contiguous: bool = False) -> Array:
    """ejkernel's, which takes the chunks by index. Here they are slices: jnp.take forgets states."""
    if to_contiguous:
        firsts = [4 * r for r in range(cp_size // 2)]
        lasts = [2 * cp_size - 1 - 4 * r for r in range(cp_size // 2)]
        pairs = [(i, i + 2) for i in firsts] + [(i, i - 2) for i in lasts]
    else:
        pairs = [(i, 2 * cp_size - 1 - i) for i in range(cp_size)]
    chunks = jnp.split(x, 2 * cp_size, seq_dim)
    return lax.concatenate([chunks[i] for pair in pairs for i in pair], seq_dim)


def _number(given: float | list[float]) -> complex:
    """The number for an element of a scenario, which may be a pair of parts."""
    return complex(*given) if isinstance(given, list) else given


def _local(op: str, operands: list[Array], given: dict[str, Any]) -> Array:
    """Ops whose parameters jax.lax has under other names, or none at all."""
    if op == "convert_element_type":
        return lax.convert_element_type(operands[0], DTYPES[given["new_dtype"]].numpy)
    if op == "full":
        return lax.full(given["shape"], _number(given["fill_value"]), DTYPES[given["dtype"]].numpy)
    if op == "iota":
        return lax.broadcasted_iota(DTYPES[given["dtype"]].numpy, given["shape"], given["dimension"])
    if op == "concatenate":
        return lax.concatenate(operands, given["dimension"])
    if op == "split":
        return lax.split(operands[0], given["sizes"], given["axis"])
    if op == "reorder_sequence":
        return _reorder_sequence(operands[0], **given)
    if op == "dynamic_slice":
        return lax.dynamic_slice(operands[0], operands[1:], given["slice_sizes"])
    if op == "dynamic_update_slice":
        return lax.dynamic_update_slice(operands[0], operands[1], operands[2:])
    if op == "take":
        fill = {"fill_value": _number(given["fill_value"])} if "fill_value" in given else {}
        return jnp.take(operands[0], operands[1], **{**given, **fill})
    if op == "scatter_add":
        return _scatter_add(*operands, given["axis"], given["mode"])
    if op in ("reduce_sum", "reduce_max", "reduce_min"):
        return getattr(lax, op)(operands[0], given["axes"])
    if op == "select_n":
        which, *cases = operands
        return lax.select_n(which, *cases)
    if op == "pad":
        return lax.pad(operands[0], operands[1], [tuple(entry) for entry in given["padding_config"]])
    if op == "optimization_barrier":
        return lax.optimization_barrier(operands)
    if op == "dot_general":
        (contracted, batch) = given["dimension_numbers"]
        dtype = given.get("preferred_element_type")
        return lax.dot_general(
            operands[0], operands[1], (contracted, batch), preferred_element_type=dtype and DTYPES[dtype].numpy
        )
    if op == "dot_product_attention":
        return jax.nn.dot_product_attention(*operands, **given)
    if op in ("add", "sub", "mul", "div", "max", "min", "complex", "eq", "ne", "lt", "le", "gt", "ge"):
        return getattr(lax, op)(*_alike(operands))
    return getattr(lax, op)(*operands, **given)


def run_ops(ops: list[dict[str, Any]], values: dict[str, Array], started: bool = True) -> dict[str, Array]:
    """All values after the ops of a scenario's program, on one device under shard_map. Without `started`, started
    collectives run at once."""
    values = dict(values)
    for op in ops:
        given = {key: value for key, value in op.items() if key not in _EXECUTION}
        of = op.get("of", [])
        operands = [values[name] for name in ([of] if isinstance(of, str) else of)]
        name = op["op"]
        if "axis_name" in given:
            axes = given.pop("axis_name")
            axes = (axes,) if isinstance(axes, str) else tuple(axes)
            starts = started and name.endswith("_start")
            name = name.removesuffix("_start")
            if name in ("axis_index", "axis_size"):
                result = jnp.asarray(getattr(lax, name)(axes), jnp.int32)
            elif starts and avoided.has_start(name, axes, given, operands[0].size):
                result = _STARTS[name](operands[0], axes, **given)
            else:
                result = _COLLECTIVES[name](operands[0], axes, **given)
        elif name == "done":
            result = operands[0].done() if hasattr(operands[0], "done") else operands[0]
        else:
            result = _local(name, operands, given)
        names = op["id"] if isinstance(op["id"], list) else [op["id"]]
        values.update(zip(names, result if isinstance(result, (list, tuple)) else [result]))
    return values
