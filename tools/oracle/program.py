"""A random program: what a scenario says of it, and what is known of each value."""

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from dtypes import Dtype
from states import States

# How a result is compared, from the strictest to the loosest:
#   moved  bit for bit, NaNs too: the elements of arguments, only moved
#   exact  bit for bit, where all NaNs are one: nothing is rounded, or in one way only
#   fold   as exact with "numerics": "xla-cpu" and one_shot; else by bounds on roundings
#   bound  by bounds on roundings: XLA may choose another order, or leave out roundings
COMPARISONS = ("moved", "exact", "fold", "bound")


def loosest(comparisons: list[str]) -> str:
    return max(comparisons, key=COMPARISONS.index, default="moved")


@dataclass(frozen=True)
class Value:
    name: str
    dtype: Dtype
    shape: tuple[int, ...]
    comparison: str
    # The facts below are only about floats.
    magnitude: float = 0  # no finite element is larger
    integral: bool = False  # all are integers
    nonzero: bool = False  # none is zero
    positive: bool = False  # each is positive; of complex numbers both parts
    nan: bool = False  # there may be NaNs and infinities
    minus_zero: bool = False  # there may be -0
    tiny: bool = False  # there may be subnormals
    # How it was made, which decides what XLA may fuse with it:
    product: bool = False  # by a multiplication, and then moved
    rounded: bool = False  # by a local op that rounds, and then moved
    constant: bool = False  # XLA may make a constant of it
    sliced: bool = False  # from a slice at a start that is computed
    inverted: bool = False  # to divide by it XLA may multiply by its reciprocal
    cpu: bool = False  # made by a rule that is the CPU's own, of "numerics": "xla-cpu"

    @property
    def elements(self) -> int:
        return int(np.prod(self.shape, dtype=np.int64))

    @property
    def rank(self) -> int:
        return len(self.shape)


def type_text(value: Value, states: States) -> str:
    """As a report has it: "f32[2,3]{V:x}"."""
    return f"{value.dtype.name}[{','.join(map(str, value.shape))}]{states.text()}"


@dataclass(frozen=True)
class Op:
    results: tuple[Value, ...]
    name: str
    operands: tuple[Value, ...]
    parameters: dict[str, Any] = field(default_factory=dict)
    started: bool = False

    def json(self) -> dict[str, Any]:
        """As in a scenario; of a started collective the start."""
        of = [operand.name for operand in self.operands]
        names = [result.name for result in self.results]
        op: dict[str, Any] = {"id": names[0] if len(names) == 1 else names, "op": self.name}
        if self.started:
            op = {"id": names[0] + "f", "op": self.name + "_start"}
        if of:
            op["of"] = of[0] if len(of) == 1 else of
        op.update(self.parameters)
        return op

    def done_json(self) -> dict[str, Any]:
        name = self.results[0].name
        return {"id": name, "op": "done", "of": name + "f"}


class Program:
    """A program in the making. Each value is an argument or a result of an earlier op."""

    def __init__(self, mesh: dict[str, int]):
        self.mesh = mesh
        self.data: dict[str, np.ndarray] = {}  # of arguments: [device, ...]
        self.values: list[Value] = []
        self.ops: list[Op] = []
        self.depth: dict[str, int] = {}
        self.states: dict[str, States] | None = None  # of all values, where types are checked

    @property
    def devices(self) -> int:
        return int(np.prod(list(self.mesh.values())))

    def next_name(self) -> str:
        return f"v{len(self.values)}"

    def add_argument(self, value: Value, data: np.ndarray) -> Value:
        self.values.append(value)
        self.data[value.name] = data
        self.depth[value.name] = 0
        return value

    def add_op(self, op: Op) -> None:
        self.ops.append(op)
        depth = 1 + max((self.depth[operand.name] for operand in op.operands), default=0)
        for result in op.results:
            self.values.append(result)
            self.depth[result.name] = depth

    def needed_for(self, names: set[str]) -> list[Op]:
        """The ops that these values depend on, in order."""
        needed = set(names)
        kept = []
        for op in reversed(self.ops):
            if any(result.name in needed for result in op.results):
                kept.append(op)
                needed.update(operand.name for operand in op.operands)
        return kept[::-1]

    def outputs(self, all_results: bool) -> list[Value]:
        """The results that no op reads, or all; but for unreduced ones, of which JAX shows no copies."""
        read = {operand.name for op in self.ops for operand in op.operands}
        return [
            result
            for op in self.ops
            for result in op.results
            if (all_results or result.name not in read) and not (self.states and self.states[result.name].unreduced)
        ]

    @property
    def ieee(self) -> bool:
        """Whether JAX computes what "numerics": "ieee" says, but for roundings."""
        return not any(result.cpu for op in self.ops for result in op.results)

    def json_ops(self) -> list[dict[str, Any]]:
        """A started collective is done just before its result is read, or at the end."""
        written = []
        started: dict[str, Op] = {}
        for op in self.ops:
            for operand in op.operands:
                if operand.name in started:
                    written.append(started.pop(operand.name).done_json())
            written.append(op.json())
            if op.started:
                started[op.results[0].name] = op
        return written + [op.done_json() for op in started.values()]
