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


def add(waiting: Waiting, **columns: NDArray[np.float32] | NDArray[np.int64] | int) -> NDArray[np.float32]:
    """Take rows with these columns, and return the places where the caller puts their windows.

    There must be room for them: see `settle`.
    """
    count = len(np.atleast_1d(columns["unit_E"]))
    rows = slice(waiting.used, waiting.used + count)
    for name, values in columns.items():
        getattr(waiting.candidates, name)[rows] = values
    waiting.used += count
    return waiting.candidates.windows_PSW[rows]


def settle(waiting: Waiting, lists: TopLists, unfinished: int) -> None:
    """Let in all candidates but those of the document that is still being read, or -1."""
    found = best_of_documents(waiting.candidates[: waiting.used])
    held_E = found.document_E == unfinished
    insert(lists, found[~held_E])
    _keep(waiting, found[held_E])


def _keep(waiting: Waiting, held: Candidates) -> None:
    windows_ESW = held.windows_PSW[held.window_E]
    waiting.used = 0
    columns = {name: getattr(held, name) for name in COLUMNS if name != "window_E"}
    add(waiting, **columns)[...] = windows_ESW
