#!/usr/bin/env python3
"""Makes the table of tests/data/jax: what JAX on the CPU computes of collectives and elementwise ops.

    python3 tools/oracle/fold_values.py > tests/data/jax/fold_values.txt

Each line is one op: its name, the mesh, its keys in a scenario, the dtype and the shape of its
operands on a device, the operands and the result, separated by " | ". Operands and results have one
list of elements per device; elements are bits, as unsigned integers, and a NaN has the bits of the
dtype's quiet NaN without a sign and a payload. Elementwise ops have all operands, the devices of the
first before those of the second. The first line says the versions.

Needs jax 0.10.2 with NumPy and ml_dtypes, of the versions in tests/data/jax/README.md.
"""

import json
import os

os.environ["XLA_FLAGS"] = "--xla_force_host_platform_device_count=8"
os.environ["JAX_PLATFORMS"] = "cpu"

import jax
import jax.numpy as jnp
import ml_dtypes
import numpy as np
from jax import lax
from jax.sharding import Mesh, PartitionSpec

jax.config.update("jax_enable_x64", True)

FLOATS = {
    "f16": np.float16, "bf16": ml_dtypes.bfloat16, "f32": np.float32, "f64": np.float64,
    "f8e4m3fn": ml_dtypes.float8_e4m3fn, "f8e5m2": ml_dtypes.float8_e5m2,
}
INTEGERS = {"pred": np.bool_, "s8": np.int8, "s32": np.int32, "s64": np.int64, "u16": np.uint16,
            "u64": np.uint64}
NAMES = {np.dtype(d): n for n, d in {**FLOATS, **INTEGERS}.items()}
WORDS = {1: np.uint8, 2: np.uint16, 4: np.uint32, 8: np.uint64}
COLUMNS = 20

# (mesh, axes, groups): groups of one, uneven ones, out of order, axes out of order, no axes.
FORMS = [
    ({"x": 1}, ["x"], None),
    ({"x": 1, "y": 2}, ["x"], None),
    ({"x": 2}, [], None),
    ({"x": 2}, ["x"], None),
    ({"x": 3}, ["x"], None),
    ({"x": 7}, ["x"], None),
    ({"x": 6}, ["x"], [[4, 0, 2], [1, 5, 3]]),
    ({"x": 2, "y": 3}, ["y", "x"], None),
]
UNEVEN = ({"x": 7}, ["x"], [[5, 1, 3, 0], [6, 2, 4]])

rng = np.random.default_rng(2026)


def bits(array):
    array = np.array(array)
    words = array.view(WORDS[array.dtype.itemsize])
    if array.dtype in [np.dtype(d) for d in FLOATS.values()]:
        quiet = np.array(np.nan, array.dtype).view(words.dtype) & words.dtype.type(
            ~(1 << (8 * array.dtype.itemsize - 1)) & (2 ** (8 * array.dtype.itemsize) - 1))
        words = np.where(np.isnan(array), quiet, words)
    return [int(word) for word in words.ravel()]


def floats(dtype, devices):
    """Random columns, after those in which rounding, signs of zero, NaN and subnormals matter."""
    info = ml_dtypes.finfo(dtype)
    tiny, least, most = float(info.tiny), float(info.smallest_subnormal), float(info.max)
    nan, inf = float("nan"), float("inf")
    starts = [[-0.0], [-0.0, 0.0], [0.0, -0.0], [least], [-2 * least, least, -3 * least],
              [-1.5 * tiny, tiny, -0.0], [tiny, least], [nan, -0.0, 1.0], [nan], [nan, -inf],
              [inf, 1.0], [1.0, 5.0, 5.0, 2.0], [most, most, -most]]
    columns = [[start[d % len(start)] for d in range(devices)] for start in starts]
    while len(columns) < COLUMNS:
        columns.append(list(rng.standard_normal(devices) * 10.0 ** rng.integers(-2, 2)))
    with np.errstate(all="ignore"):
        return np.array(columns).astype(dtype).T.copy()


def integers(dtype, devices):
    if dtype == np.bool_:
        return rng.integers(0, 2, (devices, COLUMNS)).astype(dtype)
    info = np.iinfo(dtype)
    return rng.integers(info.min, info.max, (devices, COLUMNS), dtype=dtype, endpoint=True)


def on_mesh(function, mesh, *operands):
    """The results of the function on devices of a mesh. Operands have a row per device, in the order of their ids."""
    names, sizes = list(mesh), list(mesh.values())
    devices = np.array(jax.devices()[: int(np.prod(sizes))]).reshape(sizes)
    spec = PartitionSpec(tuple(names))
    body = lambda *rows: function(*[row[0] for row in rows])[None]
    mapped = jax.shard_map(body, mesh=Mesh(devices, names), in_specs=spec, out_specs=spec,
                           check_vma=False)
    return np.asarray(jax.jit(mapped)(*operands))


def line(op, mesh, keys, operands, result):
    dtype = NAMES[operands[0].dtype]
    shape = list(operands[0].shape[1:])
    rows = [bits(row) for operand in operands for row in operand]
    text = lambda value: json.dumps(value, separators=(",", ":"))
    print(" | ".join([op, text(mesh), text(keys), dtype, text(shape), text(rows),
                      text([bits(row) for row in result])]))


def collective(op, form, operand):
    mesh, axes, groups = form
    keys = {"axis_name": axes}
    if groups:
        keys["axis_index_groups"] = groups
    if op == "psum_scatter":
        keys["tiled"] = True
    function = getattr(lax, op, None) or getattr(jax._src.lax.parallel, op)
    options = {"axis_index_groups": groups} if groups else {}
    if op == "psum_scatter":
        options |= {"scatter_dimension": 0, "tiled": True}
    axis = axes[0] if op in ("pargmax", "pargmin") else tuple(axes)
    line(op, mesh, keys, [operand],
         on_mesh(lambda row: function(row, axis, **options), mesh, operand))


def collectives():
    for op in ("psum", "pmean", "pmax", "pmin", "pargmax", "pargmin", "psum_scatter"):
        one_axis = op in ("pargmax", "pargmin")
        for form in FORMS + ([UNEVEN] if op in ("psum", "pmax", "pmin") else []):
            mesh, axes, groups = form
            if one_axis and (len(axes) != 1 or groups) or op == "psum_scatter" and not axes:
                continue
            devices = int(np.prod(list(mesh.values())))
            for dtype in FLOATS.values():
                operand = floats(dtype, devices)
                if op == "psum_scatter":
                    group = len(groups[0]) if groups else int(np.prod([mesh[a] for a in axes]))
                    operand = operand[:, : COLUMNS // group * group].copy()
                collective(op, form, operand)
    for dtype in INTEGERS.values():
        for op in ("psum", "pmean"):
            collective(op, FORMS[4], integers(dtype, 3))


def elementwise():
    mesh = {"x": 1}
    for dtype in [FLOATS[name] for name in ("f16", "bf16", "f32", "f64")]:
        info = ml_dtypes.finfo(dtype)
        tiny, least = float(info.tiny), float(info.smallest_subnormal)
        eps = float(info.eps)
        edge = [0.0, -0.0, least, -least, tiny, -1.5 * tiny, 0.5, -1.0, 1 - eps / 2, 3.0,
                float("nan"), float("inf"), float(info.max), 2 * tiny * (1 - eps / 2)]
        x, y = [np.array(list(side)).astype(dtype)[None]
                for side in zip(*[(a, b) for a in edge for b in edge])]
        for op in ("add", "sub", "mul", "div", "max", "min", "eq", "lt", "ge"):
            line(op, mesh, {}, [x, y], on_mesh(getattr(lax, op), mesh, x, y))
        values = np.array(edge).astype(dtype)[None]
        line("neg", mesh, {}, [values], on_mesh(lax.neg, mesh, values))
        for to, target in list(FLOATS.items()) + [("pred", np.bool_), ("s32", np.int32)]:
            if to.startswith("f8"):
                continue
            line("convert_element_type", mesh, {"new_dtype": to}, [values],
                 on_mesh(lambda v: lax.convert_element_type(v, target), mesh, values))
        line("reduce_max", mesh, {"axes": [0]}, [values],
             on_mesh(lambda v: jnp.max(v, axis=0), mesh, values))


if __name__ == "__main__":
    print(f"jax {jax.__version__}, jaxlib {jax.lib.__version__}, numpy {np.__version__}, "
          f"ml_dtypes {ml_dtypes.__version__}")
    collectives()
    elementwise()
