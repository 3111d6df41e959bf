"""mpmd_maps of one or several meshes and functions, as far as upstream's checks go: those that it accepts, with the
types of their outputs, and those of which one part is made wrong, with what it says.

Left out is what ours decides otherwise: semaphores and aliases of several meshes, an index over another mesh's axis,
cost estimates of true, false or negative numbers; and what upstream does not check as it traces: rows that are not
there, and copies between refs of different dtypes or shapes."""

import copy
import random
from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any

import mpmd_map_jax as upstream

import numpy as np

from mpmd_map_ops import fill, random_inputs
from mpmd_map_programs import BodyMaker, Json, Mesh, Ref, random_mesh

# Makes the op wrong; false where it has nothing to make wrong.
Spoil = Callable[[random.Random, Json], bool]


def _pair(rng: random.Random) -> list[Mesh]:
    """A scalar and a vector mesh that go together, in either order."""
    axis, cores = rng.choice(("c", "core", "x")), rng.choice((1, 1, 2, 3, 4))
    subcores = rng.choice((1, 2, 3)) if cores == 1 else 1
    meshes = [Mesh("scalar", "z", {axis: cores}), Mesh("vector", "v", {axis: cores, "s": subcores})]
    rng.shuffle(meshes)
    return meshes


def _op(rng: random.Random, meshes: list[Mesh]) -> tuple[Json, list[np.ndarray]]:
    inputs, data = random_inputs(rng, max(meshes, key=lambda mesh: mesh.instances))
    outs: list[Ref] = []
    scratch: Json = {}
    functions = []
    for mesh in meshes:
        given = [Ref(ref.name, ref.dtype, ref.shape, ref.facts, "in", {None}) for ref in inputs]
        maker = BodyMaker(rng, mesh, given, len(outs), f"t_{mesh.name}")
        fill(rng, maker, rng.randint(0, 3), 1)
        outs += maker.outs
        scratch |= maker.scratch_json(mesh.name if len(meshes) > 1 else None)
        functions.append({"mesh": mesh.json(), "body": maker.body})
    others = [axis for mesh in meshes for axis in mesh.axes]
    if scratch and rng.random() < 0.4:
        # The size of an axis is known to all functions, also to those of other meshes.
        function = rng.randrange(len(meshes))
        own = [name for name, ref in scratch.items() if name.startswith(f"t_{meshes[function].name}")]
        ref = scratch[own[0]] if own else {}
        if ref.get("dtype") in ("s32", "u32", "s16", "s8") and "core" in ref:
            size = {"op": "axis_size", "axis_name": rng.choice(others), "to": own[0]}
            functions[function]["body"].insert(0, size)
    op: Json = {
        "id": "m" if len(outs) == 1 else [f"m{i}" for i in range(len(outs))],
        "op": "mpmd_map",
        "of": [f"v{i}" for i in range(len(inputs))],
        "out": [{"shape": out.shape, "dtype": out.dtype.name} for out in outs],
    }
    if scratch:
        op["scratch"] = scratch
    if rng.random() < 0.3:
        op["cost_estimate"] = {key: rng.randrange(1000) for key in ("flops", "transcendentals", "bytes_accessed")}
    return op | {"functions": functions}, data


def _no_function(rng: random.Random, op: Json) -> bool:
    op["functions"] = []
    op.pop("scratch", None)
    return True


def _renamed_axis(body: list[Json], old: str, new: str) -> list[Json]:
    """The body with another name of an axis."""

    def renamed(given: Any) -> Any:
        if isinstance(given, dict):
            return {key: new if key in ("row", "axis_name") and x == old else renamed(x) for key, x in given.items()}
        return [renamed(x) for x in given] if isinstance(given, list) else given

    return renamed(body)


def _core_axis(rng: random.Random, op: Json) -> bool:
    function = rng.choice(op["functions"])
    old = function["mesh"]["core_axis"]
    function["mesh"]["core_axis"] = "other"
    function["body"] = _renamed_axis(function["body"], old, "other")
    return True


def _cores(rng: random.Random, op: Json) -> bool:
    mesh = rng.choice(op["functions"])["mesh"]
    mesh["cores"] = mesh["cores"] - 1 if mesh["cores"] > 1 else 2
    return True


def _empty(op: Json) -> None:
    """Functions that any mesh can run: those that do nothing."""
    op.pop("scratch", None)
    for function in op["functions"]:
        function["body"] = []


def _one_type(rng: random.Random, op: Json) -> bool:
    """Two meshes of one type, equal or not."""
    first, second = op["functions"]
    kept = rng.choice((first["mesh"], second["mesh"]))
    for function, name in ((first, "z"), (second, "v")):
        if function["mesh"] is not kept:
            function["mesh"] = kept | {"name": name}
    _empty(op)
    if rng.random() < 0.5:
        kept["cores"] = kept["cores"] % 4 + 1
    return True


def _two_tensor(rng: random.Random, op: Json) -> bool:
    cores = rng.choice((1, 1, 2, 3))
    for function in op["functions"]:
        axis = "c" if rng.random() < 0.7 else "d"
        function["mesh"] = {"type": "tensor", "name": function["mesh"]["name"], "core_axis": axis, "cores": cores}
        cores = rng.choice((cores, cores % 4 + 1))
    _empty(op)
    return True


def _tensor_and_subcore(rng: random.Random, op: Json) -> bool:
    function = rng.choice(op["functions"])
    axis = rng.choice((function["mesh"]["core_axis"], "tensor"))
    cores = function["mesh"]["cores"]
    function["mesh"] = {"type": "tensor", "name": function["mesh"]["name"], "core_axis": axis, "cores": cores}
    _empty(op)
    return True


def _third(rng: random.Random, op: Json) -> bool:
    """A third mesh, of the type of the first or the second."""
    mesh = copy.deepcopy(rng.choice(op["functions"])["mesh"]) | {"name": "third"}
    op["functions"].insert(rng.randint(0, 2), {"mesh": mesh, "body": []})
    return True


def _scratch_without_core(rng: random.Random, op: Json) -> bool:
    own = [ref for ref in op.get("scratch", {}).values() if "core" in ref]
    if not own:
        return False
    ref = rng.choice(own)
    del ref["core"]
    if rng.random() < 0.2:
        ref["space"] = "any"
    return True


def _cost_estimate(rng: random.Random, op: Json) -> bool:
    cost: Json = {"flops": 16, "transcendentals": 0, "bytes_accessed": 128}
    if rng.random() < 0.3:
        cost["remote_bytes_transferred"] = 64
    key = rng.choice(list(cost))
    if rng.random() < 0.25 and key != "remote_bytes_transferred":
        del cost[key]
    else:
        cost[key] = rng.choice((1.5, "16", [16], 0.25))
    op["cost_estimate"] = cost
    return True


def _unbound_axis(rng: random.Random, op: Json) -> bool:
    function = rng.choice(op["functions"])
    places = [i for i, each in enumerate(function["body"]) if each["op"] in ("axis_index", "axis_size")]
    row = [i for i, each in enumerate(function["body"]) if '"row": "' in str(each).replace("'", '"')]
    if not places and not row:
        return False
    i = rng.choice(places or row)
    old = function["mesh"]["core_axis"]
    if places:
        function["body"][i]["axis_name"] = "q"
        return True
    before = function["body"][i]
    [function["body"][i]] = _renamed_axis([before], old, "q")
    return function["body"][i] != before


def _parameter(rng: random.Random, op: Json) -> bool:
    """An op whose parameters do not go with its operands."""
    for function in op["functions"]:
        for each in function["body"]:
            if each["op"] == "reduce_sum":
                each["axes"] = [each["axes"][0] + 5]
            elif each["op"] == "transpose":
                each["permutation"] = [*each["permutation"], 0]
            elif each["op"] == "reshape":
                each["new_sizes"] = [*each["new_sizes"], 7]
            elif each["op"] == "dot_general":
                each["dimension_numbers"] = [[[7], [0]], [[], []]]
            else:
                continue
            return True
    return False


def _result(rng: random.Random, op: Json) -> bool:
    """An op whose result is not of the shape or dtype of the ref."""
    for function in op["functions"]:
        for each in function["body"]:
            if each["op"] == "full":
                each["shape"] = [*each["shape"][:-1], each["shape"][-1] + 1]
            elif each["op"] == "convert_element_type":
                each["new_dtype"] = "s16" if each["new_dtype"] != "s16" else "s8"
            else:
                continue
            return True
    return False


ONE, SEVERAL = 1, 2
SPOILS: dict[str, tuple[int, Spoil]] = {
    "no function": (ONE, _no_function),
    "core axis": (SEVERAL, _core_axis),
    "cores": (SEVERAL, _cores),
    "meshes of one type": (SEVERAL, _one_type),
    "tensor meshes": (SEVERAL, _two_tensor),
    "tensor mesh and subcore mesh": (SEVERAL, _tensor_and_subcore),
    "third mesh": (SEVERAL, _third),
    "scratch without core": (SEVERAL, _scratch_without_core),
    "cost estimate": (ONE, _cost_estimate),
    "unbound axis": (ONE, _unbound_axis),
    "parameter": (ONE, _parameter),
    "result": (ONE, _result),
}


def _says(op: Json, data: list[np.ndarray]) -> tuple[list[str], str]:
    """The types of the outputs, or the error."""
    try:
        return upstream.types(op, data), ""
    except Exception as error:  # noqa: BLE001  # of any kind
        return [], f"{type(error).__name__}: {error}".split("\n")[0][:160]


def checked(rng: random.Random, scenario_of: Any, left_out: Counter[str]) -> Iterator[Json]:
    of_kind = dict.fromkeys(["accepted", *SPOILS], 0.0)
    while True:
        kind = min(of_kind, key=lambda kind: of_kind[kind] / (5 if kind == "accepted" else 1))
        many = SEVERAL if kind == "accepted" else SPOILS[kind][0]
        op, data = _op(rng, _pair(rng) if many == SEVERAL or rng.random() < 0.4 else [random_mesh(rng)])
        if kind != "accepted" and not SPOILS[kind][1](rng, op):
            continue
        types, error = _says(op, data)
        if bool(error) == (kind == "accepted"):
            left_out[f"{kind}: {error or 'upstream accepts it'}"[:120]] += 1
            of_kind[kind] += 0.25
            continue
        of_kind[kind] += 1
        scenario = scenario_of(op, data)
        if error:
            yield {"scenario": scenario, "kind": kind, "error": error}
        else:
            names = [op["id"]] if isinstance(op["id"], str) else op["id"]
            yield {"scenario": scenario, "accepted": True, "types": dict(zip(names, types))}
