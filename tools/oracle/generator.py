"""Random programs of collectives and local ops."""

import random

from arguments import new_argument
from collectives import Form, random_collective
from coverage import Coverage, choices, form_names
from dtypes import DTYPES, Dtype
from local_ops import random_local_op, takes_values
from program import Op, Program, Value

MESHES = (
    {"x": 2}, {"x": 3}, {"x": 4}, {"x": 5}, {"x": 6}, {"x": 7}, {"x": 8},
    {"x": 2, "y": 2}, {"x": 2, "y": 3}, {"x": 3, "y": 2}, {"x": 2, "y": 4}, {"x": 4, "y": 2}, {"x": 1, "y": 4},
    {"x": 2, "y": 2, "z": 2}, {"x": 2, "y": 1, "z": 3}, {"x": 1, "y": 2, "z": 2},
)  # fmt: skip

# The meshes of long programs. With larger ones most of a line would be elements.
SMALL_MESHES = ({"x": 2}, {"x": 2, "y": 2})
MOST_SMALL = 4

# How many operands are tried for an op.
TRIES = 8
# How many of the rarest ops are tried for the next one of a program.
RAREST = 12


class Generator:
    """Programs in a sequence that depends on the seed alone. Rare ops, dtypes and forms are preferred."""

    def __init__(self, seed: int, dtypes: list[str], often: list[str], forms: list[str] | None = None):
        self.rng = random.Random(seed)
        self.dtypes = [DTYPES[name] for name in dtypes]  # of a program's first arguments
        self.often = often  # ops of which every other one is, where it can be
        self.forms = forms or []  # of these ops: then most are, and programs are long
        self.coverage = Coverage()
        self.made = 0
        self.rarest = RAREST

    def next(self) -> Program:
        deep = self.made % 2 == 0
        self.made += 1
        program = self._new_program()
        dtype = self._dtype()
        # Special floats may be moved, compared and selected only, so they have programs of their own.
        kinds = ["small", "fractions", "positive"] + (["special"] if dtype.rounds else [])
        kind = self.rng.choice(kinds)
        length = self._length(deep)
        last: Value | None = None
        while len(program.ops) < length or (deep and max(program.depth.values()) < 3):
            chained = last is not None and (deep or self.rng.random() < 0.4)
            op = self._op(program, last if chained else None, last.dtype if chained and last else dtype, kind)
            if op:
                last = op.results[0]
        return program

    def _new_program(self) -> Program:
        return Program(dict(self.rng.choice(SMALL_MESHES if self.forms else MESHES)))

    def _length(self, deep: bool) -> int:
        """The least number of ops."""
        if self.forms:
            return self.rng.randint(12, 18)
        return self.rng.randint(5, 10) if deep else self.rng.randint(2, 8)

    def _choices(self, program: Program, dtype: str) -> list[tuple[str, Form | None]]:
        return choices(program.mesh, dtype)

    def _dtype(self) -> Dtype:
        """Half of the times the rarest; comparisons and conversions bring some dtypes often."""
        if self.rng.random() < 0.5:
            return self.rng.choice(self.dtypes)
        return min(self.dtypes, key=lambda dtype: self.coverage.of_dtype[dtype.name])

    def _op(self, program: Program, x: Value | None, dtype: Dtype, kind: str) -> Op | None:
        """Adds an op of x, or of a new argument."""
        found = self._choices(program, dtype.name)
        if x is not None:
            found = [(op, form) for op, form in found if form or takes_values(op)]
        self.rng.shuffle(found)
        found.sort(key=lambda choice: self.coverage.least(choice[0], dtype.name, choice[1]))
        rarest = found[: self.rarest] + self.rng.sample(found, min(RAREST, len(found)))
        if self.often and self.rng.random() < (0.9 if self.forms else 0.5):
            rarest = [choice for choice in found if self._is_often(*choice)] + rarest
        for name, form in rarest:
            for _ in range(1 if x else TRIES):
                values, data = list(program.values), dict(program.data)
                op = self._try(program, name, form, x, dtype, kind)
                if op:
                    program.add_op(op)
                    self.coverage.add(op, dtype.name, form)
                    return op
                program.values, program.data = values, data
        return self._op(program, None, dtype, kind) if x else None

    def _is_often(self, op: str, form: Form | None) -> bool:
        if op not in self.often or not self.forms:
            return op in self.often
        return form is not None and any(name in self.forms for name in form_names(form))

    def _try(
        self, program: Program, name: str, form: Form | None, x: Value | None, dtype: Dtype, kind: str
    ) -> Op | None:
        if x is None and (form or takes_values(name)):
            x = new_argument(self.rng, program, dtype, self._shape(program), kind)
        if form:
            assert x
            return random_collective(self.rng, program, name, x, form)
        return random_local_op(self.rng, program, name, x, dtype, kind)

    def _shape(self, program: Program) -> tuple[int, ...]:
        """Often with an extent that a group divides."""
        extents = [1, 2, 3, 4, *program.mesh.values(), program.devices]
        shape: list[int] = []
        for _ in range(self.rng.choice((0, 1, 1, 1, 2, 2, 2, 3))):
            extent = self.rng.choice(extents)
            size = extent
            for other in shape:
                size *= other
            if size <= (MOST_SMALL if self.forms else 12):
                shape.append(extent)
        if self.rng.random() < 0.02:
            shape = [0, *shape[:1]]
        return tuple(shape)
