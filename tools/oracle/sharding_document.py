"""What the functions of the document on shardings answer: get_corrected_named_sharding and reorder_sequence of the
module ejkernel/xla_utils/shardings.py, which is loaded from a path and is not part of this project."""

import importlib.util
import random
from types import ModuleType
from typing import Any

import numpy as np

from sharding_answers import Answer, mesh_of, spec_json, spec_of
from sharding_queries import Query

Reordering = dict[str, Any]

MOST_PARTS = 16
# One in so many reorderings has a size or a length that the document refuses.
REFUSED = 8


def load(path: str) -> ModuleType:
    found = importlib.util.spec_from_file_location("document", path)
    assert found and found.loader
    module = importlib.util.module_from_spec(found)
    found.loader.exec_module(module)
    return module


def corrected(module: ModuleType, query: Query) -> Answer:
    mesh, spec = mesh_of(query), spec_of(query)
    try:
        sharding = module.get_corrected_named_sharding(tuple(query["shape"]), spec, mesh)
    except Exception:  # noqa: BLE001  # JAX has a kind of its own for axes that come twice
        return {"error": {"stage": "sharding"}}
    return {"spec": spec_json(sharding.spec)}


def reordering(module: ModuleType, rng: random.Random) -> Reordering:
    """{"cp_size": 2, "shape": [2, 8], "seq_dim": 1, "to_contiguous": false, "order": [0, 1, 6, 7, 2, 3, 4, 5]}:
    element i of the result along the dimension is element order[i] of the operand. "refused" instead of "order" says
    which of the two, "cp_size" or "length", the document refuses."""
    cp_size = 2 * rng.randint(1, MOST_PARTS // 2)
    length = 2 * cp_size * rng.randint(0 if rng.random() < 0.05 else 1, 4)
    refused = rng.randrange(REFUSED) == 0
    if refused and rng.random() < 0.5:
        cp_size -= 1
    elif refused:
        length += rng.randint(1, 2 * cp_size - 1)
    shape = [rng.randint(1, 3) for _ in range(rng.randint(1, 3))]
    seq_dim = rng.randrange(len(shape))
    shape[seq_dim] = length
    asked: Reordering = {"cp_size": cp_size, "shape": shape, "seq_dim": seq_dim, "to_contiguous": rng.random() < 0.5}
    elements = np.arange(np.prod(shape), dtype=np.int32).reshape(shape)
    try:
        found = module.reorder_sequence(elements, cp_size, seq_dim, asked["to_contiguous"])
    except ValueError as error:
        return asked | {"refused": "cp_size" if "of 2." in str(error) else "length"}
    order = np.asarray(module.reorder_sequence(np.arange(length), cp_size, 0, asked["to_contiguous"]))
    assert np.array_equal(found, np.take(elements, order, axis=seq_dim)), asked
    return asked | {"order": order.tolist()}
