"""Random queries of `orrery show sharding --queries`: of one sharding, of a pair of them, and of a spec that is to be
corrected. (sharding_texts.py has those of HLO texts.)"""

import math
import random
from collections.abc import Callable
from typing import Any

Query = dict[str, Any]

NAMES = ("x", "y", "z", "w")
SIZES = (1, 1, 1, 2, 2, 2, 3, 4, 4, 5, 6, 7, 8)
MOST_DEVICES = (8, 8, 16, 16, 16, 16, 16, 32, 64)
TYPES = ("auto", "explicit", "manual")
MEMORY_KINDS = ("device", "pinned_host", "unpinned_host")
# JAX is started with so many devices, whose ids are 0, 1, ..
DEVICES = 64
UNCONSTRAINED = "UNCONSTRAINED"


def sizes_of(query: Query) -> dict[str, int]:
    return dict(query["mesh"])


def types_of(query: Query) -> dict[str, str]:
    names = [name for name, _ in query["mesh"]]
    return dict(zip(names, query.get("axis_types", ["auto"] * len(names)), strict=False))


class Queries:
    """Queries in a sequence that depends on the seed alone."""

    def __init__(self, seed: int):
        self.rng = random.Random(seed)

    def _one_in(self, n: int) -> bool:
        return self.rng.randrange(n) == 0

    def _mesh(self) -> list[list[Any]]:
        most = self.rng.choice(MOST_DEVICES)
        axes = self.rng.choice((1, 2, 2, 3, 3, 4))
        sizes = [self.rng.choice(SIZES) for _ in range(axes)]
        while math.prod(sizes) > most:
            sizes[self.rng.randrange(axes)] = self.rng.choice((1, 2, 2))
        names = list(NAMES[:axes])
        if self._one_in(3):
            self.rng.shuffle(names)
        return [[name, size] for name, size in zip(names, sizes, strict=True)]

    def _types(self, axes: int) -> list[str]:
        """Manual axes are rare, since no whole array can be made along one of size > 1."""
        kind = self.rng.choice(("one", "two", "two", "all"))
        if kind == "one":
            return [self.rng.choice(("auto", "explicit", "explicit"))] * axes
        weights = {"auto": 3, "explicit": 4, "manual": 0 if kind == "two" else 1}
        return self.rng.choices(list(weights), list(weights.values()), k=axes)

    def _mesh_query(self) -> Query:
        mesh = self._mesh()
        devices = math.prod(size for _, size in mesh)
        query: Query = {"mesh": mesh}
        if self._one_in(2):
            query["axis_types"] = self._types(len(mesh))
        if self._one_in(10):
            query["abstract"] = True
        elif self._one_in(3):
            ids = range(DEVICES if self._one_in(3) else devices)
            query["device_order"] = self.rng.sample(ids, devices)
        return query

    def _axes(self, query: Query) -> list[str]:
        """The axes in a random order, mostly without manual ones of size > 1, which no entry may have."""
        sizes, types = sizes_of(query), types_of(query)
        names = list(sizes)
        self.rng.shuffle(names)
        if not self._one_in(4):
            names = [name for name in names if types[name] != "manual" or sizes[name] == 1]
        return names

    def _entries(self, query: Query, rank: int) -> list[Any]:
        """A spec of at most this rank that has each axis once, with entries as people may write them."""
        axes = self._axes(query)
        auto = "auto" in types_of(query).values()
        entries: list[Any] = []
        for _ in range(rank if self._one_in(2) else self.rng.randint(0, rank)):
            kind = self.rng.choices(("null", "name", "list", "open"), (3, 5, 4, 1 if auto else 0))[0]
            if kind == "open":
                entries.append(UNCONSTRAINED)
            elif kind == "name" and axes:
                entries.append(axes.pop())
            elif kind == "list":
                entries.append([axes.pop() for _ in range(min(len(axes), self.rng.choice((0, 1, 2, 2, 2, 3, 4))))])
            else:
                entries.append(None)
        return entries

    def _sets(self, query: Query) -> None:
        """Unreduced and reduced axes: explicit ones that the entries leave."""
        used = used_axes(query)
        free = [name for name, kind in types_of(query).items() if kind == "explicit" and name not in used]
        for name in free:
            key = self.rng.choice(("unreduced", "unreduced", "reduced", ""))
            if key:
                query.setdefault(key, []).append(name)
        for key in ("unreduced", "reduced"):
            self.rng.shuffle(query.get(key, []))

    def _shape(self, query: Query, rank: int) -> list[int]:
        """Mostly one that the axes divide; some dimensions are empty."""
        sizes = sizes_of(query)
        shape = []
        for i in range(rank):
            entry = query["spec"][i] if i < len(query["spec"]) else None
            ways = math.prod(sizes.get(name, 1) for name in names_in(entry))
            if self._one_in(20):
                shape.append(0)
            elif self._one_in(20):
                shape.append(self.rng.randint(1, 9))
            else:
                shape.append(ways * self.rng.choice((1, 1, 2, 3)))
        return shape

    def of_rank(self, rank: int) -> Query:
        """A sharding of an array of this rank, mostly a right one."""
        query = self._mesh_query()
        query["shape"] = []
        query["spec"] = self._entries(query, rank)
        if self._one_in(2):
            self._sets(query)
        if self._one_in(6):
            query["memory_kind"] = self.rng.choice(MEMORY_KINDS)
        if self._one_in(6):
            devices = math.prod(size for _, size in query["mesh"])
            query["logical_device_ids"] = self.rng.sample(range(devices), devices)
        query["shape"] = self._shape(query, rank)
        return query

    def sharding(self) -> Query:
        """A query of one sharding. One in a few is made wrong."""
        query = self.of_rank(self.rng.choice((0, 1, 1, 2, 2, 2, 2, 3, 3, 4)))
        if self._one_in(2):
            query["repr"] = True
        if self._one_in(7):
            self.rng.choice(FAULTS)(self.rng, query)
        if self._one_in(40) and query["shape"]:
            query["shape"].pop()  # of too low a rank, unless the spec is shorter
        return query

    def pair(self) -> Query:
        """Two shardings: the same written otherwise, the same but for one thing, or two of the same mesh."""
        ndim = self.rng.randint(1, 3)
        first = self.of_rank(ndim)
        change = self.rng.choice(("same", "spec", "spec", "memory_kind", "ids", "order", "types", "abstract"))
        second = {**first, "spec": self._rewritten(first)}
        if change == "spec":
            kept = ("mesh", "axis_types", "abstract", "device_order", "memory_kind", "logical_device_ids")
            second = {key: value for key, value in first.items() if key in kept}
            second["spec"] = self._entries(second, ndim)
            if self._one_in(2):
                self._sets(second)
        elif change == "memory_kind":
            second["memory_kind"] = self.rng.choice(MEMORY_KINDS)
        elif change in ("ids", "order") and not (change == "order" and "abstract" in first):
            devices = math.prod(size for _, size in first["mesh"])
            key = "logical_device_ids" if change == "ids" else "device_order"
            second[key] = self.rng.choice((list(range(devices)), self.rng.sample(range(devices), devices)))
        elif change == "types":
            sets = [*second.get("unreduced", []), *second.get("reduced", [])]
            kinds = types_of(second)
            second["axis_types"] = [
                "explicit" if name in sets else self.rng.choice((kind, "auto")) for name, kind in kinds.items()
            ]
        elif change == "abstract":
            second = {key: value for key, value in second.items() if key not in ("abstract", "device_order")}
            if "abstract" not in first or self._one_in(2):
                second["abstract"] = True
        for one in (first, second):
            one.pop("shape", None)
        return {"equivalent": [first, second], "ndim": ndim}

    def _rewritten(self, query: Query) -> list[Any]:
        """Entries of the same sharding: with axes of size 1 in other places, or with nulls at the end."""
        sizes = sizes_of(query)
        ones = [name for name in used_axes(query) if sizes[name] == 1]
        entries: list[Any] = []
        for entry in query["spec"]:
            kept = [name for name in names_in(entry) if not (name in ones and self._one_in(2))]
            entries.append(entry if entry == UNCONSTRAINED else kept)
        while entries and not entries[-1] and self._one_in(2):
            entries.pop()
        return entries

    def corrected(self) -> Query:
        """A spec with axes that the mesh lacks, or that do not divide, of another rank than the shape's, rarely with an
        axis twice."""
        query: Query = {"mesh": self._mesh(), "shape": [], "spec": []}
        rank = self.rng.choice((0, 1, 2, 2, 3, 3, 4))
        names = [*sizes_of(query), *(["p", "q"] if self._one_in(3) else [])]
        self.rng.shuffle(names)
        twice = self._one_in(15)
        for _ in range(max(0, rank + self.rng.choice((-1, 0, 0, 0, 1)))):
            take = self.rng.choice((0, 1, 1, 1, 2, 2, 3))
            taken = [self.rng.choice(NAMES) if twice else names.pop() for _ in range(min(take, len(names)))]
            entry: Any = self.rng.choice((taken, taken[0])) if len(taken) == 1 else taken or None
            query["spec"].append(UNCONSTRAINED if self._one_in(12) else entry)
        query["shape"] = [
            size + self.rng.choice((0, 0, 0, 1)) if self._one_in(2) else size for size in self._shape(query, rank)
        ]
        query["corrected"] = True
        return query


def names_in(entry: Any) -> list[str]:
    if entry is None or entry == UNCONSTRAINED:
        return []
    return [entry] if isinstance(entry, str) else list(entry)


def used_axes(query: Query) -> list[str]:
    return [name for entry in query["spec"] for name in names_in(entry)]


def _null_axis(_: random.Random, query: Query) -> None:
    """An abstract mesh of JAX takes null as any name."""
    if "abstract" not in query:
        query["mesh"][0][0] = None


def _another_count_of_types(rng: random.Random, query: Query) -> None:
    kinds = list(types_of(query).values())
    query["axis_types"] = kinds[1:] if rng.random() < 0.5 else [*kinds, rng.choice(TYPES)]


def _null_in_set(rng: random.Random, query: Query) -> None:
    query.setdefault(rng.choice(("unreduced", "reduced")), []).append(None)


def _both_sets(rng: random.Random, query: Query) -> None:
    name = rng.choice(list(sizes_of(query)))
    for key in ("unreduced", "reduced"):
        query[key] = sorted({*query.get(key, []), name})


def _entry_in_set(rng: random.Random, query: Query) -> None:
    name = rng.choice(list(sizes_of(query)))
    query["spec"].append(name)
    query[rng.choice(("unreduced", "reduced"))] = [name]


def _nested_list(rng: random.Random, query: Query) -> None:
    query["spec"].append(rng.choice(([["x", "y"]], ["x", ["y"]], [[]])))


def _axis_twice(rng: random.Random, query: Query) -> None:
    name = rng.choice(list(sizes_of(query)))
    query["spec"] += rng.choice(([[name, name]], [name, name], [[name], None, [name]]))


def _unknown_axis(rng: random.Random, query: Query) -> None:
    query["spec"].append(rng.choice(("p", ["q"], ["q", "p"])))


def _open_without_auto(rng: random.Random, query: Query) -> None:
    query["axis_types"] = [rng.choice(("explicit", "manual")) for _ in query["mesh"]]
    query["spec"].append(UNCONSTRAINED)


def _unknown_in_set(rng: random.Random, query: Query) -> None:
    query.setdefault(rng.choice(("unreduced", "reduced")), []).append("p")


def _set_of_another_type(rng: random.Random, query: Query) -> None:
    used = used_axes(query)
    free = [name for name, kind in types_of(query).items() if kind != "explicit" and name not in used]
    if free:
        query[rng.choice(("unreduced", "reduced"))] = [rng.choice(free)]


# Each of these makes a query wrong in a way of its own.
FAULTS: tuple[Callable[[random.Random, Query], None], ...] = (
    _null_axis, _another_count_of_types, _null_in_set, _both_sets, _entry_in_set, _nested_list, _axis_twice,
    _unknown_axis, _open_without_auto, _unknown_in_set, _set_of_another_type,
)  # fmt: skip
