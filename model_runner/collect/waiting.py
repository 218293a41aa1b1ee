"""Candidates on their way into the top lists, gathered so that the lists are sorted seldom."""

# Shape suffixes: F units, E candidates, P places for windows, S sides of the LayerNorm, W tokens.
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from model_runner.collect.top import (
    COLUMNS,
    Candidates,
    TopLists,
    best_of_documents,
    free_places,
    insert,
    listed_windows,
)

LEAST_ROOM = 4096


def room_for(candidates: int) -> int:
    """Room for so many at least, and for so many that the lists are sorted seldom."""
    return max(LEAST_ROOM, candidates)


@dataclass
class Waiting:
    """Rows of `candidates` up to `used` are taken."""

    candidates: Candidates
    free_P: NDArray[np.int64]
    """The places of the lists' windows that nobody has, ascending: of many places the last are seldom touched."""
    used: int = 0

    @property
    def room(self) -> int:
        return len(self.candidates) - self.used


def empty_waiting(lists: TopLists, room: int) -> Waiting:
    """Room for so many candidates on their way into empty lists."""
    columns: dict[str, NDArray[Any]] = {name: np.zeros(room, np.int64) for name in COLUMNS}
    columns |= {"value_E": np.zeros(room, np.float32)}
    return Waiting(Candidates(**columns), free_places(lists))


def reserve(waiting: Waiting, count: int) -> Candidates:
    """The next `count` rows, for the caller to fill; there must be room for them: see `settle`."""
    rows = waiting.candidates[waiting.used : waiting.used + count]
    waiting.used += count
    return rows


def take_places(waiting: Waiting, count: int) -> NDArray[np.int64]:
    """Places for `count` windows, for the caller to fill."""
    places, waiting.free_P = waiting.free_P[:count], waiting.free_P[count:]
    return places


def settle(waiting: Waiting, lists: TopLists, unfinished: int) -> None:
    """Let in all candidates but those of the document that is still being read, or -1."""
    found = best_of_documents(waiting.candidates[: waiting.used])
    held_E = found.document_E == unfinished
    insert(lists, found[~held_E])
    hold_back(waiting, lists, found[held_E])


def hold_back(waiting: Waiting, lists: TopLists, held: Candidates) -> None:
    """Let these wait and no others. Places of windows that are in no list and do not wait are free."""
    waiting.used = 0
    rows = reserve(waiting, len(held))
    for name in COLUMNS:
        getattr(rows, name)[:] = getattr(held, name)
    waiting.free_P = free_places(lists, listed_windows(lists), held.window_E)
