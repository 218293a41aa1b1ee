"""Candidates on their way into the top lists, gathered so that the lists are sorted seldom."""

# Shape suffixes: F units, E candidates, P places for windows, S sides of the LayerNorm, W tokens.
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from model_runner.top import COLUMNS, Candidates, TopLists, best_of_documents, insert

LEAST_ROOM = 4096


@dataclass
class Waiting:
    """Rows of `candidates` up to `used` are taken; the window of row r lies at place r."""

    candidates: Candidates
    used: int = 0

    @property
    def room(self) -> int:
        return len(self.candidates) - self.used


def empty_waiting(units: int, window: int, sides: int) -> Waiting:
    """Room for a document's held candidates, one a unit, and for those of at least one more context."""
    places = max(LEAST_ROOM, 2 * units)
    columns: dict[str, NDArray[Any]] = {name: np.zeros(places, np.int64) for name in COLUMNS}
    columns |= {"value_E": np.zeros(places, np.float32), "window_E": np.arange(places)}
    return Waiting(Candidates(**columns, windows_PSW=np.zeros((places, sides, window), np.float32)))


def reserve(waiting: Waiting, count: int) -> Candidates:
    """The next `count` rows, for the caller to fill; there must be room for them: see `settle`."""
    rows = waiting.candidates[waiting.used : waiting.used + count]
    waiting.used += count
    return rows


def windows_of(rows: Candidates) -> NDArray[np.float32]:
    """The windows (E, S, W) of reserved rows, to be filled in place."""
    if not len(rows):
        return rows.windows_PSW[:0]
    return rows.windows_PSW[rows.window_E[0] : rows.window_E[-1] + 1]


def settle(waiting: Waiting, lists: TopLists, unfinished: int) -> None:
    """Let in all candidates but those of the document that is still being read, or -1."""
    found = best_of_documents(waiting.candidates[: waiting.used])
    held_E = found.document_E == unfinished
    insert(lists, found[~held_E])
    _keep(waiting, found[held_E])


def _keep(waiting: Waiting, held: Candidates) -> None:
    windows_ESW = held.windows_PSW[held.window_E]
    waiting.used = 0
    fill(reserve(waiting, len(held)), held, windows_ESW)


def fill(rows: Candidates, found: Candidates, windows_ESW: NDArray[np.float32]) -> None:
    """Copy candidates and their windows into reserved rows."""
    for name in COLUMNS:
        if name != "window_E":
            getattr(rows, name)[:] = getattr(found, name)
    windows_of(rows)[:] = windows_ESW
