"""python3 tools/oracle/thin.py --by forms|numbers|ops BASE... -- FILE...: rewrites the corpus files FILE without the
lines that tests do not ask for. The longest first, lines are left out as long as BASE and FILE have 20 of each op.

forms    ops are told apart by dtype and form, as the coverage of programs does (tests/oracle/coverage.cc)
numbers  by real and complex numbers, as that of gradients does
ops      by name alone, as that of batches does"""

import gzip
import json
import sys
from collections import Counter
from collections.abc import Hashable, Iterator
from pathlib import Path
from typing import Any

# As many as the tests ask for.
LEAST = 20
_PREDS = ("eq", "ne", "lt", "le", "gt", "ge")
_RANKS = ("axis_index", "axis_size", "pargmax", "pargmin")
_PART = {"c64": "f32", "c128": "f64"}
_WHOLE = {"f32": "c64", "f64": "c128"}


def _result(op: dict[str, Any], name: str, dtype: str) -> str:
    """The dtype of an op's results, whose operand has this one."""
    if "new_dtype" in op or "preferred_element_type" in op:
        return str(op.get("new_dtype") or op["preferred_element_type"])
    if name in _PREDS:
        return "pred"
    if name in _RANKS or (name == "psum" and dtype == "pred"):
        return "s32"
    if name in ("real", "imag"):
        return _PART[dtype]
    if name in ("conj", "complex"):
        return _WHOLE.get(dtype, dtype)
    if name == "pmean" and dtype[0] in "psu":
        return "f64" if dtype.endswith("64") else "f32"
    return dtype


def _forms(op: dict[str, Any], name: str) -> list[str]:
    if "axis_name" not in op or name in ("axis_index", "axis_size"):
        return ["local"]
    given = op["axis_name"] if isinstance(op["axis_name"], list) else [op["axis_name"]]
    axes = [axis for axis in given if isinstance(axis, str)]
    forms = ["none", "one"][len(axes)] if len(axes) < 2 else "several"
    found = [forms, "started" if op["op"].endswith("_start") else "sync"]
    if len(axes) < len(given):
        found.append("dimensions")
    if "axis_index_groups" in op:
        found.append("groups" if len({len(group) for group in op["axis_index_groups"]}) == 1 else "unequal groups")
    if axes and "tiled" in op:
        found.append("tiled" if op["tiled"] else "untiled")
    if axes and "to" in op:
        found.append("to " + op["to"])
    return found


def _cells(line: dict[str, Any], by: str) -> Iterator[Hashable]:
    dtypes = {name: array[0] for name, array in line["arrays"].items()}
    types = line.get("types", {})
    states = {name: json.dumps(array[3:]) for name, array in line["arrays"].items()}
    for op in line["program"]:
        name = op["op"].removesuffix("_start")
        of = op.get("of", [])
        operands = [of] if isinstance(of, str) else of
        worked_on = operands[1:] if name == "select_n" else operands
        dtype = dtypes[worked_on[0]] if worked_on else op.get("dtype", "s32")
        for result in op["id"] if isinstance(op["id"], list) else [op["id"]]:
            dtypes[result] = _result(op, name, dtype)
            if result in types:
                dtypes[result] = types[result].split("[")[0]
        if name == "done":
            continue
        if by == "ops":
            yield name
        elif by == "numbers":
            yield name, dtype.startswith("c")
        else:
            for form in _forms(op, name):
                # A pcast to varying is from one of two states, which its operand has.
                before = types.get(operands[0], states.get(operands[0], "")) if name == "pcast" else ""
                yield name, dtype, form, "R" in before or "reduced" in before if form == "to varying" else None


def main() -> None:
    arguments = sys.argv[1:]
    if len(arguments) < 3 or arguments[0] != "--by" or "--" not in arguments:
        sys.exit(__doc__)
    by, split = arguments[1], arguments.index("--")
    counts: Counter[Hashable] = Counter()
    lines: list[tuple[Path, str, Counter[Hashable]]] = []
    for position, name in enumerate(arguments[2:], 2):
        if position != split:
            for text in gzip.decompress(Path(name).read_bytes()).decode().splitlines(keepends=True):
                cells = Counter(_cells(json.loads(text), by))
                counts.update(cells)
                if position > split:
                    lines.append((Path(name), text, cells))
    # Cells of which there are fewer are of no test.
    tested = {cell for cell, count in counts.items() if count >= LEAST}
    kept = set(range(len(lines)))
    for i in sorted(kept, key=lambda i: len(lines[i][1]), reverse=True):
        cells = lines[i][2]
        if all(counts[cell] - count >= LEAST for cell, count in cells.items() if cell in tested):
            counts.subtract(cells)
            kept.remove(i)
    for name in arguments[split + 1 :]:
        text = "".join(lines[i][1] for i in sorted(kept) if lines[i][0] == Path(name))
        Path(name).write_bytes(gzip.compress(text.encode(), mtime=0))


if __name__ == "__main__":
    main()
