"""From one block's activations to the candidates of its units."""

# Shape suffixes: B contexts of a block, R of them with rankable tokens, T tokens of a context, F units,
# E candidates, P places for windows, S sides of the LayerNorm, W tokens of a window.
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from model_runner.collect import top
from model_runner.collect.contexts import Block
from model_runner.collect.top import Candidates, TopLists, empty_lists
from model_runner.collect.waiting import Waiting, empty_waiting, reserve, room_for, settle, take_places

ClusterOf = Callable[[int, NDArray[np.int64]], NDArray[np.int64]]
"""The near-duplicate cluster of each of these positions of a document."""

AfterOf = Callable[[NDArray[np.float32], NDArray[np.int64], NDArray[np.int64]], NDArray[np.float32]]
"""What the post-activation LayerNorm makes of activations (E, tokens), those of a context of the block and a unit."""


@dataclass
class Gathered:
    """What excites some units most so far; with `sign` -1, what drives them lowest."""

    sign: int
    lists: TopLists
    waiting: Waiting
    finite_F: NDArray[np.bool_]
    """No peak was a NaN or an infinity."""
    constant_F: NDArray[np.bool_]
    """Every rankable token had the value `first_F`."""
    first_F: NDArray[np.float32]
    """The value at the first rankable token; NaN before one is seen."""


def nothing_gathered(units: int, kept: int, window: int, sides: int, sign: int = 1) -> Gathered:
    # A document's held candidates, one a unit, and those of at least one more context.
    room = room_for(2 * units)
    lists = empty_lists(units, kept, window, sides, spare=room)
    # Memory is taken now, so that whoever lacks it hears of it at once and it does not grow later.
    lists.windows_PSW.fill(0)
    return Gathered(
        sign=sign,
        lists=lists,
        waiting=empty_waiting(lists, room),
        finite_F=np.ones(units, np.bool_),
        constant_F=np.ones(units, np.bool_),
        first_F=np.full(units, np.nan, np.float32),
    )


def merge(gathered: Gathered, other: Gathered) -> None:
    """Let in what was gathered over other documents; nothing may be waiting on either side."""
    top.merge(gathered.lists, other.lists)
    gathered.finite_F &= other.finite_F
    if np.isnan(gathered.first_F).all():
        gathered.first_F[:] = other.first_F
    elif not np.isnan(other.first_F).all():
        gathered.constant_F &= gathered.first_F == other.first_F
    gathered.constant_F &= other.constant_F


class Seen(NamedTuple):
    """A block's float32 activations of some units, and what each context reaches."""

    acts_BTF: Tensor
    block: Block
    rows_R: NDArray[np.int64]
    """The contexts with rankable tokens."""
    greatest_RF: NDArray[np.float32]
    least_RF: NDArray[np.float32] | None
    """Where it was asked for."""

    spans: dict[int, slice | NDArray[np.int64]]
    """Where the rankable tokens of each of these contexts are."""

    def ranked(self, row: int) -> Tensor:
        """The rankable tokens (tokens, units) of a context: a view, unless a special token stands among them."""
        span = self.spans[row]
        return self.acts_BTF[row, span if isinstance(span, slice) else torch.from_numpy(span).to(self.acts_BTF.device)]


def look(acts_BTF: Tensor, block: Block, least: bool = False) -> Seen:
    """See what each unit reaches in each context. Changes nothing, so several threads may look at once."""
    spans = _spans(block.rankable_BT)
    shape = (len(spans), acts_BTF.shape[2])
    least_RF = np.empty(shape, np.float32) if least else None
    seen = Seen(acts_BTF, block, np.array([*spans], np.int64), np.empty(shape, np.float32), least_RF, spans)
    for place, row in enumerate(spans):
        ranked_TF = seen.ranked(row)
        seen.greatest_RF[place] = _greatest(ranked_TF)
        if least_RF is not None:
            least_RF[place] = _least(ranked_TF)
    return seen


def _spans(rankable_BT: NDArray[np.bool_]) -> dict[int, slice | NDArray[np.int64]]:
    counts_B, firsts_B = rankable_BT.sum(axis=1), rankable_BT.argmax(axis=1)
    lasts_B = rankable_BT.shape[1] - rankable_BT[:, ::-1].argmax(axis=1)
    ends = enumerate(zip(counts_B.tolist(), firsts_B.tolist(), lasts_B.tolist(), strict=True))
    return {
        row: slice(first, last) if last - first == count else np.flatnonzero(rankable_BT[row])
        for row, (count, first, last) in ends
        if count
    }


def _greatest(acts_TF: Tensor) -> NDArray[np.float32]:
    """The highest value of each unit. On a processor, NumPy finds it twice as quickly as PyTorch."""
    if acts_TF.device.type != "cpu":
        return acts_TF.amax(dim=0).numpy(force=True)
    highest_F: NDArray[np.float32] = acts_TF.numpy().max(axis=0)
    return highest_F


def _least(acts_TF: Tensor) -> NDArray[np.float32]:
    if acts_TF.device.type != "cpu":
        return acts_TF.amin(dim=0).numpy(force=True)
    lowest_F: NDArray[np.float32] = acts_TF.numpy().min(axis=0)
    return lowest_F


@torch.inference_mode()
def gather(gathered: Gathered, seen: Seen, cluster_of: ClusterOf, after: AfterOf | None = None) -> None:
    """Take what may enter the lists from a block. What is looked for lowest must have been `seen` lowest.

    Blocks of one document must come in order. `after` gives the other side of the LayerNorm.
    """
    if not len(seen.rows_R):
        return
    best_RF = seen.greatest_RF if seen.least_RF is None or gathered.sign > 0 else -seen.least_RF
    gathered.finite_F &= np.isfinite(best_RF).all(axis=0)
    _watch_constant(gathered, seen)
    documents_R = seen.block.document_B[seen.rows_R]
    places_E, units_E = _passing(gathered.lists, best_RF, documents_R)
    counts_R = np.bincount(places_E, minlength=len(documents_R))
    for part in _fitting(gathered, documents_R, counts_R):
        found = reserve(gathered.waiting, part.stop - part.start)
        found.unit_E[:], found.value_E[:] = units_E[part], best_RF[places_E[part], units_E[part]]
        found.window_E[:] = take_places(gathered.waiting, len(found))
        _fill(found, gathered, seen, seen.rows_R[places_E[part]], cluster_of, after)


def _fitting(gathered: Gathered, document_R: NDArray[np.int64], count_R: NDArray[np.int64]) -> Iterator[slice]:
    """The candidates of contexts that fit together into the room that there is, made where it must be."""
    end_R, first = np.cumsum(count_R), 0
    while first < len(count_R):
        begin = int(end_R[first] - count_R[first])
        last = int(np.searchsorted(end_R, begin + gathered.waiting.room, side="right"))
        if last > first and end_R[last - 1] > begin:
            yield slice(begin, int(end_R[last - 1]))
        if last < len(count_R):
            settle(gathered.waiting, gathered.lists, int(document_R[last]))
        first = last


def _passing(
    lists: TopLists, best_RF: NDArray[np.float32], document_R: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Contexts and units (E) that may enter the lists, ordered by context. A NaN passes nowhere.

    What is less than its document reaches in this block is not its document's candidate.
    """
    floor_F, floor_document_F = lists.floor
    rows_E, units_E = np.nonzero(best_RF >= floor_F)
    value_E = best_RF[rows_E, units_E]
    first_R = np.append(True, document_R[1:] != document_R[:-1])
    highest_DF = np.maximum.reduceat(best_RF, np.flatnonzero(first_R), axis=0)
    passes_E = value_E == highest_DF[(np.cumsum(first_R) - 1)[rows_E], units_E]
    passes_E &= (value_E > floor_F[units_E]) | (document_R[rows_E] < floor_document_F[units_E])
    return rows_E[passes_E], units_E[passes_E]


def _watch_constant(gathered: Gathered, seen: Seen) -> None:
    """Only units that have been constant so far are looked at: all in the first context, hardly any later."""
    if np.isnan(gathered.first_F).all():
        gathered.first_F[:] = seen.ranked(int(seen.rows_R[0]))[0].numpy(force=True)
    for row in seen.rows_R.tolist():
        suspects = np.flatnonzero(gathered.constant_F)
        if not len(suspects):
            return
        values = seen.ranked(row)[:, torch.from_numpy(suspects).to(seen.acts_BTF.device)].numpy(force=True)
        gathered.constant_F[suspects] = (values == gathered.first_F[suspects]).all(axis=0)


def _fill(
    found: Candidates,
    gathered: Gathered,
    seen: Seen,
    rows_E: NDArray[np.int64],
    cluster_of: ClusterOf,
    after: AfterOf | None,
) -> None:
    """Complete candidates of some contexts, ordered by context. Their windows are copied here, and only theirs."""
    block = seen.block
    found.document_E[:], found.start_E[:] = block.document_B[rows_E], block.start_B[rows_E]
    acts_EW = copy_windows(gathered.lists.windows_PSW, found.window_E, seen.acts_BTF, after, rows_E, found.unit_E)
    peaks_EW = (acts_EW == gathered.sign * found.value_E[:, None]) & block.rankable_BT[rows_E]
    found.peak_E[:] = peaks_EW.argmax(axis=1)
    for row, part in _parts_of(rows_E):
        positions_E = found.start_E[part] + found.peak_E[part] - 1
        found.cluster_E[part] = cluster_of(int(block.document_B[row]), positions_E)


def _parts_of(rows_E: NDArray[np.int64]) -> Iterator[tuple[int, slice]]:
    """Each context and where its candidates are, in candidates that are ordered by context."""
    rows, firsts = np.unique(rows_E, return_index=True)
    ends = pairwise([*firsts.tolist(), len(rows_E)])
    yield from zip(rows.tolist(), (slice(*end) for end in ends), strict=True)


def copy_windows(
    windows_PSW: NDArray[np.float32],
    places_E: NDArray[np.int64],
    acts_BTF: Tensor,
    after: AfterOf | None,
    rows_E: NDArray[np.int64],
    units_E: NDArray[np.int64],
) -> NDArray[np.float32]:
    """Copy the activations of some (contexts of the block, units) to these places, both sides of the LayerNorm.

    What lies beyond a context's length is copied along and never shown. Returns the activations (E, W).
    """
    acts_EW = _windows(acts_BTF, rows_E, units_E)
    windows_PSW[places_E, 0] = acts_EW
    if after is not None:
        windows_PSW[places_E, 1] = after(acts_EW, rows_E, units_E)
    return acts_EW


def _windows(acts_BTF: Tensor, rows_E: NDArray[np.int64], units_E: NDArray[np.int64]) -> NDArray[np.float32]:
    if acts_BTF.device.type == "cpu":
        acts_EW: NDArray[np.float32] = acts_BTF.numpy()[rows_E, :, units_E]
        return acts_EW
    rows, units = (torch.from_numpy(numbers).to(acts_BTF.device) for numbers in (rows_E, units_E))
    return acts_BTF.transpose(1, 2)[rows, units].numpy(force=True)
