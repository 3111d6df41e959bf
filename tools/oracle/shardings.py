#!/usr/bin/env python3
"""Makes the files of tests/data/shardings: what JAX says of meshes, specs and shardings.

    cd tests/data/shardings
    python3 ../../../tools/oracle/shardings.py queries --seed 1 | gzip -9n >queries.jsonl.gz
    python3 ../../../tools/oracle/shardings.py corrected --seed 2 --document PATH | gzip -9n >corrected.jsonl.gz
    python3 ../../../tools/oracle/shardings.py reorder --seed 3 --document PATH | gzip -9n >reorder.jsonl.gz

A line of the first two is {"query": Q, "answer": A}, both as `orrery show sharding --queries` has them; an error has
its stage alone. sharding_document.py says what a line of the third is. Counts of what the files hold, and of what is
left out of answers, go to stderr, for the README.md there. Nothing depends on the order of hashes.
"""

import argparse
import collections
import json
import os
import random
import sys
from collections.abc import Iterator
from typing import Any

os.environ["XLA_FLAGS"] = "--xla_force_host_platform_device_count=64"
os.environ["JAX_PLATFORMS"] = "cpu"

import sharding_document
import sharding_texts
from sharding_answers import answer_of_pair, answer_of_sharding, left_out
from sharding_queries import Queries

SHARDINGS, PAIRS, TEXTS, CORRECTED, REORDERED = 3000, 600, 500, 1000, 1000

Line = dict[str, Any]


def _until(count: int, lines: Iterator[Line | None]) -> Iterator[Line]:
    """The first lines that are there."""
    for line in lines:
        if count == 0:
            return
        if line:
            count -= 1
            yield line


def _shardings(queries: Queries) -> Iterator[Line | None]:
    while True:
        query = queries.sharding()
        answer = answer_of_sharding(query)
        yield {"query": query, "answer": answer} if answer else None


def _pairs(queries: Queries) -> Iterator[Line | None]:
    while True:
        query = queries.pair()
        answer = answer_of_pair(query)
        yield {"query": query, "answer": answer} if answer else None


def _texts(queries: Queries) -> Iterator[Line | None]:
    while True:
        query = sharding_texts.query(queries)
        answer = sharding_texts.answer(query) if query else None
        yield {"query": query, "answer": answer} if answer else None


def _queries(seed: int) -> Iterator[Line]:
    queries = Queries(seed)
    yield from _until(SHARDINGS, _shardings(queries))
    yield from _until(PAIRS, _pairs(queries))
    yield from _until(TEXTS, _texts(queries))


def _corrected(seed: int, document: str) -> Iterator[Line]:
    module, queries = sharding_document.load(document), Queries(seed)
    for _ in range(CORRECTED):
        query = queries.corrected()
        yield {"query": query, "answer": sharding_document.corrected(module, query)}


def _reordered(seed: int, document: str) -> Iterator[Line]:
    module, rng = sharding_document.load(document), random.Random(seed)
    for _ in range(REORDERED):
        yield sharding_document.reordering(module, rng)


def _kind(line: Line) -> str:
    """What a line is counted as."""
    query, answer = line.get("query", line), line.get("answer", line)
    what = next((key for key in ("equivalent", "hlo", "corrected", "cp_size") if key in query), "sharding")
    if "error" in answer:
        return f"{what}: error of stage {answer['error']['stage']}"
    if what == "equivalent":
        return f"{what}: equivalent {answer['equivalent']}, equal {answer['equal']}"
    if "refused" in answer:
        return f"{what}: refused for its {answer['refused']}"
    return f"{what}: answered"


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("what", choices=("queries", "corrected", "reorder"))
    parser.add_argument("--seed", type=int, required=True)
    parser.add_argument("--document", help="ejkernel/xla_utils/shardings.py")
    options = parser.parse_args()
    if options.what != "queries" and not options.document:
        parser.error("--document is missing")
    if options.what == "queries":
        lines = _queries(options.seed)
    elif options.what == "corrected":
        lines = _corrected(options.seed, options.document)
    else:
        lines = _reordered(options.seed, options.document)
    counts: collections.Counter[str] = collections.Counter()
    for line in lines:
        counts[_kind(line)] += 1
        counts |= {f"with {key}": counts[f"with {key}"] + 1 for key in _features(line)}
        print(json.dumps(line, separators=(",", ":")))
    for what, count in sorted(counts.items()):
        print(f"{count:6} {what}", file=sys.stderr)
    for what, count in sorted(left_out.items()):
        print(f"{count:6} left out: {what}", file=sys.stderr)


def _features(line: Line) -> list[str]:
    """The optional keys of a query."""
    return [key for key in line.get("query", {}) if key not in ("mesh", "shape", "spec", "equivalent", "ndim", "hlo")]


if __name__ == "__main__":
    main()
