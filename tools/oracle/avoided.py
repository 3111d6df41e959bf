"""What is avoided, or run in another way, since JAX 0.10.2 is wrong or refuses: each with its reason."""

from typing import Any

from dtypes import Dtype
from program import Op, Program, Value
from states import States

# Ops of floats that have a gradient in JAX.
_WITH_GRADIENT = (
    "psum", "pmean", "all_gather", "psum_scatter", "all_to_all", "pswapaxes", "ppermute", "pshuffle",
    "unreduced_psum", "unreduced_psum_scatter", "all_gather_invariant", "all_gather_reduced",
    "pvary", "preduced", "vary_unreduced_cast", "reduced_vary_cast", "pcast",
    "add", "sub", "mul", "div", "max", "min", "neg", "exp", "log", "sqrt", "rsqrt", "logistic", "sin", "cos",
    "real", "imag", "conj", "complex", "select_n", "convert_element_type", "reshape", "transpose", "slice", "concatenate", "split", "pad",
    "broadcast_in_dim", "reorder_sequence", "dynamic_slice", "dynamic_update_slice", "take", "scatter_add", "optimization_barrier",
    "reduce_sum", "reduce_max", "reduce_min", "dot_general", "dot_product_attention",
)  # fmt: skip

# Those of which the start has a lowering for the CPU.
_STARTED = ("psum", "all_gather", "psum_scatter", "all_to_all", "ppermute")


def has_start(op: str, axes: tuple[str | int, ...], given: dict[str, Any], elements: int) -> bool:
    """Else the sync op is run, whose result is done(start(x)). Over no axes a start gives no future, nor over dimensions alone. Empty arrays, a
    psum over unequal groups and an untiled psum_scatter refuse to be lowered; so does an all_to_all with another
    concat_axis than split_axis, which is more than one operation, and untiled it squeezes a future. An all_gather_start
    to invarying gives an array, which has no done."""
    if op not in _STARTED or not axes or not all(isinstance(axis, str) for axis in axes):
        return False
    if elements == 0 or given.get("to") == "invarying":
        return False
    if op in ("psum_scatter", "all_to_all") and not given["tiled"]:
        return False
    if op == "all_to_all" and given["split_axis"] != given["concat_axis"]:
        return False
    return equal(given.get("axis_index_groups"))


def sums_unreduced(op: str, dtype: Dtype) -> bool:
    """JAX's sums of unreduced preds are preds, while its psum counts them in s32, as we do."""
    return not (op in ("unreduced_psum", "unreduced_psum_scatter") and dtype.kind == "pred")


# How many operands are moved by the ops that move by indices. Their other operands are indices.
_MOVED = {"dynamic_slice": 1, "take": 1, "dynamic_update_slice": 2, "scatter_add": 2}


def _moved_and_indices(op: Op) -> tuple[tuple[Value, ...], tuple[Value, ...]]:
    if op.name == "select_n":
        return op.operands[1:], op.operands[:1]
    count = _MOVED.get(op.name, len(op.operands))
    return op.operands[:count], op.operands[count:]


# In which JAX forgets states of the operands.
_FORGETS = ("pargmax", "pargmin", "reduce_max", "reduce_min", "take", "scatter_add", "dot_general")
# Which it lets mix unreduced and other operands, or reduced and invarying ones.
_MIXES = ("concatenate", "pad", "select_n")


def lowers_reduced(op: str, dtype: Dtype) -> bool:
    """Whether JAX lowers the op with a reduced operand. It traces some ops and refuses to lower them, as they are made of
    ops with constants, which are invarying."""
    if dtype.is_complex:
        return op not in ("logistic", "sin", "cos")
    return op not in ("logistic", "conj")


def broadcasts(op: Op, states: dict[str, States]) -> bool:
    """Whether the states are those for which a pbroadcast can stand. The ops that run in its place (jax_program.py) cast the
    operand to varying, and a pbroadcast does not."""
    return op.name != "pbroadcast" or set(axes_of(op)) <= set(states[op.operands[0].name].varying)


def refuses_rightly(op: Op) -> bool:
    """Whether an op that JAX refuses for the states of operands has no meaning in these states. JAX also refuses
    ops that have a meaning: some that are linear, a sum over groups where types are checked, extrema over no axes, and
    slices and rows at reduced indices, which it compares with 0."""
    if op.name in ("neg", "sub", "real", "imag", "conj", "complex") or "axis_index_groups" in op.parameters:
        return False
    if op.name in _MOVED:
        return False
    return op.parameters.get("axis_name") != []


def converts_linearly(op: Op) -> bool:
    """JAX converts unreduced values to any dtype. Among others than floats and complex numbers the sum of what is converted
    is not what the sum is converted to: of 0.5 and 0.5 in s32 the one is 0, and the other 1."""
    return op.operands[0].dtype.rounds and op.results[0].dtype.rounds


def is_typed_alike(op: Op, states: dict[str, States]) -> bool:
    """Whether JAX gives an op the states that it should. What it does instead is in docs/ops.md, "Where JAX differs": in
    sums of unreduced preds, extrema over groups, extrema and means of what is unreduced over another axis, indices that
    are unreduced, and by the ops of _FORGETS and of _MIXES."""
    sums = op.name in ("psum", "psum_scatter", "pmean")
    if sums and op.operands[0].dtype.kind == "pred" and states[op.operands[0].name].unreduced:
        return False
    if op.name in ("pmax", "pmin") and "axis_index_groups" in op.parameters:
        return False
    if op.operands and states[op.operands[0].name].reduced and not lowers_reduced(op.name, op.operands[0].dtype):
        return False
    if op.name == "convert_element_type" and states[op.operands[0].name].unreduced and not converts_linearly(op):
        return False
    # For an empty array .at[] gives back the array itself, whatever the states of the updates and indices.
    if op.name == "scatter_add" and op.operands[1].elements == 0:
        return False
    moved, indices = _moved_and_indices(op)
    if any(states[x.name].unreduced for x in indices):
        return False
    if op.name in ("pmean", "pmax", "pmin") and not set(states[moved[0].name].unreduced) <= set(axes_of(op)):
        return False
    for axis in {axis for x in moved for axis in states[x.name].unreduced + states[x.name].reduced}:
        along = {states[x.name].along(axis) for x in moved}
        if op.name in _FORGETS and along & {"unreduced", "reduced"}:
            return False
        if op.name in _MIXES and len(along) > 1 and ("unreduced" in along or "invarying" in along):
            return False
    return True


def has_states(op: Op) -> bool:
    """JAX's check of states refuses groups, dimensions, and psum over no axes of what varies nowhere; pbroadcast is not run
    as such."""
    if any(not isinstance(axis, str) for axis in axes_of(op)):
        return False
    named = op.parameters.get("axis_name") != [] and "axis_index_groups" not in op.parameters
    return named and op.name != "pbroadcast"


def goes_back_by_slices(ops: list[Op]) -> bool:
    """The gradient of an all_gather to invarying is a dynamic_slice, and those of updates and of rows are others, which XLA
    merges with it as slices() says: of ct = [0 ... 7] on 2 devices, all_gather_invariant of a
    dynamic_update_slice(x of [4], y of [3], 2) has on device 0 for y the gradient [1, 2, 3], and XLA gives [2, 3, 4]."""
    gathers = any(op.name == "all_gather_invariant" or op.parameters.get("to") == "invarying" for op in ops)
    return gathers and any(op.name in ("dynamic_slice", "dynamic_update_slice", "take", "scatter_add") for op in ops)


def has_cotangent(x: Value) -> bool:
    """Special floats would be everywhere in a gradient, and roundings to 8 bits."""
    return x.dtype.rounds and x.dtype.bits > 8 and not x.nan and not x.tiny and x.elements > 0


def has_gradient(op: Op, passed: list[Value]) -> bool:
    """JAX cannot go back through an untiled all_to_all with another concat_axis than split_axis, nor through pbroadcast,
    nor to the padding value of a pad alone, nor through a select_n of one case."""
    if op.name not in _WITH_GRADIENT or any(not has_cotangent(x) for x in (*passed, *op.results)):
        return False
    if op.name == "pad" and op.operands[0] not in passed:
        return False
    if op.name == "select_n" and len(op.operands) == 2:
        return False
    if op.name == "all_to_all" and not op.parameters["tiled"]:
        return bool(op.parameters["split_axis"] == op.parameters["concat_axis"])
    return True


def axes_of(op: Op) -> list[str]:
    axes = op.parameters.get("axis_name", [])
    return [axes] if isinstance(axes, str) else list(axes)


def is_batched(op: Op, axis: str | None) -> bool:
    """JAX puts the batch of an untiled psum_scatter along a wrong dimension. Over the axis whose place the batch takes it
    drops that axis from a permutation over several, and its local maxima of special floats are not those of a collective;
    it has no groups over it, and neither have we. All else that it refuses it says."""
    axes = axes_of(op)
    untiled = op.name in ("psum_scatter", "unreduced_psum_scatter") and not op.parameters.get("tiled")
    if untiled and axes not in ([], [axis]):
        return False
    if axis is None or axis not in axes:
        return True
    if op.name in ("ppermute", "pshuffle") and len(axes) > 1:
        return False
    special = any(x.nan or x.minus_zero or x.tiny for x in op.operands)
    return not special and "axis_index_groups" not in op.parameters


def equal(groups: list[list[int]] | None) -> bool:
    return groups is None or len({len(group) for group in groups}) == 1


def mean_over(groups: list[list[int]] | None) -> bool:
    """pmean divides by the size of the first group, also in a group of another size."""
    return equal(groups)


def mean_of(x: Value, over_no_axes: bool) -> bool:
    """Over no axes JAX divides a pred by 1 without making it s32 first; that gives f64 with 64-bit types enabled, and
    f32 else. Ours is f32, as over any axis."""
    return not (over_no_axes and x.dtype.kind == "pred")


def sum_of(x: Value) -> bool:
    """XLA fails a check as it simplifies the sum of a complex constant over a group, and the process aborts, as for
    psum(full((3,), 1, c64), "x"). The constant may be one that XLA finds, as the sum of an empty array is."""
    return not (x.dtype.is_complex and x.constant)


def pairs_over_no_axes() -> int:
    """Over no axes JAX gives zeros where the perm has no pair, and ours is the identity there too."""
    return 1


def tiles_of(x: Value) -> bool:
    """A psum_scatter or a tiled all_gather of an empty array refuses to be lowered."""
    return x.elements > 0


def extremum_of(x: Value) -> bool:
    """XLA's extrema on the CPU may skip NaNs, take the first of -0 and +0, and flush subnormals."""
    return not (x.nan or x.minus_zero or x.tiny)


def arithmetic_on(x: Value) -> bool:
    """XLA's arithmetic on the CPU flushes subnormals of f32, bf16 and f64 to zero."""
    return not x.tiny


def function_of_complex(x: Value) -> bool:
    """Near a branch cut a rounded number may be on either side. On it, XLA's square root takes no notice of the sign of a
    zero imaginary part."""
    return x.nonzero and x.comparison == "moved" and not x.integral


def converts_to_integer(x: Value) -> bool:
    """A rounded number near an integer may become either of two."""
    return not x.tiny and x.comparison in ("moved", "exact")


def is_constant(x: Value, y: Value) -> bool:
    """Whether XLA knows the difference of the operands and how they compare, as both are one value. It makes constants of all
    that follows, and sums of these may have another sign of zero."""
    return x.name == y.name


def slices(x: Value, places: int) -> bool:
    """XLA merges a dynamic_slice of a dynamic_slice and does not clamp each of both starts (openxla/xla#49121, open): of
    x = [0, 1, 2, 3, 4, 5] dynamic_slice(dynamic_slice(x, 2, 2), 3, 1) is [3] and XLA gives [5]. A take or scatter_add at
    one place is a dynamic_slice to XLA."""
    return places != 1 or not x.sliced


def is_sliced(op: str, operands: list[Value]) -> bool:
    """Ops between the slices may be left away, as a sum of one element is."""
    one = op == "dynamic_slice" or (op == "take" and operands[1].elements == 1)
    return one or any(x.sliced for x in operands)


def divides(x: Value, y: Value) -> bool:
    """To divide by what is broadcast, as a scalar is, XLA multiplies by its reciprocal, which is rounded; to divide by
    sqrt(y), by rsqrt(y)."""
    return not y.inverted and (y.elements > 1 or x.elements <= 1)


def is_inverted(op: str, operands: list[Value]) -> bool:
    """Whether XLA may compute the op before a broadcast instead of after it. A take from one element is a broadcast."""
    broadcast = all(x.inverted or x.elements <= 1 for x in operands)
    return broadcast or op in ("broadcast_in_dim", "take", "sqrt")


def has_subnormals(dtype: Dtype) -> bool:
    """XLA on the CPU may move elements of bf16 as f32, whose subnormals it flushes."""
    return dtype.name != "bf16"


def keeps_payload(dtype: Dtype) -> bool:
    """XLA on the CPU moves elements of bf16 and of 8 bits as wider floats, and makes all their NaNs one."""
    return not dtype.is_float or dtype.name in ("f16", "f32", "f64")


def divides_integers(program: Program, divisor: Value) -> bool:
    """XLA folds a division of a constant by a constant zero as it compiles, and the process ends with a floating point
    exception. Any result may become a constant, as x - x does, and no argument."""
    return divisor.name in program.data
