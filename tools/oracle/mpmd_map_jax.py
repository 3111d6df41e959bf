"""An mpmd_map of a scenario in JAX: in 0.10.0, whose jax/_src/pallas/mpmd.py is the Pallas document, or in 0.10.2.

An instance's index is lax.axis_index where the interpreter has it: interpret=True has no such axes, and the TPU
interpreter gives the instances of subcore meshes index 0. There it is the index of the grid that mpmd_map makes of the
mesh. Refs in hbm or any, which the TPU interpreter only copies, are read and written by way of a scoped buffer."""

import os
from collections.abc import Callable
from typing import Any

os.environ["JAX_PLATFORMS"] = "cpu"

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jax._src.pallas import core as pallas_core
from jax._src.pallas import mpmd
from jax._src.pallas.mosaic import core as tpu_core
from jax._src.pallas.mosaic import sc_core, tpu_info
from jax.experimental import pallas as pl
from jax.experimental.pallas import tpu as pltpu

from dtypes import DTYPES
from mpmd_map_programs import Json

# The chip of which upstream asks whether it has the cores.
tpu_info.registry["cpu"] = lambda: tpu_info._get_tpu_info_impl(tpu_info.ChipVersion.TPU_V5P, 1)

_IS_DOCUMENT = jax.__version__ == "0.10.0"
_SPACES = {
    "any": pallas_core.MemorySpace.ANY,
    "hbm": tpu_core.MemorySpace.HBM,
    "smem": tpu_core.MemorySpace.SMEM,
    "vmem": tpu_core.MemorySpace.VMEM,
    "vmem_shared": tpu_core.MemorySpace.VMEM_SHARED,
}
_BUFFERED = (_SPACES["any"], _SPACES["hbm"])
_PARAMETERS: dict[str, Callable[..., Any]] = {
    "convert_element_type": lambda given: [DTYPES[given["new_dtype"]].numpy],
    "reduce_sum": lambda given: [given["axes"]],
    "dot_general": lambda given: [given["dimension_numbers"]],
    "reshape": lambda given: [given["new_sizes"]],
    "transpose": lambda given: [given["permutation"]],
}


def mesh_of(given: Json) -> Any:
    if given["type"] == "tensor":
        cores = np.array([tpu_core.TensorCore(i) for i in range(given["cores"])])
        return tpu_core.TensorCoreMesh(cores, [given["core_axis"]])
    if given["type"] == "scalar":
        return sc_core.ScalarSubcoreMesh(axis_name=given["core_axis"], num_cores=given["cores"])
    return sc_core.VectorSubcoreMesh(
        core_axis_name=given["core_axis"],
        subcore_axis_name=given["subcore_axis"],
        num_cores=given["cores"],
        num_subcores=given["subcores"],
    )


def _of_core(space: Any, mesh: Any) -> Any:
    if not _IS_DOCUMENT:
        return space @ mesh
    return tpu_core.CoreMemorySpace(space, getattr(mesh, "kernel_type", tpu_core.CoreType.TC))


def _scratch_type(given: Json, cores: dict[str, Any]) -> Any:
    if given.get("semaphore"):
        semaphore = pltpu.SemaphoreType.REGULAR
        return semaphore(tuple(given["shape"])) if "shape" in given else semaphore
    space = _SPACES[given["space"]]
    if "core" in given:
        space = _of_core(space, cores[given["core"]])
    return space(tuple(given["shape"]), DTYPES[given["dtype"]].numpy)


class _Function:
    """The function of a mesh, which runs a body. `grid`: the index is that of the grid; `buffered`: hbm is copied;
    `cores`: signals go to the core that waits on the row."""

    def __init__(self, mesh: Any, body: list[Json], refs: dict[str, Any], grid: bool, buffered: bool, cores: bool):
        self.mesh, self.body, self.refs = mesh, body, refs
        self.grid, self.buffered, self.cores = grid, buffered, cores

    def _index(self, axis: str) -> Any:
        return pl.program_id(list(self.mesh.shape).index(axis)) if self.grid else lax.axis_index(axis)

    def _row(self, row: int | str) -> Any:
        return self._index(row) if isinstance(row, str) else row

    def _view(self, given: Any) -> Any:
        return self.refs[given] if isinstance(given, str) else self.refs[given[0]].at[self._row(given[1]["row"])]

    def _space(self, given: Any) -> Any:
        return self.refs[given if isinstance(given, str) else given[0]].memory_space

    def _load(self, given: Any) -> Any:
        view = self._view(given)
        if not self.buffered or self._space(given) not in _BUFFERED:
            return view[...]

        def through(buffer: Any) -> Any:
            pltpu.sync_copy(view, buffer)
            return buffer[...]

        return pl.run_scoped(through, tpu_core.MemorySpace.VMEM(view.shape, view.dtype))

    def _store(self, given: Any, value: Any) -> None:
        view = self._view(given)
        if not self.buffered or self._space(given) not in _BUFFERED:
            view[...] = value
            return

        def through(buffer: Any) -> None:
            buffer[...] = value
            pltpu.sync_copy(buffer, view)

        pl.run_scoped(through, tpu_core.MemorySpace.VMEM(view.shape, view.dtype))

    def _value(self, op: Json) -> Any:
        name = op["op"]
        if name == "full":
            return lax.full(op["shape"], op["fill_value"], DTYPES[op["dtype"]].numpy)
        if name in ("axis_index", "axis_size"):
            to = self._view(op["to"])
            value = self._index(op["axis_name"]) if name == "axis_index" else lax.axis_size(op["axis_name"])
            return jnp.full(to.shape, value, to.dtype)
        of = [op["of"]] if isinstance(op["of"], str) or isinstance(op["of"][-1], dict) else op["of"]
        given = _PARAMETERS[name](op) if name in _PARAMETERS else []
        return getattr(lax, name)(*(self._load(each) for each in of), *given)

    def run(self) -> None:
        for op in self.body:
            if op["op"] == "copy":
                pltpu.sync_copy(self._view(op["from"]), self._view(op["to"]))
            elif op["op"] in ("signal", "wait"):
                sem = self._view(op["sem"])
                if op["op"] == "wait":
                    pl.semaphore_wait(sem, op["for"])
                else:
                    core = self._row(op["sem"][1]["row"]) if self.cores and not isinstance(op["sem"], str) else None
                    pl.semaphore_signal(sem, op["by"], core_index=core)
            else:
                self._store(op["to"], self._value(op))


def mapped(op: Json, way: str = "") -> Callable[..., Any]:
    """A function of the inputs. `way`: "interpret" or "tpu", by which it runs; none to trace it alone."""
    meshes = [mesh_of(function["mesh"]) for function in op["functions"]]
    cores = {function["mesh"]["name"]: mesh for function, mesh in zip(op["functions"], meshes)}
    names = [f"in{i}" for i in range(len(op["of"]))] + [f"out{i}" for i in range(len(op["out"]))]

    def kernel(mesh: Any, body: list[Json]) -> Callable[..., None]:
        tensor = isinstance(mesh, tpu_core.TensorCoreMesh)

        def run(*refs: Any, **scratch: Any) -> None:
            grid = way == "interpret" or (way == "tpu" and not tensor)
            several_cores = way == "tpu" and tensor and len(mesh.devices) > 1
            _Function(mesh, body, {**dict(zip(names, refs)), **scratch}, grid, way == "tpu", several_cores).run()

        return run

    cost, scratch = op.get("cost_estimate"), op.get("scratch", {})
    if isinstance(scratch, list):
        names += [f"scratch{i}" for i in range(len(scratch))]
        scratch_types: Any = [_scratch_type(given, cores) for given in scratch]
    else:
        scratch_types = {name: _scratch_type(given, cores) for name, given in scratch.items()}
    return mpmd._mpmd_map(
        [(mesh, kernel(mesh, function["body"])) for mesh, function in zip(meshes, op["functions"])],
        tuple(jax.ShapeDtypeStruct(tuple(out["shape"]), DTYPES[out["dtype"]].numpy) for out in op["out"]),
        input_output_aliases={int(given): out for given, out in op.get("aliases", {}).items()},
        **{"scratch_shapes" if _IS_DOCUMENT else "scratch_types": scratch_types},
        compiler_params=tpu_core.CompilerParams(),
        interpret={"interpret": True, "tpu": pltpu.InterpretParams()}.get(way, False),
        cost_estimate=pallas_core.CostEstimate(**cost) if cost is not None else None,
    )


def run(op: Json, inputs: list[np.ndarray], way: str) -> list[np.ndarray]:
    """The outputs of one mesh and function."""
    sizes = tuple(mesh_of(op["functions"][0]["mesh"]).shape.values())
    with pallas_core.tracing_grid_env(sizes, mapped_dims=()):
        return [np.asarray(x) for x in mapped(op, way)(*inputs)]


def types(op: Json, inputs: list[Any]) -> list[str]:
    """What upstream's checks say of the outputs."""
    found = jax.eval_shape(lambda *given: mapped(op)(*given), *inputs)
    names = {dtype.numpy: name for name, dtype in DTYPES.items()}
    return [f"{names[x.dtype]}[{','.join(map(str, x.shape))}]" for x in found]
