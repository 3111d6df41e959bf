"""Random bodies of mpmd_map, in the JSON of scenarios, that are free of races and write every element of their outputs.

A body is made op by op. What is known of the elements of a ref (Facts) keeps results the same under any order of
sums and any sign of zeros, so they are compared bit for bit."""

import math
import random
from dataclasses import dataclass, field, replace
from typing import Any

from dtypes import Dtype

Json = dict[str, Any]
Row = int | str | None  # of a ref's first dimension: a constant, the instance's index over an axis, or none: the whole

_SPACES = {"tensor": ("vmem", "vmem", "smem"), "scalar": ("smem", "smem", "vmem_shared"),
           "vector": ("vmem", "vmem", "smem", "vmem_shared")}  # fmt: skip
_MOST_SCRATCH = 5


@dataclass(frozen=True)
class Facts:
    whole: bool = True  # whole numbers that the dtype has exactly
    bound: float = math.inf  # of magnitudes
    zero: bool = True  # some may be 0
    negative_zero: bool = False

    def either(self, other: "Facts") -> "Facts":
        return Facts(
            self.whole and other.whole,
            max(self.bound, other.bound),
            self.zero or other.zero,
            self.negative_zero or other.negative_zero,
        )


@dataclass
class Ref:
    name: str
    dtype: Dtype
    shape: list[int]
    facts: Facts
    space: str  # "in" and "out" of inputs and outputs
    written: set[Row] = field(default_factory=set)  # rows; None: all of it

    @property
    def alone(self) -> bool:
        """Each instance has its own."""
        return self.space in ("vmem", "smem")


@dataclass(frozen=True)
class View:
    """A ref or one row of it."""

    ref: Ref
    row: Row

    @property
    def shape(self) -> list[int]:
        return self.ref.shape if self.row is None else self.ref.shape[1:]

    @property
    def facts(self) -> Facts:
        return self.ref.facts

    @property
    def dtype(self) -> Dtype:
        return self.ref.dtype

    def json(self) -> Any:
        return self.ref.name if self.row is None else [self.ref.name, {"row": self.row}]


@dataclass(frozen=True)
class Mesh:
    type: str
    name: str
    axes: dict[str, int]

    @property
    def instances(self) -> int:
        return math.prod(self.axes.values())

    def json(self) -> Json:
        names = list(self.axes)
        mesh = {"type": self.type, "name": self.name, "core_axis": names[0], "cores": self.axes[names[0]]}
        if self.type == "vector":
            mesh |= {"subcore_axis": names[1], "subcores": self.axes[names[1]]}
        return mesh


def random_mesh(rng: random.Random) -> Mesh:
    """At most one axis has several places: rows are told apart by one index."""
    kind, core = rng.choice(("tensor", "scalar", "vector")), rng.choice(("c", "core", "x"))
    if kind != "vector":
        return Mesh(kind, "a", {core: rng.choice((1, 1, 2, 3, 4))})
    sizes = rng.choice(((1, 1), (2, 1), (3, 1), (4, 1), (1, 2), (1, 3), (1, 4)))
    return Mesh(kind, "a", {core: sizes[0], rng.choice(("s", "sub")): sizes[1]})


class BodyMaker:
    """The body of one function, its scratch and its outputs."""

    def __init__(self, rng: random.Random, mesh: Mesh, inputs: list[Ref], outputs: int = 0, prefix: str = "t"):
        self.rng, self.mesh, self.refs = rng, mesh, list(inputs)
        self.inputs = list(inputs)
        self.prefix = prefix
        self.first_output = outputs
        self.outs: list[Ref] = []
        self.scratch: list[Ref] = []
        self.semaphores: dict[str, list[int]] = {}
        self.body: list[Json] = []
        self.alias: Ref | None = None  # the input whose memory output 0 shares
        self.shared = False  # the memory of the alias has been written
        self.needs: set[str] = set()  # "interpret" or "tpu", where only one of JAX's interpreters can do it
        self.index = max(mesh.axes, key=lambda axis: mesh.axes[axis])  # the axis that tells instances apart

    @property
    def several(self) -> bool:
        return self.mesh.instances > 1

    def _of_aliased(self, ref: Ref) -> bool:
        return self.alias is not None and (ref is self.alias or ref is self.outs[0])

    def _rows(self, ref: Ref) -> list[Row]:
        """Rows that are there in each instance."""
        if len(ref.shape) < 2:
            return []
        axes: list[Row] = [axis for axis, size in self.mesh.axes.items() if size <= ref.shape[0]]
        return [*axes, self.rng.randrange(ref.shape[0])]

    def readable(self) -> list[View]:
        views = []
        for ref in self.refs:
            if self.several and not ref.alone and (ref.space != "in" or self._of_aliased(ref)):
                written = {self.index} if None in ref.written or self.index in ref.written else set()
            else:
                rows = [None, *self._rows(ref)] if None in ref.written else []
                written = {*rows, *(row for row in ref.written if row is not None)}
            views += [View(ref, row) for row in sorted(written, key=str) if row is None or len(ref.shape) > 1]
        return views

    def writable(self) -> list[View]:
        views = []
        for ref in [*self.scratch, *([self.outs[0]] if self.alias else [])]:
            if self.several and not ref.alone:
                views.append(View(ref, self.index))
            else:
                views += [View(ref, row) for row in (None, *self._rows(ref))]
        return views

    def add_alias(self) -> None:
        given = self.inputs[0]
        if self.several and (len(given.shape) < 2 or given.shape[0] < self.mesh.instances):
            return
        self.alias = given
        self.outs.append(replace(given, name=f"out{self.first_output}", space="out", written={None}))
        self.refs.append(self.outs[0])

    def emit(self, op: Json, operands: list[View], facts: Facts, to: View) -> None:
        of = [view.json() for view in operands]
        if op["op"] == "copy":
            self.body.append({"op": "copy", "from": of[0], "to": to.json()})
        else:
            given = {"of": of[0] if len(of) == 1 else of} if of else {}
            self.body.append({"op": op["op"], **given, **op, "to": to.json()})
        if self.shared and any(view.ref is self.alias for view in operands):
            self.needs.add("tpu")  # interpret=True copies
        self.shared = self.shared or self._of_aliased(to.ref)
        ref = to.ref
        ref.facts = facts if to.row is None or not ref.written else ref.facts.either(facts)
        ref.written.add(to.row)
        if self._of_aliased(ref):
            assert self.alias
            self.alias.facts = ref.facts
        if ref.shape[0] == len([row for row in ref.written if isinstance(row, int)]):
            ref.written.add(None)
        if isinstance(to.row, str) and ref.shape[0] == 1:
            ref.written.add(None)

    def target(self, dtype: Dtype, shape: list[int], new: float = 0.6) -> View | None:
        fit = [view for view in self.writable() if view.dtype is dtype and view.shape == shape]
        if fit and self.rng.random() > new:
            return self.rng.choice(fit)
        if len(self.scratch) == _MOST_SCRATCH:
            return self.rng.choice(fit) if fit else None
        space = self.rng.choice(_SPACES[self.mesh.type])
        if self.rng.random() < 0.025:
            space = "hbm"
            self.needs.add("interpret")  # the TPU's has no scratch in hbm
        own = self.several and space not in ("vmem", "smem")
        whole = [self.mesh.axes[self.index], *shape] if own else shape
        made = Ref(f"{self.prefix}{len(self.scratch)}", dtype, whole, Facts(), space)
        self.scratch.append(made)
        self.refs.append(made)
        return View(made, self.index if own else None)

    def output(self, operand: View) -> None:
        """A new output, each element of which is written: it has the rows of the instances, or of one all of it."""
        name = f"out{self.first_output + len(self.outs)}"
        if self.several:
            out = Ref(name, operand.dtype, [self.mesh.axes[self.index], *operand.shape], Facts(), "out")
            rows: list[Row] = [self.index]
        elif len(operand.shape) < 3 and self.rng.random() < 0.5:
            out = Ref(name, operand.dtype, [self.rng.randint(1, 3), *operand.shape], Facts(), "out")
            rows = list(range(out.shape[0]))
            self.rng.shuffle(rows)
        else:
            out, rows = Ref(name, operand.dtype, operand.shape, Facts(), "out"), [None]
        self.outs.append(out)
        for row in rows:
            alike = [v for v in self.readable() if v.dtype is operand.dtype and v.shape == operand.shape]
            view = self.rng.choice(alike) if row != rows[0] else operand
            self.emit({"op": "copy"}, [view], view.facts, View(out, row))
        self.refs.append(out)

    def barrier(self) -> None:
        """Each instance signals all, and waits for all."""
        self.semaphores["met"] = [self.mesh.instances]
        for row in range(self.mesh.instances):
            self.body.append({"op": "signal", "sem": ["met", {"row": row}], "by": 1})
        self.body.append({"op": "wait", "sem": ["met", {"row": self.index}], "for": self.mesh.instances})
        self.needs.add("tpu")

    def signals(self) -> None:
        """An instance signals a counter of its own and waits for that, with ops of the body between."""
        sem: Any = ["ready", {"row": self.index}] if self.several else "ready"
        self.semaphores["ready"] = [self.mesh.axes[self.index]] if self.several else []
        at = sorted(self.rng.randint(0, len(self.body)) for _ in range(self.rng.randint(2, 3)))
        by = [self.rng.randint(1, 3) for _ in at[1:]]
        self.body.insert(at[-1], {"op": "wait", "sem": sem, "for": sum(by)})
        for place, count in reversed(list(zip(at, by))):
            self.body.insert(place, {"op": "signal", "sem": sem, "by": count})

    def scratch_json(self, core: str | None = None) -> Json:
        """`core`: the mesh whose instances may touch what no other has."""
        refs: Json = {
            ref.name: {"shape": ref.shape, "dtype": ref.dtype.name, "space": ref.space}
            | ({"core": core} if core and ref.alone else {})
            for ref in self.scratch
        }
        return refs | {
            name: {"semaphore": True} | ({"shape": shape} if shape else {}) for name, shape in self.semaphores.items()
        }
