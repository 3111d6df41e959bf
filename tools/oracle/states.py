"""States of values along mesh axes."""

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

Axes = tuple[str, ...]


@dataclass(frozen=True)
class States:
    """Axes in mesh order; along all others the value is invarying."""

    varying: Axes = ()
    unreduced: Axes = ()
    reduced: Axes = ()

    def text(self) -> str:
        """As in a type: "{V:x, U:(y,z)}"; nothing where all are empty."""
        parts = []
        for letter, axes in (("V", self.varying), ("U", self.unreduced), ("R", self.reduced)):
            if axes:
                parts.append(f"{letter}:{axes[0] if len(axes) == 1 else '(' + ','.join(axes) + ')'}")
        return "{" + ", ".join(parts) + "}" if parts else ""

    def json(self) -> dict[str, list[str]]:
        """The keys of an array in a scenario."""
        keys = {"varying": list(self.varying)}
        if self.unreduced:
            keys["unreduced"] = list(self.unreduced)
        if self.reduced:
            keys["reduced"] = list(self.reduced)
        return keys

    def of_cotangent(self) -> "States":
        return States(self.varying, self.reduced, self.unreduced)

    def along(self, axis: str) -> str:
        """The name of the state."""
        names = ("varying", "unreduced", "reduced")
        return next((name for name in names if axis in getattr(self, name)), "invarying")

    def axes(self, state: str, mesh: Iterable[str]) -> list[str]:
        """Those with a state, by its name."""
        return [axis for axis in mesh if self.along(axis) == state]


def differing(states: States, mesh: dict[str, int]) -> Axes:
    """The axes along which the copies may differ."""
    return tuple(axis for axis in mesh if axis in states.varying + states.unreduced)


def equal_copies(data: np.ndarray, states: States, mesh: dict[str, int]) -> np.ndarray:
    """[device, ...]: along the axes where copies are equal, those of the first device there."""
    places = data.reshape(*mesh.values(), *data.shape[1:])
    first = tuple(slice(None) if axis in differing(states, mesh) else slice(0, 1) for axis in mesh)
    return np.broadcast_to(places[first], places.shape).reshape(data.shape)


def distinct_copies(data: np.ndarray, states: States, mesh: dict[str, int]) -> np.ndarray:
    """One of those that are equal: [place on the differing axes, ...]."""
    places = data.reshape(*mesh.values(), *data.shape[1:])
    count = int(np.prod([mesh[axis] for axis in differing(states, mesh)], dtype=np.int64))
    chosen = places[tuple(slice(None) if axis in differing(states, mesh) else 0 for axis in mesh)]
    return chosen.reshape(count, *data.shape[1:])
