"""Random ops without operands: indices, sizes and constants."""


from dtypes import DTYPES, Dtype
from maker import LocalMaker
from program import Op, Value


def _axes(m: LocalMaker) -> list[str]:
    return m.rng.sample(list(m.program.mesh), m.rng.randint(0, len(m.program.mesh)))


def _of_axes(m: LocalMaker, op: str, axes: list[str], constant: bool) -> Op | None:
    result = Value(m.name(), DTYPES["s32"], (), "exact", constant=constant)
    return m.op(op, [], result, {"axis_name": axes[0] if len(axes) == 1 else axes})


def axis_index(m: LocalMaker, _: Dtype) -> Op | None:
    axes = _axes(m)
    return _of_axes(m, "axis_index", axes, constant=all(m.program.mesh[axis] == 1 for axis in axes))


def axis_size(m: LocalMaker, _: Dtype) -> Op | None:
    return _of_axes(m, "axis_size", _axes(m), constant=True)


def _shape(m: LocalMaker, least: int) -> list[int]:
    return [m.rng.randint(1, 4) for _ in range(m.rng.randint(least, 2))]


def full(m: LocalMaker, dtype: Dtype) -> Op | None:
    shape = _shape(m, 0)
    value = m.number(dtype)
    parts = value if isinstance(value, list) else [value, 0] if dtype.is_complex else [value]
    result = Value(
        m.name(), dtype, tuple(shape), "exact", magnitude=sum(abs(part) for part in parts), integral=True,
        nonzero=0 not in parts, positive=min(parts) > 0, constant=True,
    )  # fmt: skip
    return m.op("full", [], result, {"shape": shape, "fill_value": value, "dtype": dtype.name})


def iota(m: LocalMaker, dtype: Dtype) -> Op | None:
    if dtype.kind == "pred":
        return None
    shape = _shape(m, 1)
    along = m.rng.randrange(len(shape))
    result = Value(m.name(), dtype, tuple(shape), "exact", magnitude=4, integral=True, constant=True)
    return m.op("iota", [], result, {"dtype": dtype.name, "shape": shape, "dimension": along})


SOURCES = {"axis_index": axis_index, "axis_size": axis_size, "full": full, "iota": iota}
