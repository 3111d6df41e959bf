"""Queries for the spec of an HLO text, and JAX's answers: texts that XLA writes of shardings of the same mesh or of
another one, and some with errors."""

import itertools
import math
from typing import Any

from jax.sharding import NamedSharding, PartitionSpec
from jax._src.lib import xla_client
from jax._src.sharding_impls import parse_flatten_op_sharding

from sharding_answers import (
    Answer, Refused, has_large_manual_axis, hlo_v1, left_out, mesh_of, sharding_of, spec_json
)  # fmt: skip
from sharding_queries import NAMES, Queries, Query

# One of these takes the place of a character or two of a text.
_WRONG = ("", "[", "]", "{", "}", ",", "<", "=", "T", "-1", "99", "x", " ", "(")


def _other_mesh(queries: Queries, devices: int) -> list[list[Any]]:
    """Axes of as many devices, mostly."""
    sizes: list[int] = []
    rest = devices if queries.rng.randrange(8) else devices + 1
    while rest > 1 and len(sizes) < 3:
        size = queries.rng.choice([i for i in range(1, rest + 1) if rest % i == 0])
        sizes.append(size)
        rest //= size
    sizes += [rest] if rest > 1 or not sizes else []
    return [[name, size] for name, size in zip(NAMES, sizes, strict=False)]


def _damaged(queries: Queries, text: str) -> str:
    rng = queries.rng
    at = rng.randrange(len(text))
    return text[:at] + rng.choice(_WRONG) + text[at + rng.choice((0, 1, 1, 2)) :]


def query(queries: Queries) -> Query | None:
    """A query. Nothing if the sharding that was drawn has no HLO text."""
    ndim = queries.rng.randint(1, 3)
    drawn = queries.of_rank(ndim)
    if has_large_manual_axis(drawn):
        return None
    hlo = sharding_of(drawn)._to_xla_hlo_sharding(ndim)
    text = str(hlo) if queries.rng.random() < 0.6 else hlo_v1(hlo)
    mesh = drawn["mesh"]
    if queries.rng.randrange(4) == 0:
        mesh = _other_mesh(queries, math.prod(size for _, size in mesh))
    if queries.rng.randrange(6) == 0:
        text = _damaged(queries, text)
    return {"hlo": text, "mesh": mesh, "ndim": ndim}


def _read(text: str) -> Any:
    try:
        return xla_client.HloSharding.from_string(text)
    except Exception:  # noqa: BLE001  # jaxlib has several kinds for errors of syntax
        return None


def _aborts(hlo: Any) -> bool:
    """Whether XLA aborts once it is asked for the devices: where the counts on both sides of "<=" differ."""
    proto = hlo.to_proto()
    iota = proto.iota_reshape_dims
    return bool(iota) and math.prod(iota) != math.prod(hlo.tile_assignment_dimensions())


def _some_spec_gives(hlo: Any, mesh: Any, ndim: int) -> bool:
    """Whether some spec of the mesh has this HLO sharding. All are tried, without axes of size 1."""
    names = [name for name in mesh.axis_names if mesh.shape[name] > 1]
    for count in range(len(names) + 1):
        for axes in itertools.permutations(names, count):
            for ends in itertools.combinations_with_replacement(range(count + 1), ndim - 1):
                cuts = (0, *ends, count)
                entries = [axes[cuts[i] : cuts[i + 1]] for i in range(ndim)]
                if NamedSharding(mesh, PartitionSpec(*entries))._to_xla_hlo_sharding(ndim) == hlo:
                    return True
    return False


def answer(asked: Query) -> Answer | None:
    """JAX's answer, where it is right: one that is wrong, or an error of a sharding that some spec has, is nothing."""
    mesh, ndim = mesh_of(asked), asked["ndim"]
    hlo = _read(asked["hlo"])
    if hlo is None:
        return Refused("hlo").answer()
    if _aborts(hlo):
        left_out["HLO texts on which XLA aborts"] += 1
        return None
    if hlo.subgroup_types() or hlo.is_unreduced():
        left_out["specs of HLO texts with unreduced or several subgroups"] += 1
        return None
    if str(hlo) != asked["hlo"]:
        left_out["specs of HLO texts that XLA reads but does not write"] += 1
        return None
    dimensions = len(hlo.tile_assignment_dimensions()) - hlo.replicate_on_last_tile_dim() if hlo.is_tiled() else ndim
    gives = dimensions == ndim and hlo.is_tiled() and _some_spec_gives(hlo, mesh, ndim)
    try:
        spec = parse_flatten_op_sharding(hlo, mesh)[0]
    except Exception:  # noqa: BLE001  # of any kind, assertions too
        assert not gives, (asked, "JAX finds no spec where there is one")
        return Refused("hlo").answer()
    if hlo.is_tiled() and not gives:
        left_out["specs that JAX finds for HLO texts that they do not give"] += 1
        return None
    return {"spec": spec_json(spec), "unreduced": []}
