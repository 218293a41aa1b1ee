"""A bar with an estimate on a terminal, a plain line now and then where there is none."""

import sys
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import TextIO, TypeVar

from rich.console import Console
from rich.progress import BarColumn, TaskID, TextColumn, TimeRemainingColumn
from rich.progress import Progress as RichProgress

Item = TypeVar("Item")

PLAIN_SECONDS = 10.0


class Bar:
    """Counts what is done of a known total and shows it."""

    def __init__(self, what: str, total: int, unit: str, stream: TextIO) -> None:
        self._what, self._total, self._unit, self._stream = what, total, unit, stream
        self._done = self._skipped = 0
        self._note = ""
        self._started = self._spoken = time.monotonic()

    def advance(self, by: int = 1, note: str = "") -> None:
        self._done += by
        self._note = note
        if time.monotonic() - self._spoken >= PLAIN_SECONDS:
            self._speak()

    def skip(self, by: int) -> None:
        """Count what an earlier run did, without letting it flatter the estimate."""
        self._done += by
        self._skipped += by

    def _speak(self) -> None:
        now = time.monotonic()
        self._spoken = now
        left = (now - self._started) / max(self._done - self._skipped, 1) * (self._total - self._done)
        amount = f"{self._done:,} of {self._total:,} {self._unit}"
        print(f"{self._what}: {amount}, about {left:.0f} s left {self._note}".rstrip(), file=self._stream, flush=True)


class _RichBar(Bar):
    def __init__(self, rich: RichProgress, task: TaskID) -> None:
        self._rich, self._task = rich, task

    def advance(self, by: int = 1, note: str = "") -> None:
        self._rich.update(self._task, advance=by, note=note)

    def skip(self, by: int) -> None:
        self._rich.update(self._task, completed=by)


@contextmanager
def progress(what: str, total: int, unit: str = "") -> Iterator[Bar]:
    """Show how far `what` is. Nothing is printed on a stream that nobody watches for 10 s."""
    if not sys.stderr.isatty():
        yield Bar(what, total, unit, sys.stderr)
        return
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        TextColumn("{task.completed:,.0f} of {task.total:,.0f} " + unit),
        TimeRemainingColumn(compact=True),
        TextColumn("{task.fields[note]}"),
    )
    with RichProgress(*columns, console=Console(stderr=True)) as rich:
        yield _RichBar(rich, rich.add_task(what, total=total, note=""))


def track(items: Iterable[Item], what: str, total: int, unit: str = "") -> Iterator[Item]:
    """Yield the items and show how many of them are done."""
    with progress(what, total, unit) as bar:
        for item in items:
            yield item
            bar.advance()
