"""What is made at random and run in JAX: programs as they stand, gradients and batches."""

import random
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from batches import random_batch, run_batches
from corpus import aborted_batch, aborted_gradient, aborted_program, batch_line, corpus_line, gradient_line
from generator import Generator
from gradients import random_gradient, run_gradients
from oracle import run_programs
from program import Program, Value


@dataclass(frozen=True)
class Kind:
    name: str  # of one
    plural: str
    make: Callable[[Generator, random.Random, int], Any]  # the number is its place in the sequence, from 0
    lines: Callable[[list[Any]], list[str]]  # of a corpus, run in one jit for each number of devices
    aborted: Callable[[Any], str]  # what rerun.py reads


@dataclass(frozen=True)
class _Forward:
    program: Program
    outputs: list[Value]


def _make_forward(generator: Generator, _: random.Random, number: int) -> _Forward:
    program = generator.next()
    return _Forward(program, program.outputs(all_results=number % 8 == 7))


def _forward_lines(made: list[_Forward]) -> list[str]:
    found = run_programs([(one.program, one.outputs) for one in made])
    return [corpus_line(one.program, one.outputs, results) for one, results in zip(made, found)]


def _gradient_lines(made: list[Any]) -> list[str]:
    found = run_gradients(made)
    return [gradient_line(one, line["found"], line["states"]) for one, line in zip(made, found)]


def _batch_lines(made: list[Any]) -> list[str]:
    return [batch_line(one, found) for one, found in zip(made, run_batches(made))]


PROGRAMS = Kind(
    "program", "programs", _make_forward, _forward_lines, lambda made: aborted_program(made.program, made.outputs)
)
GRADIENTS = Kind(
    "gradient", "gradients", lambda generator, rng, _: random_gradient(generator, rng), _gradient_lines, aborted_gradient
)
BATCHES = Kind("batch", "batches", lambda generator, rng, _: random_batch(generator, rng), _batch_lines, aborted_batch)
