"""python3 tools/oracle --programs N --seed S: random programs with what JAX computes of them, one a line."""

import argparse
import os
import random
import sys
import time
from collections.abc import Iterator
from pathlib import Path

from batches import random_batch, run_batches
from corpus import batch_line, gradient_line
from dtypes import DTYPES
from generator import Generator
from gradients import random_gradient, run_gradients
from survive import Numbered, run_in_processes
from typed import TypedGenerator

# Programs that are compiled together.
BATCH = 200


def _numbered(generators: list[Generator], programs: int) -> Iterator[list[Numbered]]:
    """Programs of the generators in turn."""
    for first in range(0, programs, BATCH):
        batch = []
        for number in range(first, min(first + BATCH, programs)):
            program = generators[number % len(generators)].next()
            batch.append(Numbered(number, program, program.outputs(all_results=number % 8 == 7)))
        yield batch


def without_transform(generators: list[Generator], programs: int, processes: int, folder: Path) -> None:
    begun = time.monotonic()
    done = aborted = 0
    for lines in run_in_processes(_numbered(generators, programs), processes, folder):
        for line in lines:
            if line is not None:
                print(line)
        done += len(lines)
        aborted += lines.count(None)
        print(f"oracle: {done} programs in {time.monotonic() - begun:.0f} s", file=sys.stderr)
    if aborted:
        print(f"oracle: XLA aborts on {aborted} of {done} programs, which are left out: {folder}", file=sys.stderr)


def gradients(generator: Generator, programs: int, seed: int) -> None:
    rng = random.Random(seed)
    begun = time.monotonic()
    for first in range(0, programs, BATCH):
        batch = [random_gradient(generator, rng) for _ in range(min(BATCH, programs - first))]
        for gradient, line in zip(batch, run_gradients(batch, rng)):
            print(gradient_line(gradient, line["found"], line["states"]))
        done = first + len(batch)
        print(f"oracle: {done} gradients in {time.monotonic() - begun:.0f} s", file=sys.stderr)


def batches(generator: Generator, programs: int, seed: int) -> None:
    rng = random.Random(seed)
    begun = time.monotonic()
    for first in range(0, programs, BATCH):
        made = [random_batch(generator, rng) for _ in range(min(BATCH, programs - first))]
        for batch, found in zip(made, run_batches(made)):
            print(batch_line(batch, found))
        done = first + len(made)
        print(f"oracle: {done} batches in {time.monotonic() - begun:.0f} s", file=sys.stderr)


def main() -> None:
    parser = argparse.ArgumentParser(prog="oracle", description=__doc__)
    parser.add_argument("--programs", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--gradients", action="store_true", help="with the transform vjp")
    parser.add_argument("--dtypes", default=",".join(DTYPES), help="of the first arguments of programs, such as c64,c128")
    parser.add_argument("--often", default="", help="every other op is one of these, such as take,scatter_add")
    parser.add_argument("--forms", default="", help="of --often, such as dimensions: then most are, in long programs")
    parser.add_argument("--batches", action="store_true", help="with the transform batch")
    parser.add_argument("--typed", action="store_true", help="with the check of types")
    parser.add_argument("--states", action="store_true", help="of --typed: most ops go from state to state")
    parser.add_argument("--mixed", action="store_true", help="every fourth program is typed")
    parser.add_argument("--processes", type=int, default=len(os.sched_getaffinity(0)), help="that run JAX at once")
    parser.add_argument(
        "--aborted", type=Path, default=Path("build/oracle/aborted"), help="folder of the programs on which XLA aborts"
    )
    given = parser.parse_args()
    dtypes, often = given.dtypes.split(","), given.often.split(",") if given.often else []
    generator = Generator(given.seed, dtypes, often, given.forms.split(",") if given.forms else [])
    typed = TypedGenerator(given.seed, dtypes, often, given.states)
    if given.typed:
        generator = typed
    if given.gradients:
        return gradients(generator, given.programs, given.seed)
    if given.batches:
        return batches(generator, given.programs, given.seed)
    generators = [generator] * 3 + [typed] if given.mixed else [generator]
    without_transform(generators, given.programs, given.processes, given.aborted)


if __name__ == "__main__":
    main()
