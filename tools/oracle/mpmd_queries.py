"""Random queries of `orrery show mpmd --queries`. Most are right; one in a few is made wrong in a way that JaxPP
notices."""

import math
import random
from typing import Any

Query = dict[str, Any]

NAMES = ("s", "m", "x")
SIZES = (1, 1, 2, 2, 3, 4)
# JAX is started with so many devices, whose ids are 0, 1, ..
DEVICES = 16
OPS = ("delete", "is_deleted", "to_mpmd_local_array", "first_mpmd_replica", "block_until_ready", "int", "format",
       "repr", "delete_one")
COUNTS = {"mesh": 300, "sharding": 400, "array": 600, "ops": 400, "interleaved_order": 200, "group_by_size": 200,
          "threshold": 100}


def groups_of(query: Query) -> int:
    return dict(query["mesh"])[query["mpmd_axis"]]


class Queries:
    """Queries in a sequence that depends on the seed alone."""

    def __init__(self, seed: int):
        self.rng = random.Random(seed)

    def of_kind(self, kind: str) -> Query:
        return getattr(self, f"_{kind}")()

    def _one_in(self, n: int) -> bool:
        return self.rng.randrange(n) == 0

    def _on_mesh(self, kind: str) -> Query:
        names = list(NAMES[: self.rng.choice((1, 2, 2, 3, 3))])
        self.rng.shuffle(names)
        sizes = [self.rng.choice(SIZES) for _ in names]
        while math.prod(sizes) > DEVICES:
            sizes[self.rng.randrange(len(sizes))] = 1
        query = {
            "kind": kind,
            "mesh": [[name, size] for name, size in zip(names, sizes, strict=True)],
            "mpmd_axis": self.rng.choice(names),
        }
        if self._one_in(2):
            query["device_order"] = self.rng.sample(range(DEVICES), math.prod(sizes))
        if self._one_in(2):
            query["axis_types"] = [self.rng.choice(("auto", "explicit")) for _ in names]
        return query

    def _spec(self, query: Query, rank: int) -> list[Any]:
        """Entries that name each axis at most once."""
        lists: list[list[str]] = [[] for _ in range(rank)]
        names = [name for name, _ in query["mesh"]]
        self.rng.shuffle(names)
        for name in names:
            if rank and not self._one_in(3):
                self.rng.choice(lists).append(name)
        return [None if not axes else axes[0] if len(axes) == 1 and self._one_in(2) else axes for axes in lists]

    def _groups(self, query: Query) -> list[int]:
        """Some groups in a random order, at times one beyond the axis."""
        groups = groups_of(query)
        ids = [group for group in range(groups) if not self._one_in(3)] or [self.rng.randrange(groups)]
        if self._one_in(20):
            ids.append(groups)
        self.rng.shuffle(ids)
        return ids

    def _held(self, query: Query) -> list[int]:
        """Some of the query's groups, at times any group, which may come twice."""
        groups = groups_of(query)
        held = [group for group in query["mesh_ids"] if group < groups and not self._one_in(3)]
        if self._one_in(15):
            held.append(self.rng.randrange(groups))
        return held

    def _mesh(self) -> Query:
        query = self._on_mesh("mesh")
        groups = groups_of(query)
        query["submesh_of"] = [self.rng.randrange(-groups, groups) for _ in range(self.rng.randrange(5))]
        if self._one_in(8):
            query["submesh_of"].append(self.rng.choice((-groups - 1, groups)))
        return query

    def _sharding(self) -> Query:
        query = self._on_mesh("sharding")
        query["mesh_ids"] = self._groups(query)
        query["spec"] = self._spec(query, self.rng.randrange(4))
        if query["spec"] and self._one_in(6):
            wrong = self.rng.choice(("UNCONSTRAINED", "q", query["mesh"][0][0]))
            query["spec"][self.rng.randrange(len(query["spec"]))] = wrong
        return query

    def _array(self) -> Query:
        query = self._on_mesh("array")
        rank = self.rng.randrange(3)
        query["mesh_ids"] = self._groups(query)
        query["spec"] = self._spec(query, rank)
        # Every product of sizes up to 4 that fits in 16 devices divides 48.
        shape = [48 * self.rng.randint(1, 2) for _ in range(rank)]
        query["arrays"] = [
            {
                "group": self.rng.choice(("whole", "single")) if self._one_in(25) else group,
                "spec": self._spec(query, rank) if self._one_in(6) else query["spec"],
                "shape": [48] * rank if self._one_in(15) else shape,
                "dtype": "s32" if self._one_in(15) else "f32",
            }
            for group in self._held(query)
        ]
        if not query["arrays"] or self._one_in(3):
            query["given"] = {"shape": shape, "dtype": "f32"}
        return query

    def _ops(self) -> Query:
        query = self._on_mesh("ops")
        query.pop("axis_types", None)  # which JaxPP's submeshes lack when they are printed
        query["mesh_ids"] = self._groups(query)
        query["held"] = self._held(query)
        query["ops"] = [self.rng.choice(OPS) for _ in range(self.rng.randint(1, 8))]
        return query

    def _interleaved_order(self) -> Query:
        count = self.rng.randrange(12)
        return {
            "kind": "interleaved_order",
            "sizes": [self.rng.randrange(6) for _ in range(count)],
            "mesh_ids": [self.rng.sample(range(4), self.rng.randint(1, 3)) for _ in range(count)],
        }

    def _group_by_size(self) -> Query:
        sizes = [self.rng.randrange(9) for _ in range(self.rng.randrange(15))]
        return {"kind": "group_by_size", "sizes": sizes, "threshold": self.rng.randrange(-2, 25)}

    def _threshold(self) -> Query:
        """Of one process, or of several. A third of a count below 2^53 is exact in JaxPP too."""

        def devices() -> list[list[int]]:
            most = 2 ** self.rng.randint(2, 40)
            return [[self.rng.randrange(most), self.rng.randrange(most)] for _ in range(self.rng.randint(1, 4))]

        memory = devices() if self._one_in(2) else [devices() for _ in range(self.rng.randint(2, 4))]
        return {"kind": "threshold", "limit_and_peak": memory}
