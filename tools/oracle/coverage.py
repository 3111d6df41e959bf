"""How often the programs so far have each op on each dtype in each form, so that the next can have what is rare."""

from collections import Counter

from collectives import COLLECTIVES, Form, forms
from dtypes import DTYPES
from local_ops import LOCAL_OPS, accepts
from program import Op

Cell = tuple[str, str, str]


def form_names(form: Form) -> list[str]:
    names = ["started" if form.started else "sync", f"{form.axes} axes"]
    if form.axes != "none":
        names.append(f"{form.groups} ranks")
    if form.dimensions:
        names.append("dimensions")
    if form.tiled is not None:
        names.append("tiled" if form.tiled else "untiled")
    if form.to != "varying":
        names.append(form.to)
    return names


class Coverage:
    def __init__(self) -> None:
        self.cells: Counter[Cell] = Counter()
        self.of_dtype: Counter[str] = Counter()

    def add(self, op: Op, dtype: str, form: Form | None) -> None:
        for name in form_names(form) if form else ["local"]:
            self.cells[(op.name, dtype, name)] += 1
        self.of_dtype[dtype] += 1

    def least(self, op: str, dtype: str, form: Form | None) -> float:
        """The least count of the cells in which such an op would count: it is rare if one of them is."""
        return min(self.cells[(op, dtype, name)] for name in (form_names(form) if form else ["local"]))


def choices(mesh: dict[str, int], dtype: str) -> list[tuple[str, Form | None]]:
    """All ops with their forms that there may be on operands of this dtype."""
    found: list[tuple[str, Form | None]] = []
    for op in COLLECTIVES:
        if op == "psum_scatter" and dtype == "pred":
            continue
        if op in ("pmax", "pmin", "pargmax", "pargmin") and DTYPES[dtype].is_complex:
            continue
        found += [(op, form) for form in forms(op, mesh)]
    found += [(op, None) for op in LOCAL_OPS if accepts(op, DTYPES[dtype])]
    return found
