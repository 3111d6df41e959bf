"""Runs batches of programs in processes of their own, since XLA may abort. The programs on which it does are left out."""

import multiprocessing
import os
import re
import sys
import tempfile
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ProcessPoolExecutor, ThreadPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass
from pathlib import Path
from typing import Any


@dataclass(frozen=True)
class Numbered:
    number: int  # of the seed's programs, from 0
    made: Any


@dataclass(frozen=True)
class Survivor:
    """Runs what is made, and writes to the folder that on which XLA aborts."""

    name: str  # of one that is made
    lines: Callable[[list[Any]], list[str]]  # a function of a module, which another process can find
    aborted: Callable[[Any], str]
    folder: Path

    def run(self, batch: list[Numbered]) -> list[str | None]:
        """The line of each, or nothing where XLA aborts on it alone. A batch on which it aborts is run in halves."""
        with tempfile.NamedTemporaryFile("r", errors="replace") as said:
            # Spawned: a fork of a process with threads may hang.
            with ProcessPoolExecutor(1, multiprocessing.get_context("spawn")) as process:
                made = [given.made for given in batch]
                try:
                    return list(process.submit(_lines, self.lines, made, said.name).result())
                except BrokenProcessPool:
                    pass
            if len(batch) == 1:
                self._report(batch[0], said.read())
                return [None]
        half = len(batch) // 2
        return self.run(batch[:half]) + self.run(batch[half:])

    def _report(self, given: Numbered, said: str) -> None:
        self.folder.mkdir(parents=True, exist_ok=True)
        file = self.folder / f"{self.name}-{given.number}.json"
        file.write_text(self.aborted(given.made) + "\n")
        file.with_suffix(".log").write_text(said)
        failed = re.search("Check failed.*", said)
        reason = failed.group().strip() if failed else "the process ended"
        print(f"oracle: XLA aborts on {self.name} {given.number}: {reason}: {file}", file=sys.stderr)


def _lines(lines: Callable[[list[Any]], list[str]], made: list[Any], said: str) -> list[str]:
    """All that XLA says goes to the file `said`."""
    os.dup2(os.open(said, os.O_WRONLY | os.O_TRUNC), 2)
    return lines(made)


def run_in_processes(
    batches: Iterable[list[Numbered]], processes: int, survivor: Survivor
) -> Iterator[list[str | None]]:
    """The lines that the survivor finds for each batch, in their order."""
    with ThreadPoolExecutor(processes) as threads:
        running: deque[Future[list[str | None]]] = deque()
        for batch in batches:
            running.append(threads.submit(survivor.run, batch))
            if len(running) > processes:
                yield running.popleft().result()
        while running:
            yield running.popleft().result()
