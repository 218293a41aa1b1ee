"""The K snippets that excite each unit most, exactly, in one pass over documents in any order.

What is kept is defined without reference to a stream. Of each document, a unit has one candidate: its
highest rankable token, the first of equal ones. Of the candidates whose peaks lie in one near-duplicate
cluster, the highest counts, of equal ones that of the first document. Of those, the K highest are kept,
equal ones by document.

A list that keeps K clusters at a time gives just that: what falls off it is below K other clusters, whose
values only rise. But a candidate must be its document's final one before it competes: an earlier, lower one
in another cluster would push out what it must not.
"""

# Shape suffixes: F units, K kept, E candidates, P places for windows, S sides of the LayerNorm, W tokens.
from dataclasses import dataclass, fields

import numpy as np
from numpy.typing import NDArray

EMPTY = -np.inf


@dataclass(frozen=True)
class Candidates:
    """Snippets that may enter the lists, a row each."""

    unit_E: NDArray[np.int64]
    value_E: NDArray[np.float32]
    document_E: NDArray[np.int64]
    cluster_E: NDArray[np.int64]
    """Near-duplicate cluster of the text at the peak."""
    start_E: NDArray[np.int64]
    """Offset in the document of the window's second token."""
    peak_E: NDArray[np.int64]
    """Index of the peak in the window."""
    window_E: NDArray[np.int64]
    """The place of each window among those of the lists. Windows are big: they stay put, and only this number moves."""

    def __len__(self) -> int:
        return len(self.unit_E)

    def __getitem__(self, rows: NDArray[np.int64] | NDArray[np.bool_] | slice) -> "Candidates":
        return Candidates(**{name: getattr(self, name)[rows] for name in COLUMNS})


COLUMNS = tuple(field.name for field in fields(Candidates))


@dataclass
class TopLists:
    """The best K candidates so far of each unit, best first; an empty place has value -inf."""

    value_FK: NDArray[np.float32]
    document_FK: NDArray[np.int64]
    cluster_FK: NDArray[np.int64]
    start_FK: NDArray[np.int64]
    peak_FK: NDArray[np.int64]
    window_FK: NDArray[np.int64]
    """The place of each snippet's window."""
    windows_PSW: NDArray[np.float32]
    """Activations of whole windows, of listed snippets and of candidates; S is 1, or 2 with those after the
    post-activation LayerNorm. Several snippets may have one window."""

    @property
    def floor(self) -> tuple[NDArray[np.float32], NDArray[np.int64]]:
        """Value and document of each unit's last place: a newcomer must beat them."""
        return self.value_FK[:, -1], self.document_FK[:, -1]


def empty_lists(units: int, kept: int, window: int, sides: int = 1, spare: int = 0) -> TopLists:
    """Lists with nothing in them, for `units` units and `kept` snippets each.

    There is a place for the window of each, and `spare` places for windows of candidates.
    """
    return lists_over(np.zeros((units * kept + spare, sides, window), np.float32), (units, kept))


def lists_over(windows_PSW: NDArray[np.float32], shape: tuple[int, int]) -> TopLists:
    """Lists with nothing in them, of this shape (units, kept), over windows that are there."""
    return TopLists(
        value_FK=np.full(shape, EMPTY, np.float32),
        document_FK=np.full(shape, -1, np.int64),
        cluster_FK=np.full(shape, -1, np.int64),
        start_FK=np.full(shape, -1, np.int64),
        peak_FK=np.full(shape, -1, np.int64),
        window_FK=np.full(shape, -1, np.int64),
        windows_PSW=windows_PSW,
    )


def listed_windows(lists: TopLists) -> NDArray[np.int64]:
    """The places of the windows that listed snippets have."""
    listed_E: NDArray[np.int64] = lists.window_FK[lists.value_FK != EMPTY]
    return listed_E


def free_places(lists: TopLists, *taken: NDArray[np.int64]) -> NDArray[np.int64]:
    """The places for windows, ascending, that are not among the taken ones."""
    free_P = np.ones(len(lists.windows_PSW), np.bool_)
    for taken_E in taken:
        free_P[taken_E] = False
    return np.flatnonzero(free_P)


def best_of_documents(found: Candidates) -> Candidates:
    """The highest candidate of each unit and document, the first of equal ones."""
    order = np.lexsort((found.peak_E, found.start_E, -found.value_E, found.document_E, found.unit_E))
    return found[order[_firsts(found.unit_E[order], found.document_E[order])]]


def _best_of_clusters(found: Candidates) -> Candidates:
    """The highest candidate of each unit and cluster, of equal ones that of the first document."""
    order = np.lexsort((found.document_E, -found.value_E, found.cluster_E, found.unit_E))
    return found[order[_firsts(found.unit_E[order], found.cluster_E[order])]]


def _firsts(one_E: NDArray[np.int64], two_E: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Where a pair differs from the pair before it."""
    differs = np.ones(len(one_E), np.bool_)
    differs[1:] = (one_E[1:] != one_E[:-1]) | (two_E[1:] != two_E[:-1])
    return differs


def insert(lists: TopLists, found: Candidates) -> None:
    """Let candidates into the lists, which change in place.

    Each must be its document's final one for its unit, and no document may come twice for one unit.
    """
    place(lists, _without_known_clusters(lists, _best_of_clusters(found)))


def place(lists: TopLists, found: Candidates) -> None:
    """Let candidates into the lists whose documents and clusters are all different, and others than those listed."""
    if not len(found):
        return
    units_U, row_E = np.unique(found.unit_E, return_inverse=True)
    kept = lists.value_FK.shape[1]
    row = np.concatenate([np.repeat(np.arange(len(units_U)), kept), row_E])
    value = np.concatenate([lists.value_FK[units_U].ravel(), found.value_E])
    document = np.concatenate([lists.document_FK[units_U].ravel(), found.document_E])
    order = _best_first(row, value, document)
    # Every row has at least K entries, the empty places counted, so its first K are a full list.
    rank = np.arange(len(order)) - np.searchsorted(row[order], row[order])
    chosen_UK = order[rank < kept].reshape(len(units_U), kept)
    _rewrite(lists, units_U, chosen_UK, found)


def _without_known_clusters(lists: TopLists, found: Candidates) -> Candidates:
    """Settle who stands for a cluster that is listed already: the newcomer, or who is there."""
    same_EK = lists.cluster_FK[found.unit_E] == found.cluster_E[:, None]
    same_EK &= lists.value_FK[found.unit_E] != EMPTY
    rival_E = same_EK.argmax(axis=1)
    known_E = same_EK[np.arange(len(found)), rival_E]
    units, places = found.unit_E[known_E], rival_E[known_E]
    listed, listed_document = lists.value_FK[units, places], lists.document_FK[units, places]
    value, document = found.value_E[known_E], found.document_E[known_E]
    wins = (value > listed) | ((value == listed) & (document < listed_document))
    lists.value_FK[units[wins], places[wins]] = EMPTY
    stays_E = ~known_E
    stays_E[np.flatnonzero(known_E)[wins]] = True
    return found[stays_E]


def _best_first(row: NDArray[np.int64], value: NDArray[np.float32], document: NDArray[np.int64]) -> NDArray[np.int64]:
    """The order by row, then value downwards, then document.

    One number carries row and value, so that a single stable sort of two sorted runs, which is quick, does
    it; only equal values need the documents as well.
    """
    # Adding zero makes -0.0 and 0.0 one value; the rest turns a float's bits into an ordered integer.
    bits = (value + np.float32(0)).view(np.int32)
    rising = (bits ^ ((bits >> 31) & 0x7FFFFFFF)).astype(np.int64)
    key = (row << 32) - rising
    order = np.argsort(key, kind="stable")
    ties = (np.diff(key[order]) == 0) & (value[order][1:] != EMPTY)
    if ties.any():
        order = np.lexsort((document, key))
    return order


def _rewrite(lists: TopLists, units_U: NDArray[np.int64], chosen_UK: NDArray[np.int64], found: Candidates) -> None:
    """Put the chosen in their places: entries of the old lists, then newcomers, are numbered in a row."""
    for name in ("value", "document", "cluster", "start", "peak", "window"):
        listed_FK = getattr(lists, f"{name}_FK")
        pool = np.concatenate([listed_FK[units_U].ravel(), getattr(found, f"{name}_E")])
        listed_FK[units_U] = pool[chosen_UK]


def merge(lists: TopLists, other: TopLists) -> None:
    """Let everything that another pass over other documents has kept into `lists`. Nothing may be waiting for them."""
    units, places = np.nonzero(other.value_FK != EMPTY)
    theirs = len(lists.windows_PSW)
    insert(
        lists,
        Candidates(
            unit_E=units,
            value_E=other.value_FK[units, places],
            document_E=other.document_FK[units, places],
            cluster_E=other.cluster_FK[units, places],
            start_E=other.start_FK[units, places],
            peak_E=other.peak_FK[units, places],
            window_E=theirs + other.window_FK[units, places],
        ),
    )
    _adopt(lists, other, theirs)


def _adopt(lists: TopLists, other: TopLists, theirs: int) -> None:
    """Copy the windows of the other's snippets that got in: their numbers begin at `theirs`, after all of ours."""
    listed_FK = lists.value_FK != EMPTY
    new_FK = listed_FK & (lists.window_FK >= theirs)
    windows, window_E = np.unique(lists.window_FK[new_FK] - theirs, return_inverse=True)
    places = free_places(lists, lists.window_FK[listed_FK & ~new_FK])[: len(windows)]
    lists.windows_PSW[places] = other.windows_PSW[windows]
    lists.window_FK[new_FK] = places[window_E]
