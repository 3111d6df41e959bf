"""Runs batches of programs in processes of their own, since XLA may abort. The programs on which it does are left out."""

import multiprocessing
import os
import re
import sys
import tempfile
from collections import deque
from collections.abc import Iterable, Iterator
from concurrent.futures import Future, ProcessPoolExecutor, ThreadPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass
from pathlib import Path

from corpus import aborted_line, corpus_line
from oracle import run_programs
from program import Program, Value


@dataclass(frozen=True)
class Numbered:
    number: int  # of the seed's programs, from 0
    program: Program
    outputs: list[Value]


def _lines(batch: list[Numbered], said: str) -> list[str]:
    """The corpus lines of a batch. All that XLA says goes to the file `said`."""
    os.dup2(os.open(said, os.O_WRONLY | os.O_TRUNC), 2)
    found = run_programs([(given.program, given.outputs) for given in batch])
    return [corpus_line(given.program, given.outputs, results) for given, results in zip(batch, found)]


def _report(given: Numbered, said: str, folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    file = folder / f"program-{given.number}.json"
    file.write_text(aborted_line(given.program, given.outputs) + "\n")
    file.with_suffix(".log").write_text(said)
    failed = re.search("Check failed.*", said)
    reason = failed.group().strip() if failed else "the process ended"
    print(f"oracle: XLA aborts on program {given.number}: {reason}: {file}", file=sys.stderr)


def _run(batch: list[Numbered], folder: Path) -> list[str | None]:
    """The line of each program, or nothing where XLA aborts on it alone. A batch on which it aborts is run in halves."""
    with tempfile.NamedTemporaryFile("r", errors="replace") as said:
        # Spawned: a fork of a process with threads may hang.
        with ProcessPoolExecutor(1, multiprocessing.get_context("spawn")) as process:
            try:
                return list(process.submit(_lines, batch, said.name).result())
            except BrokenProcessPool:
                pass
        if len(batch) == 1:
            _report(batch[0], said.read(), folder)
            return [None]
    half = len(batch) // 2
    return _run(batch[:half], folder) + _run(batch[half:], folder)


def run_in_processes(batches: Iterable[list[Numbered]], processes: int, folder: Path) -> Iterator[list[str | None]]:
    """What _run() finds for each batch, in their order. Programs on which XLA aborts are written to the folder."""
    with ThreadPoolExecutor(processes) as threads:
        running: deque[Future[list[str | None]]] = deque()
        for batch in batches:
            running.append(threads.submit(_run, batch, folder))
            if len(running) > processes:
                yield running.popleft().result()
        while running:
            yield running.popleft().result()
