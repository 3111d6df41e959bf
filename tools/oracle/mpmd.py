#!/usr/bin/env python3
"""Makes the file of tests/data/mpmd: what JaxPP says of MPMD meshes and arrays.

    cd tests/data/mpmd
    python3 ../../../tools/oracle/mpmd.py --seed 1 --jaxpp PATH | gzip -9n >queries.jsonl.gz

PATH is the folder src/jaxpp of https://github.com/NVIDIA/jaxpp. A line is {"query": Q, "answer": A}, both as
`orrery show mpmd --queries` has them; in the place of an error's text there is true. Counts of what the file holds go
to stderr, for the README.md there. Nothing depends on the order of hashes.
"""

import argparse
import collections
import importlib
import json
import os
import sys
import types
from collections.abc import Callable
from typing import Any
from unittest import mock

os.environ["XLA_FLAGS"] = "--xla_force_host_platform_device_count=16"
os.environ["JAX_PLATFORMS"] = "cpu"

import jax
import jax.numpy as jnp
import numpy as np
from jax.experimental import multihost_utils
from jax.sharding import AxisType, Mesh, NamedSharding
from jax.sharding import PartitionSpec as P

from mpmd_queries import COUNTS, Queries, Query

Answer = Any

DTYPES = {"f32": "float32", "s32": "int32"}
AXIS_TYPES = {"auto": AxisType.Auto, "explicit": AxisType.Explicit}


def loaded(path: str, name: str) -> types.ModuleType:
    """A module of JaxPP, without what the package imports."""
    if "jaxpp" not in sys.modules:
        sys.modules["jaxpp"] = types.ModuleType("jaxpp")
        sys.modules["jaxpp"].__path__ = [path]
    return importlib.import_module(f"jaxpp.{name}")


def or_error(answer: Callable[[], Answer]) -> Answer:
    try:
        return answer()
    except Exception:  # noqa: BLE001  # assertions, and what JAX and numpy throw
        return {"error": True}


def ids_of(devices: np.ndarray) -> list[int]:
    return [device.id for device in devices.flat]


def grid(devices: np.ndarray) -> Answer:
    return {"shape": list(devices.shape), "devices": ids_of(devices)}


def spec_of(entries: list[Any]) -> P:
    def entry(axes: Any) -> Any:
        return P.UNCONSTRAINED if axes == "UNCONSTRAINED" else tuple(axes) if isinstance(axes, list) else axes

    return P(*(entry(axes) for axes in entries))


def spec_json(spec: P) -> list[Any]:
    return [list(entry) if isinstance(entry, tuple) else entry for entry in spec]


def local_json(array: Any) -> str:
    local = array.to_mpmd_local_array
    return "none" if local is None else f"list of {len(local)}" if isinstance(local, list) else "array"


def first_json(array: Any) -> Answer:
    first = array.first_mpmd_replica
    return None if first is None else ids_of(first.sharding.mesh.devices)


class JaxPP:
    """Answers queries. The function of a kind bears its name."""

    def __init__(self, path: str):
        self.mesh_module = loaded(path, "mesh")
        self.types_module = loaded(path, "types")
        self.array_module = loaded(path, "array")

    def answer(self, query: Query) -> Answer:
        return getattr(self, f"_{query['kind']}")(query)

    def _made(self, query: Query) -> Any:
        names = [name for name, _ in query["mesh"]]
        sizes = [size for _, size in query["mesh"]]
        order = query.get("device_order", range(int(np.prod(sizes))))
        kinds = tuple(AXIS_TYPES[kind] for kind in query.get("axis_types", ["auto"] * len(names)))
        devices = np.array([jax.devices()[device] for device in order]).reshape(sizes)
        return self.mesh_module.MpmdMesh(Mesh(devices, names, axis_types=kinds), query["mpmd_axis"])

    def _placed(self, query: Query, mesh: Any) -> Any:
        return self.types_module.MpmdSharding(mesh, set(query["mesh_ids"]), spec_of(query.get("spec", [])))

    def _mesh(self, query: Query) -> Answer:
        mesh = self._made(query)
        # A Mesh may not have no device, or one twice, so the devices are taken alone.
        places = np.array(query["submesh_of"], int)
        taken = or_error(lambda: grid(np.take(mesh.jax_mesh.devices, places, mesh.mpmd_axis)))
        return {
            "mpmd_dim": mesh.mpmd_dim,
            "unstack": [grid(group.devices) for group in mesh.unstack],
            "group_of": {str(device.id): group for device, group in mesh.device_mpmd_idx.items()},
            "submesh": taken,
        }

    def _sharding(self, query: Query) -> Answer:
        mesh = self._made(query)
        placed = or_error(lambda: self._placed(query, mesh))
        if isinstance(placed, dict):
            return placed
        answer = {"filtered": spec_json(placed.spec)}
        devices = or_error(lambda: ids_of(placed.sharding.mesh.devices))
        return answer | (devices if isinstance(devices, dict) else {"devices": devices})

    def _array(self, query: Query) -> Answer:
        mesh = self._made(query)

        def local(array: Query) -> jax.Array:
            zeros = jnp.zeros(array["shape"], DTYPES[array["dtype"]])
            if array["group"] == "single":
                return jax.device_put(zeros, jax.devices()[0])
            lies_on = mesh.jax_mesh if array["group"] == "whole" else mesh.unstack[array["group"]]
            return jax.device_put(zeros, NamedSharding(lies_on, spec_of(array["spec"])))

        def answer() -> Answer:
            given = query.get("given")
            array = self.array_module.MpmdArray(
                [local(array) for array in query["arrays"]],
                self._placed(query, mesh),
                tuple(given["shape"]) if given else None,
                jnp.dtype(DTYPES[given["dtype"]]) if given else None,
            )
            return {
                "mpmd_idxs": list(array._mpmd_idxs),
                "spec": spec_json(array.spec),
                "shape": list(array.shape),
                "dtype": next(ours for ours, numpy in DTYPES.items() if numpy == str(array.dtype)),
                "ndim": array.ndim,
                "is_mpmd_replicated": array.is_mpmd_replicated,
                "is_partially_addressable": array.is_partially_addressable,
                "held_groups": list(array._partially_addressable_arrays),
                "sharding_devices": ids_of(array.sharding.mesh.devices),
                "local_sharding_devices": ids_of(array._mpmd_local_sharding.mesh.devices),
                "first_mpmd_replica": first_json(array),
                "to_mpmd_local_array": local_json(array),
            }

        return or_error(answer)

    def _ops(self, query: Query) -> Answer:
        mesh = self._made(query)

        def made() -> Any:
            held = [jax.device_put(jnp.int32(7), NamedSharding(mesh.unstack[group], P())) for group in query["held"]]
            return self.array_module.MpmdArray(held, self._placed(query, mesh), (), jnp.dtype("int32"))

        array = or_error(made)
        if isinstance(array, dict):
            return array
        values: dict[str, Callable[[], Answer]] = {
            "delete": array.delete,
            "is_deleted": array.is_deleted,
            "to_mpmd_local_array": lambda: local_json(array),
            "first_mpmd_replica": lambda: first_json(array),
            "block_until_ready": lambda: None if array.block_until_ready() is array else "another",
            "int": lambda: int(array),
            "format": lambda: format(array, "d"),
            # Older versions of JAX write P() in full.
            "repr": lambda: repr(array).replace("PartitionSpec(", "P("),
            "delete_one": lambda: next(iter(array._partially_addressable_arrays.values())).delete(),
        }
        return {"answers": [or_error(values[op]) for op in query["ops"]]}

    def _interleaved_order(self, query: Query) -> Answer:
        arrays = [mock.Mock() for _ in query["sizes"]]
        for array, size in zip(arrays, query["sizes"], strict=True):
            array.addressable_shards = [mock.Mock()]
            array.addressable_shards[0].data.nbytes = size
        shardings = [mock.Mock(mesh_ids=frozenset(ids)) for ids in query["mesh_ids"]]
        return {"order": self.array_module._build_mpmd_interleaved_order(arrays, shardings)}

    def _group_by_size(self, query: Query) -> Answer:
        return {"groups": self.array_module._group_by_size_threshold(query["sizes"], query["threshold"])}

    def _threshold(self, query: Query) -> Answer:
        """Of several processes each is asked in turn what it tells the others, then the first what it concludes."""
        memory = query["limit_and_peak"]
        processes = memory if isinstance(memory[0][0], list) else [memory]
        told: list[Any] = []

        def asked(process: list[list[int]], gather: Callable[..., Any]) -> int:
            devices = [mock.Mock() for _ in process]
            for device, (limit, peak) in zip(devices, process, strict=True):
                device.memory_stats.return_value = {"bytes_limit": limit, "peak_bytes_in_use": peak}
            with (
                mock.patch.object(jax, "local_devices", lambda: devices),
                mock.patch.object(jax, "process_count", lambda: len(processes)),
                mock.patch.object(multihost_utils, "process_allgather", gather),
            ):
                return self.array_module._get_working_memory_threshold()

        def tell(least: Any, tiled: bool) -> Any:
            told.append(np.asarray(least))
            return least

        if len(processes) > 1:
            for process in processes:
                asked(process, tell)
        return {"threshold": asked(processes[0], lambda least, tiled: np.stack(told))}


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--seed", type=int, required=True)
    parser.add_argument("--jaxpp", required=True, help="the folder src/jaxpp")
    options = parser.parse_args()
    queries, jaxpp = Queries(options.seed), JaxPP(options.jaxpp)
    counts: collections.Counter[str] = collections.Counter()
    for kind, count in COUNTS.items():
        for _ in range(count):
            query = queries.of_kind(kind)
            answer = jaxpp.answer(query)
            counts[f"{kind}: error" if "error" in answer else f"{kind}: answered"] += 1
            print(json.dumps({"query": query, "answer": answer}, separators=(",", ":")))
    for what, count in sorted(counts.items()):
        print(f"{count:6} {what}", file=sys.stderr)


if __name__ == "__main__":
    main()
