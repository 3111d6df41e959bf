"""States of values in JAX: which ones a value has, and how one enters and leaves a function under shard_map."""

from typing import Any

import jax
import numpy as np
from jax import lax
from jax._src import core
from jax._src.lax import parallel
from jax.sharding import PartitionSpec

from states import States, differing


def states_of(x: Any, mesh: dict[str, int]) -> States:
    """Those that JAX gives a value."""
    given = jax.typeof(x).manual_axis_type
    return States(
        *(tuple(axis for axis in mesh if axis in axes) for axes in (given.varying, given.unreduced, given.reduced))
    )


def spec_of(states: States, mesh: dict[str, int]) -> PartitionSpec:
    """The spec of an array with the distinct copies along dimension 0."""
    return PartitionSpec(differing(states, mesh) or None)


def entered(x: Any, states: States) -> Any:
    """`x` varies over the axes along which copies may differ, and is invarying along the others."""
    if states.unreduced:
        x = parallel.vary_unreduced_cast(x, states.unreduced)
    return parallel.preduced(x, states.reduced) if states.reduced else x


def zeros(shape: tuple[int, ...], dtype: np.dtype, states: States, mesh: dict[str, int]) -> Any:
    """A value of these states, of which nothing but the type matters."""
    x = lax.full(shape, 0, dtype)
    axes = differing(states, mesh)
    return entered(parallel.pvary(x, axes) if axes else x, states)


def varying(x: Any, mesh: dict[str, int]) -> Any:
    """A value that is nowhere unreduced, as one that varies over all axes."""
    states = states_of(x, mesh)
    assert not states.unreduced
    if states.reduced:
        x = core.reduced_vary_cast(x, states.reduced)
    invarying = tuple(states.axes("invarying", mesh))
    return parallel.pvary(x, invarying) if invarying else x
