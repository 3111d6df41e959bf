#!/usr/bin/env python3
"""Makes a file of tests/data/jax: random mpmd_maps, and what the Pallas document's own code makes of them.

    python3 tools/oracle/mpmd_map.py --programs 250 --seed 1 | gzip -9n >tests/data/jax/mpmd-map-1.jsonl.gz

It needs jax and jaxlib 0.10.0, whose jax/_src/pallas/mpmd.py is the document; 0.10.2 gives the same lines but for texts
of errors. A line is one of

    {"scenario": S, "by": ["interpret", "tpu"], "results": {"m": ["exact", "s32", [2, 8], BITS]}}
    {"scenario": S, "kind": "unbound axis", "error": TEXT}
    {"scenario": S, "accepted": true, "types": {"m": "s32[2,8]"}}

The first has one mesh and function, and the interpreters that ran it: JAX's with interpret=True, and the one for TPUs.
They agree. BITS are as in corpus.py. The others have one or several meshes and functions, and what upstream's checks
say of them. Counts, and what is left out, go to stderr."""

import argparse
import json
import random
import sys
from collections import Counter
from collections.abc import Iterator
from typing import Any

import mpmd_map_jax as upstream  # sets up JAX

import jax
import numpy as np

from dtypes import DTYPES, to_hex
from mpmd_map_ops import fill, random_inputs
from mpmd_map_programs import BodyMaker, Json, View, random_mesh
from mpmd_map_refused import checked

def scenario_of(op: Json, data: list[np.ndarray]) -> Json:
    names = {each.numpy: name for name, each in DTYPES.items()}
    arrays = {
        name: {
            "local_shape": list(x.shape),
            "dtype": names[x.dtype],
            "encoding": "bits",
            "per_device": [x.reshape(-1).view(f"u{x.itemsize}").tolist()],
        }
        for name, x in zip(op["of"], data)
    }
    rate = "1 TFLOP/s"
    cluster = {
        "devices": 1, "topology": "ring", "bandwidth": "50 GB/s", "latency": "1 us", "memory_bandwidth": "1 TB/s",
        "flops": {"f32": rate, "s32": rate, "f16": rate, "bf16": rate},
    }  # fmt: skip
    outputs = [op["id"]] if isinstance(op["id"], str) else op["id"]
    return {
        "orrery": 1, "cluster": cluster, "mesh": {"d": 1}, "arrays": arrays, "program": [op], "outputs": outputs
    }  # fmt: skip


def with_scratch_in_a_list(op: Json) -> Json:
    """The op with scratch by its place."""
    text = json.dumps({"functions": op["functions"]})
    for i, name in enumerate(op["scratch"]):
        text = text.replace(f'"{name}"', f'"scratch{i}"')
    return op | {"scratch": list(op["scratch"].values())} | json.loads(text)


def value_op(rng: random.Random) -> tuple[Json, list[np.ndarray], set[str]]:
    mesh = random_mesh(rng)
    inputs, data = random_inputs(rng, mesh)
    maker = BodyMaker(rng, mesh, inputs)
    if rng.random() < 0.25:
        maker.add_alias()
    outputs = max(rng.choice((1, 1, 2)), len(maker.outs))
    meets = mesh.type == "tensor" and mesh.instances > 1 and not maker.alias and rng.random() < 0.5
    fill(rng, maker, rng.randint(0, 8), 1 if meets else outputs)
    if meets:
        maker.barrier()
        first = maker.outs[0]
        read = View(first, rng.choice((None, rng.randrange(first.shape[0]))))
        if to := maker.target(read.dtype, read.shape, 1):
            maker.emit({"op": "copy"}, [read], read.facts, to)
            maker.output(rng.choice([v for v in maker.readable() if v.ref is to.ref and len(v.shape) < 3] or [read]))
    elif rng.random() < 0.25:
        maker.signals()
    op: Json = {
        "id": "m" if len(maker.outs) == 1 else [f"m{i}" for i in range(len(maker.outs))],
        "op": "mpmd_map",
        "of": [f"v{i}" for i in range(len(inputs))],
        "out": [{"shape": out.shape, "dtype": out.dtype.name} for out in maker.outs],
    }
    if scratch := maker.scratch_json():
        op["scratch"] = scratch
    if maker.alias:
        op["aliases"] = {"0": 0}
    if rng.random() < 0.3:
        op["cost_estimate"] = {key: rng.randrange(1000) for key in ("flops", "transcendentals", "bytes_accessed")}
    op["functions"] = [{"mesh": mesh.json(), "body": maker.body}]
    if scratch and rng.random() < 0.15:
        op = with_scratch_in_a_list(op)
    return op, data, maker.needs


def values(rng: random.Random, left_out: Counter[str]) -> Iterator[Json]:
    while True:
        op, data, needs = value_op(rng)
        ways = ["interpret", "tpu"] if not needs else sorted(needs)
        if len(needs) > 1:
            left_out["one part only by interpret=True, another only by the TPU interpreter"] += 1
            continue
        try:
            found = [upstream.run(op, data, way) for way in ways]
        except Exception as error:  # noqa: BLE001  # of any kind
            left_out[f"{ways[0]}: {type(error).__name__}: {error}".split("\n")[0][:120]] += 1
            upstream.pltpu.reset_tpu_interpret_mode_state()
            continue
        if any(to_hex(x) != to_hex(y) for x, y in zip(found[0], found[-1])):
            left_out["the interpreters disagree"] += 1
            continue
        names = [op["id"]] if isinstance(op["id"], str) else op["id"]
        results = {
            name: ["exact", out["dtype"], out["shape"], to_hex(x)] for name, out, x in zip(names, op["out"], found[0])
        }
        yield {"scenario": scenario_of(op, data), "by": ways, "results": results}


def main() -> None:
    parser = argparse.ArgumentParser(prog="mpmd_map", description="random mpmd_maps, and what JAX makes of them")
    parser.add_argument("--programs", type=int, default=250)
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    assert jax.__version__ in ("0.10.0", "0.10.2"), "the document is of JAX 0.10.0"
    rng, left_out, counts = random.Random(given.seed), Counter[str](), Counter[str]()
    of_values = values(rng, left_out)
    of_checks = checked(random.Random(given.seed + 1), scenario_of, left_out)
    for number in range(given.programs):
        line: Any = next(of_values if number % 5 < 3 else of_checks)
        kind = "by " + " and ".join(line["by"]) if "by" in line else line.get("kind", "accepted")
        counts[kind] += 1
        print(json.dumps(line, separators=(",", ":")))
    for kind, count in sorted(counts.items()):
        print(f"{count:4} {kind}", file=sys.stderr)
    for why, count in sorted(left_out.items()):
        print(f"{count:4} left out: {why}", file=sys.stderr)


if __name__ == "__main__":
    main()
