"""python3 tools/oracle --programs N --seed S: random programs with what JAX computes of them, one a line."""

import argparse
import os
import random
import sys
import time
from collections.abc import Iterator
from pathlib import Path

from dtypes import DTYPES
from generator import Generator
from kinds import BATCHES, GRADIENTS, PROGRAMS, Kind
from survive import Numbered, Survivor, run_in_processes
from typed import TypedGenerator

# Programs that are compiled together.
BATCH = 200


def _numbered(kind: Kind, generators: list[Generator], programs: int, seed: int) -> Iterator[list[Numbered]]:
    """Batches of numbered programs, from the generators in turn."""
    rng = random.Random(seed)
    for first in range(0, programs, BATCH):
        numbers = range(first, min(first + BATCH, programs))
        yield [Numbered(number, kind.make(generators[number % len(generators)], rng, number)) for number in numbers]


def run(kind: Kind, generators: list[Generator], programs: int, seed: int, processes: int, folder: Path) -> None:
    begun = time.monotonic()
    done = aborted = 0
    survivor = Survivor(kind.name, kind.lines, kind.aborted, folder)
    for lines in run_in_processes(_numbered(kind, generators, programs, seed), processes, survivor):
        for line in lines:
            if line is not None:
                print(line)
        done += len(lines)
        aborted += lines.count(None)
        print(f"oracle: {done} {kind.plural} in {time.monotonic() - begun:.0f} s", file=sys.stderr)
    if aborted:
        print(f"oracle: XLA aborts on {aborted} of {done} {kind.plural}, which are left out: {folder}", file=sys.stderr)


def main() -> None:
    parser = argparse.ArgumentParser(prog="oracle", description=__doc__)
    parser.add_argument("--programs", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=0)
    kinds = parser.add_mutually_exclusive_group()
    kinds.add_argument("--gradients", action="store_true", help="with the transform vjp")
    kinds.add_argument("--batches", action="store_true", help="with the transform batch")
    parser.add_argument("--dtypes", default=",".join(DTYPES), help="of the first arguments of programs, such as c64,c128")
    parser.add_argument("--often", default="", help="every other op is one of these, such as take,scatter_add")
    parser.add_argument("--forms", default="", help="of --often, such as dimensions: then most are, in long programs")
    parser.add_argument("--typed", action="store_true", help="with the check of types")
    parser.add_argument("--states", action="store_true", help="of --typed: most ops go from state to state")
    parser.add_argument("--mixed", action="store_true", help="every fourth is typed")
    parser.add_argument("--processes", type=int, default=len(os.sched_getaffinity(0)), help="that run JAX at once")
    parser.add_argument(
        "--aborted", type=Path, default=Path("build/oracle/aborted"), help="folder of the programs on which XLA aborts"
    )
    given = parser.parse_args()
    dtypes, often = given.dtypes.split(","), given.often.split(",") if given.often else []
    generator = Generator(given.seed, dtypes, often, given.forms.split(",") if given.forms else [])
    typed = TypedGenerator(given.seed, dtypes, often, given.states)
    generators = [typed] if given.typed else [generator] * 3 + [typed] if given.mixed else [generator]
    kind = GRADIENTS if given.gradients else BATCHES if given.batches else PROGRAMS
    run(kind, generators, given.programs, given.seed, given.processes, given.aborted)


if __name__ == "__main__":
    main()
