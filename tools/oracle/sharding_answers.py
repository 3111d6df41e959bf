"""What JAX answers to queries of shardings (sharding_queries.py).

What JAX 0.10.2 answers otherwise than we do on purpose, or not at all, is left out of an answer, and counted by its
reason in `left_out`."""

import collections
import functools
import re
from collections.abc import Callable
from typing import Any

import jax
from jax.sharding import AbstractMesh, AxisType, Mesh, NamedSharding, PartitionSpec
from jax._src.lib import xla_client
from jax._src.sharding_impls import device_replica_id_map

import numpy as np

from sharding_queries import UNCONSTRAINED, Query, sizes_of, types_of

Answer = dict[str, Any]

_TYPES = {"auto": AxisType.Auto, "explicit": AxisType.Explicit, "manual": AxisType.Manual}

# This counts what is left out by its reason, with the number of the rule in the catalogue of semantics.
left_out: collections.Counter[str] = collections.Counter()


class Refused(Exception):
    """JAX refuses a query, at this stage."""

    def __init__(self, stage: str):
        super().__init__(stage)
        self.stage = stage

    def answer(self) -> Answer:
        return {"error": {"stage": self.stage}}


def _at(stage: str, make: Callable[[], Any]) -> Any:
    try:
        return make()
    except Exception as error:  # of any kind: JAX also asserts, and runs over the end of lists
        raise Refused(stage) from error


@functools.cache
def _devices() -> list[Any]:
    return jax.devices()


def mesh_of(query: Query) -> Any:
    def make() -> Any:
        names = tuple(name for name, _ in query["mesh"])
        sizes = tuple(size for _, size in query["mesh"])
        kinds = tuple(_TYPES[kind] for kind in query["axis_types"]) if "axis_types" in query else None
        if query.get("abstract"):
            return AbstractMesh(sizes, names, kinds)
        order = query.get("device_order", range(int(np.prod(sizes))))
        return Mesh(np.array([_devices()[i] for i in order], dtype=object).reshape(sizes), names, kinds)

    return _at("mesh", make)


def _entry(entry: Any) -> Any:
    if entry == UNCONSTRAINED:
        return PartitionSpec.UNCONSTRAINED
    return tuple(_entry(name) for name in entry) if isinstance(entry, list) else entry


def spec_of(query: Query) -> PartitionSpec:
    return _at(
        "spec",
        lambda: PartitionSpec(
            *(_entry(entry) for entry in query["spec"]),
            unreduced=set(query.get("unreduced", [])),
            reduced=set(query.get("reduced", [])),
        ),
    )


def sharding_of(query: Query) -> NamedSharding:
    mesh, spec = mesh_of(query), spec_of(query)
    ids = query.get("logical_device_ids")
    return _at(
        "sharding",
        lambda: NamedSharding(
            mesh, spec, memory_kind=query.get("memory_kind"), _logical_device_ids=tuple(ids) if ids else None
        ),
    )


def spec_json(spec: PartitionSpec) -> list[Any]:
    def entry(of: Any) -> Any:
        if of is PartitionSpec.UNCONSTRAINED:
            return UNCONSTRAINED
        return list(of) if isinstance(of, tuple) else of

    return [entry(of) for of in spec.partitions]


def _sets_sorted(text: str) -> str:
    """JAX prints sets in the order of their hashes."""

    def sort(found: re.Match[str]) -> str:
        return found[1] + "{" + ", ".join(sorted(found[2].split(", "))) + "}"

    return re.sub(r"(frozenset\(|unreduced=|reduced=)\{([^{}]*)\}", sort, text)


def hlo_v1(hlo: Any) -> str:
    """The same sharding with its devices one by one."""
    if not hlo.is_tiled():
        return str(hlo)
    proto = hlo.to_proto()
    devices = list(hlo.tile_assignment_devices())
    proto.iota_reshape_dims, proto.iota_transpose_perm = [], []
    proto.tile_assignment_devices = devices
    same = xla_client.HloSharding.from_proto(proto)
    assert list(same.tile_assignment_devices()) == devices
    return str(same)


def _index(shape: list[int], slices: tuple[slice, ...]) -> list[list[int]]:
    """Where each dimension begins and ends. A dimension that is not cut has no bounds in JAX."""
    return [list(one.indices(extent)[:2]) for extent, one in zip(shape, slices, strict=True)]


def _maps(query: Query, sharding: NamedSharding) -> Answer:
    shape = query["shape"]
    if query.get("abstract"):
        try:
            sharding.devices_indices_map(tuple(shape))
        except (ValueError, NotImplementedError):
            return Refused("map").answer()
        raise AssertionError("JAX maps an abstract mesh")
    try:
        found = sharding.devices_indices_map(tuple(shape))
    except NotImplementedError:
        left_out["index and replica_ids with unreduced axes of size > 1 (12.5)"] += 1
        return {}
    return {
        "index": {str(device.id): _index(shape, slices) for device, slices in found.items()},
        "replica_ids": {
            str(device.id): replica for device, replica in device_replica_id_map(sharding, tuple(shape)).items()
        },
    }


def _texts(sharding: NamedSharding, rank: int) -> Answer:
    """What depends on the rank of a shape but not on its dimensions."""
    answer = {
        "sdy": _sets_sorted(repr(sharding._to_sdy_sharding(rank))),
        "sdy_modified": _sets_sorted(repr(sharding._to_sdy_sharding(rank, True))),
    }
    try:
        hlo = sharding._to_xla_hlo_sharding(rank)
    except AssertionError:  # a manual axis in the spec
        left_out["hlo and hlo_v1 with a manual axis of size > 1 in an entry (12.4)"] += 1
        return answer
    return {"hlo": str(hlo), "hlo_v1": hlo_v1(hlo), **answer}


def answer_of_sharding(query: Query) -> Answer | None:
    """The answer to a query of one sharding, which has some keys also beside a shape that JAX refuses."""
    try:
        sharding = sharding_of(query)
    except Refused as refused:
        return refused.answer()
    shape = tuple(query["shape"])
    answer: Answer = {"fully_replicated": sharding.is_fully_replicated}
    if query.get("repr"):
        answer["repr"] = _sets_sorted(repr(sharding))
    try:
        _at("shape", lambda: sharding.check_compatible_aval(shape))
        answer |= _texts(sharding, len(shape))
        answer["shard_shape"] = list(_at("shape", lambda: sharding.shard_shape(shape)))
    except Refused as refused:
        return answer | refused.answer()
    if has_large_manual_axis(query):
        left_out["shardings with all axes in entries, and with a manual one of size > 1 (12.4)"] += 1
        return None
    return answer | _maps(query, sharding)


def has_large_manual_axis(query: Query) -> bool:
    sizes = sizes_of(query)
    return any(kind == "manual" and sizes[name] > 1 for name, kind in types_of(query).items())


def answer_of_pair(query: Query) -> Answer | None:
    """Nothing if one of the two is no sharding, or if no whole array has it."""
    if any(has_large_manual_axis(one) for one in query["equivalent"]):
        left_out["pairs with a manual axis of size > 1 (12.4)"] += 1
        return None
    try:
        first, second = (sharding_of(one) for one in query["equivalent"])
    except Refused:
        return None
    try:
        equivalent = first.is_equivalent_to(second, query["ndim"])
    except jax.errors.JaxRuntimeError:
        left_out["pairs of an abstract mesh and another of the same HLO text and memory kind (12.7)"] += 1
        return None
    return {"equivalent": equivalent, "equal": first == second}
