"""Random programs whose types are checked: arguments of all states, and the ops that go from state to state. JAX says
of each op, as it is added, whether it is legal, and which states its results have."""

import copy
import random
from dataclasses import replace
from typing import Any

import oracle  # sets up JAX  # noqa: F401

import jax
import numpy as np
from jax.sharding import Mesh, PartitionSpec

import avoided
import facts
from arguments import new_argument
from collectives import Form, forms, random_collective
from coverage import choices
from dtypes import DTYPES, Dtype
from generator import Generator
from jax_program import run_ops
from jax_states import states_of, zeros
from program import Op, Program, Value
from states import States, equal_copies

# The state that an op takes along its axes.
TAKES = {
    "unreduced_psum": "unreduced",
    "unreduced_psum_scatter": "unreduced",
    "all_gather_invariant": "varying",
    "all_gather_reduced": "varying",
    "pvary": "invarying",
    "preduced": "invarying",
    "vary_unreduced_cast": "varying",
    "reduced_vary_cast": "reduced",
}
CASTS = ("pvary", "preduced", "vary_unreduced_cast", "reduced_vary_cast", "pcast")
_PCASTS = (("invarying", "varying"), ("invarying", "reduced"), ("varying", "unreduced"), ("reduced", "varying"))
_COLLECTIVES = tuple(op for op in TAKES if op not in CASTS)

# Small ones: most of a line are elements.
_MESHES = ({"x": 2}, {"x": 3}, {"x": 2, "y": 2}, {"x": 2, "y": 2}, {"x": 2, "y": 3}, {"x": 2, "y": 2, "z": 2})
_SEVERAL_AXES = ({"x": 2, "y": 2}, {"x": 2, "y": 2}, {"x": 2, "y": 2}, {"x": 2, "y": 1, "z": 2})
_MOST_ELEMENTS = 6
_MOST_OF_RESULTS = 12


def typed_choices(mesh: dict[str, int], dtype: str) -> list[tuple[str, Form | None]]:
    """Those that go from state to state, with all forms; but over no axes, where all give their operand back."""
    found: list[tuple[str, Form | None]] = []
    for op in _COLLECTIVES:
        if avoided.sums_unreduced(op, DTYPES[dtype]):
            found += [(op, form) for form in forms(op, mesh) if form.axes != "none"]
    for form in forms("all_gather", mesh):
        if form.groups == "all" and form.axes != "none":
            found += [("all_gather", replace(form, to=to)) for to in ("invarying", "reduced")]
    for op in CASTS:
        for axes in ("one", "several") if len(mesh) > 1 else ("one",):
            casts = [f"{a} to {b}" for a, b in _PCASTS] if op == "pcast" else ["varying"]
            found += [(op, Form(False, "all", axes, None, to=to)) for to in casts]
    return found


class Refused(Exception):
    """The error with which JAX refuses a program."""


class TypedProgram(Program):
    """In the making, under a trace of JAX: each value has a tracer of its type."""

    def __init__(self, mesh: dict[str, int], rng: random.Random):
        super().__init__(mesh)
        self.states: dict[str, States] = {}
        self.traced: dict[str, Any] = {}
        self.wanted: str | None = None  # the state of the next argument along all axes
        self._rng = rng

    def _new_states(self) -> States:
        names = ["varying", "varying", "varying", "invarying", "invarying", "unreduced", "reduced"]
        # Values of one state along all axes go with each other.
        common = self.wanted or (self._rng.choice(names) if self._rng.random() < 0.5 else None)
        given = {axis: common or self._rng.choice(names) for axis in self.mesh}
        return States(
            *(
                tuple(axis for axis in self.mesh if given[axis] == state)
                for state in ("varying", "unreduced", "reduced")
            )
        )

    def add_argument(self, value: Value, data: np.ndarray) -> Value:
        states = self._new_states()
        self.states[value.name] = states
        self.traced[value.name] = zeros(value.shape, value.dtype.numpy, states, self.mesh)
        return super().add_argument(value, equal_copies(data, states, self.mesh))

    def trace(self, op: Op) -> None:
        """Gives the op's results their states. Throws Refused."""
        try:
            found = run_ops([replace(op, started=False).json()], self.traced, started=False)
        except Exception as error:  # noqa: BLE001  # of any kind
            raise Refused(f"{type(error).__name__}: {error}") from error
        for result in op.results:
            traced = found[result.name]
            assert traced.dtype == result.dtype.numpy and traced.shape == result.shape, (op, traced)
            self.states[result.name] = states_of(traced, self.mesh)
            self.traced[result.name] = traced


class TypedGenerator(Generator):
    """With `states` long programs, of which most ops go from state to state."""

    def __init__(self, seed: int, dtypes: list[str], often: list[str], states: bool = False):
        super().__init__(seed, dtypes, often)
        self.states = states
        if states:  # few of them fit the states of a value
            self.rarest = 200

    def next(self) -> TypedProgram:
        before = copy.deepcopy(self.coverage)
        while True:
            mesh = dict(self.rng.choice(_SEVERAL_AXES if self.states else _MESHES))
            made: list[TypedProgram] = []

            def trace(x: Any) -> Any:
                self._tracing = TypedProgram(mesh, self.rng)
                made.append(self._close(super(TypedGenerator, self).next()))
                return x

            devices = int(np.prod(list(mesh.values())))
            on = Mesh(np.array(jax.devices()[:devices]).reshape(*mesh.values()), tuple(mesh))
            everywhere = PartitionSpec()
            jax.eval_shape(
                jax.shard_map(trace, mesh=on, in_specs=everywhere, out_specs=everywhere, check_vma=True), np.zeros(())
            )
            (program,) = made
            program.traced = {}
            if program.outputs(all_results=False):
                return program
            self.coverage = copy.deepcopy(before)

    def _close(self, program: Program) -> TypedProgram:
        """Adds the sums of unreduced results, of which alone JAX shows the elements."""
        assert isinstance(program, TypedProgram)
        read = {operand.name for op in program.ops for operand in op.operands}
        for value in [result for op in program.ops for result in op.results if result.name not in read]:
            axes = program.states[value.name].unreduced
            if axes and avoided.sums_unreduced("unreduced_psum", value.dtype):
                form = Form(False, "all", "one" if len(axes) == 1 else "several", None)
                op = random_collective(self.rng, program, "unreduced_psum", value, form, list(axes))
                if op:
                    program.trace(op)
                    program.add_op(op)
                    self.coverage.add(op, value.dtype.name, form)
        return program

    def _new_program(self) -> Program:
        return self._tracing

    def _length(self, deep: bool) -> int:
        if self.states:
            return self.rng.randint(12, 18)
        return self.rng.randint(4, 7) if deep else self.rng.randint(2, 5)

    def _choices(self, program: Program, dtype: str) -> list[tuple[str, Form | None]]:
        """Half of the times of those that go from state to state, or more often."""
        if self.rng.random() < (0.9 if self.states else 0.5):
            return typed_choices(program.mesh, dtype)
        # Over dimensions JAX's check refuses all.
        return [(op, form) for op, form in choices(program.mesh, dtype) if not (form and form.dimensions)]

    def _try(
        self, program: Program, name: str, form: Form | None, x: Value | None, dtype: Dtype, kind: str
    ) -> Op | None:
        assert isinstance(program, TypedProgram)
        if name in TAKES or name in CASTS or (form and form.to != "varying"):
            assert form
            op = self._typed(program, name, form, x, dtype, kind)
        else:
            op = super()._try(program, name, form, x, dtype, kind)
        if op is None or not avoided.is_typed_alike(op, program.states):
            return None
        if not avoided.broadcasts(op, program.states):
            return self._no_broadcast(program, op)
        try:
            program.trace(op)
        except Refused as refusal:
            self.refused(program, op, str(refusal))
            return None
        return op if max(result.elements for result in op.results) <= (6 if self.states else _MOST_OF_RESULTS) else None

    def _no_broadcast(self, program: TypedProgram, op: Op) -> None:
        """A pbroadcast of what does not vary."""

    def refused(self, program: TypedProgram, op: Op, said: str) -> None:
        """JAX refuses the op, after those of the program."""

    def _typed(
        self, program: TypedProgram, name: str, form: Form, x: Value | None, dtype: Dtype, kind: str
    ) -> Op | None:
        takes = TAKES.get(name) or (form.to.split(" ")[0] if name == "pcast" else "varying")
        if x is None:
            program.wanted = takes if self.rng.random() < 0.7 else None
            x = new_argument(self.rng, program, dtype, self._shape(program), kind)
            program.wanted = None
        among = self._over(program, x, takes)
        if len(among) < {"one": 1, "several": 2}[form.axes]:
            return None
        if name in CASTS:
            return self._cast(program, name, form, x, among)
        return random_collective(self.rng, program, name, x, form, among)

    def _over(self, program: TypedProgram, x: Value, takes: str) -> list[str]:
        """Axes, of which some are the op's."""
        return program.states[x.name].axes(takes, program.mesh)

    def _cast(self, program: TypedProgram, name: str, form: Form, x: Value, among: list[str]) -> Op:
        axes = self.rng.sample(among, 1 if form.axes == "one" else self.rng.randint(2, len(among)))
        parameters: dict[str, Any] = {"axis_name": axes[0] if len(axes) == 1 else axes}
        if name == "pcast":
            parameters["to"] = form.to.split(" ")[-1]
        result = facts.of_op(facts.moved(program.next_name(), [x], x.shape), name, [x])
        return Op((result,), name, (x,), parameters)

    def _shape(self, program: Program) -> tuple[int, ...]:
        while True:
            shape = super()._shape(program)
            if int(np.prod(shape, dtype=np.int64)) <= (4 if self.states else _MOST_ELEMENTS):
                return shape
