"""What the makers of random local ops share."""

import random
from collections.abc import Callable
from typing import Any

import numpy as np

import facts
from arguments import new_argument
from dtypes import DTYPES, Dtype
from program import Op, Program, Value

# The most elements that the results of an op have on a device.
MOST_ELEMENTS = 24


class LocalMaker:
    """Makes an op whose first operand is `x`."""

    def __init__(self, rng: random.Random, program: Program, x: Value, kind: str):
        self.rng = rng
        self.program = program
        self.x = x
        self.kind = kind  # of further arguments, as for new_argument()

    def name(self) -> str:
        return self.program.next_name()

    def other(self, dtype: Dtype, shape: tuple[int, ...]) -> Value:
        """Another operand: an earlier value, or a new argument."""
        fits = [v for v in self.program.values if v.dtype == dtype and v.shape == shape]
        if fits and self.rng.random() < 0.75:
            return self.rng.choice(fits)
        return new_argument(self.rng, self.program, dtype, shape, self.kind)

    def constant_argument(self, dtype: str, shape: tuple[int, ...], element: Callable[[], int]) -> Value:
        """A new argument of the given integers."""
        whole = (self.program.devices, *shape)
        count = int(np.prod(whole, dtype=np.int64))
        data = np.array([element() for _ in range(count)]).astype(DTYPES[dtype].numpy).reshape(whole)
        return self.program.add_argument(Value(self.name(), DTYPES[dtype], shape, "moved"), data)

    def number(self, dtype: Dtype) -> int | list[int]:
        """For all elements; of complex dtypes often a pair of both parts."""
        if dtype.is_complex and self.rng.random() < 0.7:
            return [self.rng.randint(-4, 4), self.rng.randint(-4, 4)]
        return self.rng.randint(0, 1 if dtype.kind == "pred" or dtype.bits == 8 else 4)

    def which_shape(self) -> tuple[int, ...]:
        return () if self.rng.random() < 0.3 else self.x.shape

    def op(
        self, op: str, operands: list[Value], result: Value | None, parameters: dict[str, Any] | None = None
    ) -> Op | None:
        return self.ops(op, operands, [result] if result else [], parameters)

    def ops(
        self, op: str, operands: list[Value], results: list[Value], parameters: dict[str, Any] | None = None
    ) -> Op | None:
        """Nothing without results, or with large ones."""
        if not results or sum(result.elements for result in results) > MOST_ELEMENTS:
            return None
        return Op(tuple(facts.of_op(result, op, operands) for result in results), op, tuple(operands), parameters or {})
