"""Random collectives: axes, groups, tiles, permutations, and what is known of their results."""

import math
import random
from dataclasses import dataclass, replace
from typing import Any

import avoided
import facts
from dtypes import DTYPES
from maker import MOST_ELEMENTS
from program import Op, Program, Value

GROUPED = (
    "psum", "pmean", "pmax", "pmin", "all_gather", "psum_scatter", "all_to_all", "pswapaxes",
)  # fmt: skip
UNEQUAL = ("psum", "pmax", "pmin")
TILED = (
    "all_gather", "psum_scatter", "all_to_all", "unreduced_psum_scatter", "all_gather_invariant", "all_gather_reduced",
)  # fmt: skip
ONE_AXIS = ("pargmax", "pargmin")
# Those that reduce dimensions of the operand too.
_WITH_DIMENSIONS = ("psum", "pmax", "pmin")
# Those that are another one between other states.
_SAME_ELEMENTS = {
    "unreduced_psum": "psum",
    "unreduced_psum_scatter": "psum_scatter",
    "all_gather_invariant": "all_gather",
    "all_gather_reduced": "all_gather",
}
COLLECTIVES = GROUPED + ONE_AXIS + ("ppermute", "pshuffle", "pbroadcast")


@dataclass(frozen=True)
class Form:
    """The properties that a random collective must have."""

    started: bool
    groups: str  # "all", "equal" or "unequal"
    axes: str  # "none", "one" or "several"
    tiled: bool | None  # of ops that have it
    dimensions: bool = False  # whether over dimensions of the operand too
    to: str = "varying"  # of all_gather; of pcast also from where: "reduced to varying"


def forms(op: str, mesh: dict[str, int]) -> list[Form]:
    axes = ["one"]
    if op not in ONE_AXIS:
        axes += ["none"] + (["several"] if len(mesh) > 1 else [])
    groups = ["all"] + (["equal"] if op in GROUPED else []) + (["unequal"] if op in UNEQUAL else [])
    return [
        Form(started, grouping, over, tiled, dimensions)
        for started in (False, True)
        for grouping in groups
        for over in axes
        for tiled in ((False, True) if op in TILED and over != "none" else (None,))
        for dimensions in ((False, True) if op in _WITH_DIMENSIONS else (False,))
        if not (over == "none" and grouping != "all")
        if not (dimensions and grouping != "all")
    ]


def _axes(rng: random.Random, mesh: dict[str, int], op: str, form: Form, among: list[str]) -> list[str]:
    if form.axes == "none":
        return []
    count = 1 if form.axes == "one" else rng.randint(2, len(among))
    names = rng.sample(among, count)
    # JAX sorts the ranks of a permutation by device, whatever the order of the names.
    return sorted(names, key=list(mesh).index) if op in ("ppermute", "pshuffle") else names


def _groups(rng: random.Random, size: int, kind: str) -> list[list[int]] | None:
    """A random partition of 0 .. size - 1; nothing where there is none of this kind."""
    ranks = list(range(size))
    rng.shuffle(ranks)
    if kind == "equal":
        width = rng.choice([d for d in range(1, size + 1) if size % d == 0])
        return [ranks[i : i + width] for i in range(0, size, width)]
    if size < 3:
        return None
    cuts = sorted(rng.sample(range(1, size), rng.randint(1, size - 1)))
    groups = [ranks[a:b] for a, b in zip([0] + cuts, cuts + [size])]
    return groups if len({len(group) for group in groups}) > 1 else None


class Maker:
    """One collective of an operand over a group of `size` ranks."""

    def __init__(self, rng: random.Random, name: str, x: Value, size: int, form: Form):
        self.rng = rng
        self.name = name
        self.x = x
        self.size = size
        self.form = form
        self.parameters: dict[str, Any] = {}

    def make(self, op: str) -> Value | None:
        made: Value | None = getattr(self, _SAME_ELEMENTS.get(op, op))()
        return made

    def _sum(self, shape: tuple[int, ...]) -> Value | None:
        x = self.x
        if x.dtype.kind == "pred":
            return facts.exact(self.name, DTYPES["s32"], shape, [x])
        if not avoided.sum_of(x):
            return None
        if not x.dtype.rounds:
            return facts.exact(self.name, x.dtype, shape, [x])
        if x.tiny and x.comparison == "moved":
            return facts.folded(self.name, x, shape)
        return facts.rounded(self.name, [x], shape, x.magnitude * self.size, integral=True, collective=True)

    def psum(self) -> Value | None:
        if self.form.axes == "none":
            return facts.moved(self.name, [self.x], self.x.shape)
        return self._sum(self.x.shape)

    def pmean(self) -> Value | None:
        x = self.x
        if not avoided.mean_of(x, self.form.axes == "none"):
            return None
        wide = DTYPES["f64" if x.dtype.bits == 64 else "f32"]
        if x.dtype.rounds:
            sums = self._sum(x.shape)
            if sums is None:
                return None
            comparison = "bound" if sums.comparison == "bound" else "fold"
            return replace(sums, comparison=comparison, product=True, integral=False, rounded=True)
        if facts.exact(self.name, wide, x.shape, [x]) is None:
            return None
        # An integer that f32 does not hold is rounded once more.
        return Value(self.name, wide, x.shape, "fold", 2.0**58, product=True, rounded=True, constant=x.constant)

    def pmax(self) -> Value | None:
        return facts.extremum(self.name, [self.x], self.x.shape, collective=True)

    pmin = pmax

    def pargmax(self) -> Value | None:
        if self.x.dtype.is_complex:
            return None
        ranks = facts.exact(self.name, DTYPES["s32"], self.x.shape, [self.x])
        if ranks is None:
            return None
        ranks = replace(ranks, constant=ranks.constant or self.size == 1)
        return ranks if avoided.extremum_of(self.x) else replace(ranks, comparison="fold", cpu=True)

    pargmin = pargmax

    def all_gather(self) -> Value | None:
        shape = list(self.x.shape)
        tiled = bool(self.form.tiled)
        rank = len(shape) + (0 if tiled else 1)
        if rank == 0 or (tiled and not avoided.tiles_of(self.x)):
            return None
        axis = self.rng.randrange(rank)
        self.parameters["axis"] = axis - rank if self.rng.random() < 0.25 else axis
        if tiled:
            shape[axis] *= self.size
        elif self.form.axes != "none":
            shape.insert(axis, self.size)
        return facts.moved(self.name, [self.x], tuple(shape))

    def _dimension(self, tiled: bool) -> int | None:
        fits = [
            d for d, extent in enumerate(self.x.shape)
            if (extent % self.size == 0 and extent > 0 if tiled else extent == self.size)
        ]  # fmt: skip
        return self.rng.choice(fits) if fits else None

    def psum_scatter(self) -> Value | None:
        if self.x.dtype.kind == "pred" or not avoided.tiles_of(self.x):
            return None
        if self.form.axes == "none":
            return facts.moved(self.name, [self.x], self.x.shape) if self.x.rank else None
        tiled = bool(self.form.tiled)
        along = self._dimension(tiled)
        if along is None:
            return None
        self.parameters["scatter_dimension"] = along
        shape = list(self.x.shape)
        if tiled:
            shape[along] //= self.size
        else:
            del shape[along]
        return self._sum(tuple(shape))

    def all_to_all(self) -> Value | None:
        tiled = bool(self.form.tiled)
        none = self.form.axes == "none"
        split = self._dimension(tiled) if not none else (0 if self.x.rank else None)
        if split is None:
            return None
        concat = self.rng.randrange(self.x.rank)
        self.parameters.update(split_axis=split, concat_axis=concat)
        if none:
            self.parameters["tiled"] = True  # untiled it asks for an extent of 1
        shape = list(self.x.shape)
        if not none and tiled:
            shape[split] //= self.size
            shape[concat] *= self.size
        elif not none:
            shape.insert(concat, shape.pop(split))
        return facts.moved(self.name, [self.x], tuple(shape))

    def pswapaxes(self) -> Value | None:
        axis = self._dimension(False)
        if axis is None:
            return None
        self.parameters["axis"] = axis
        return facts.moved(self.name, [self.x], self.x.shape)

    def ppermute(self) -> Value | None:
        none = self.form.axes == "none"
        count = avoided.pairs_over_no_axes() if none else self.rng.randint(0, self.size)
        sources = self.rng.sample(range(self.size), count)
        targets = self.rng.sample(range(self.size), count)
        self.parameters["perm"] = [list(pair) for pair in zip(sources, targets)]
        return facts.moved(self.name, [self.x], self.x.shape, zeros=count < self.size)

    def pshuffle(self) -> Value | None:
        self.parameters["perm"] = self.rng.sample(range(self.size), self.size)
        return facts.moved(self.name, [self.x], self.x.shape)

    def pbroadcast(self) -> Value | None:
        self.parameters["source"] = self.rng.randrange(self.size)
        return facts.moved(self.name, [self.x], self.x.shape)


def _over_dimensions(op: str, x: Value, dimensions: list[int]) -> Value | None:
    """The operand of a collective that first reduces these dimensions on each device."""
    shape = tuple(extent for d, extent in enumerate(x.shape) if d not in dimensions)
    if op != "psum":
        return facts.extremum("", [x], shape)
    if x.dtype.kind == "pred":
        return facts.exact("", DTYPES["s32"], shape, [x])
    if not x.dtype.rounds:
        return facts.exact("", x.dtype, shape, [x])
    terms = x.elements // max(math.prod(shape), 1)
    return facts.rounded("", [x], shape, x.magnitude * terms, integral=True, collective=True, certain=False)


def random_collective(
    rng: random.Random, program: Program, op: str, x: Value, form: Form, among: list[str] | None = None
) -> Op | None:
    """Over axes that are `among` these, or any. Nothing where no such collective of x is legal."""
    names = _axes(rng, program.mesh, op, form, list(program.mesh) if among is None else among)
    size = 1
    for name in names:
        size *= program.mesh[name]
    parameters: dict[str, Any] = {"axis_name": names[0] if len(names) == 1 else names}
    if form.groups != "all":
        groups = _groups(rng, size, form.groups)
        if groups is None or (op == "pmean" and not avoided.mean_over(groups)):
            return None
        parameters["axis_index_groups"] = groups
        size = max(len(group) for group in groups)
    reduced: Value | None = x
    if form.dimensions:
        if x.rank == 0 or x.elements == 0:
            return None
        dimensions = rng.sample(range(x.rank), rng.randint(1, x.rank))
        parameters["axis_name"] = rng.sample([*names, *dimensions], len(names) + len(dimensions))
        reduced = _over_dimensions(op, x, dimensions)
    if reduced is None:
        return None
    maker = Maker(rng, program.next_name(), reduced, size, form)
    result = maker.make(op)
    if result is None or result.elements > MOST_ELEMENTS:
        return None
    parameters.update(maker.parameters)
    if form.tiled is not None:
        parameters["tiled"] = form.tiled
    if form.to != "varying":
        parameters["to"] = form.to
    return Op((facts.of_op(result, op, [x]),), op, (x,), parameters, form.started)
