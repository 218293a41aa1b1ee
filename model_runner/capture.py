"""From one block's activations to the candidates of its units."""

# Shape suffixes: B contexts of a block, R of them with rankable tokens, T tokens of a context, F units,
# E candidates, S sides of the LayerNorm, W tokens of a window.
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from model_runner.contexts import Block
from model_runner.top import Candidates, TopLists, empty_lists
from model_runner.waiting import Waiting, empty_waiting, reserve, settle, windows_of

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
    lists, waiting = empty_lists(units, kept, window, sides), empty_waiting(units, window, sides)
    # Memory is taken now, so that whoever lacks it hears of it at once and it does not grow later.
    lists.windows_FKSW.fill(0)
    waiting.candidates.windows_PSW.fill(0)
    return Gathered(
        sign=sign,
        lists=lists,
        waiting=waiting,
        finite_F=np.ones(units, np.bool_),
        constant_F=np.ones(units, np.bool_),
        first_F=np.full(units, np.nan, np.float32),
    )


class Seen(NamedTuple):
    """A block's float32 activations of some units, and what each context reaches."""

    acts_BTF: Tensor
    block: Block
    rows_R: NDArray[np.int64]
    """The contexts with rankable tokens."""
    greatest_RF: NDArray[np.float32]
    least_RF: NDArray[np.float32] | None
    """Where it was asked for."""

    def ranked(self, row: int) -> Tensor:
        """The rankable tokens (tokens, units) of a context."""
        return ranked_tokens(self.acts_BTF[row], self.block.rankable_BT[row])


def look(acts_BTF: Tensor, block: Block, least: bool = False) -> Seen:
    """See what each unit reaches in each context. Changes nothing, so several threads may look at once."""
    rows_R = np.flatnonzero(block.rankable_BT.any(axis=1))
    shape = (len(rows_R), acts_BTF.shape[2])
    seen = Seen(acts_BTF, block, rows_R, np.empty(shape, np.float32), np.empty(shape, np.float32) if least else None)
    for place, row in enumerate(rows_R.tolist()):
        ranked_TF = seen.ranked(row)
        seen.greatest_RF[place] = _greatest(ranked_TF)
        if seen.least_RF is not None:
            seen.least_RF[place] = _least(ranked_TF)
    return seen


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
    passes_RF = _passes(gathered.lists, best_RF, documents_R) & _best_of_document(best_RF, documents_R)
    for first, last in _fitting(gathered, documents_R, passes_RF.sum(axis=1)):
        rows_E, units_E = np.nonzero(passes_RF[first:last])
        if not len(rows_E):
            continue
        found = reserve(gathered.waiting, len(rows_E))
        found.unit_E[:], found.value_E[:] = units_E, best_RF[first:last][rows_E, units_E]
        _fill(found, gathered.sign, seen, seen.rows_R[first:last][rows_E], cluster_of, after)


def _fitting(
    gathered: Gathered, document_R: NDArray[np.int64], count_R: NDArray[np.int64]
) -> Iterator[tuple[int, int]]:
    """Ranges of contexts whose candidates fit together into the room that there is, made where it must be."""
    first = 0
    while first < len(count_R):
        last = first + int(np.searchsorted(np.cumsum(count_R[first:]), gathered.waiting.room, side="right"))
        if last > first:
            yield first, last
        if last < len(count_R):
            settle(gathered.waiting, gathered.lists, int(document_R[last]))
        first = last


def ranked_tokens(acts_TF: Tensor, rankable_T: NDArray[np.bool_]) -> Tensor:
    """The rankable tokens of one context: a view, unless a special token stands among them."""
    places = np.flatnonzero(rankable_T)
    first, last = int(places[0]), int(places[-1])
    if last - first + 1 == len(places):
        return acts_TF[first : last + 1]
    return acts_TF[torch.from_numpy(places).to(acts_TF.device)]


def _passes(lists: TopLists, best_BF: NDArray[np.float32], document_B: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Which contexts may enter which lists. A NaN passes nowhere."""
    floor_F, document_F = lists.floor
    level_BF = best_BF == floor_F
    passes_BF = best_BF > floor_F
    if level_BF.any():
        passes_BF |= level_BF & (document_B[:, None] < document_F)
    return passes_BF


def _best_of_document(best_RF: NDArray[np.float32], document_R: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Which contexts reach what their documents do in this block: no other can be its document's candidate."""
    first_R = np.append(True, document_R[1:] != document_R[:-1])
    if first_R.all():
        return np.ones(best_RF.shape, np.bool_)
    document_DF = np.maximum.reduceat(best_RF, np.flatnonzero(first_R), axis=0)
    is_best_RF: NDArray[np.bool_] = best_RF == document_DF[np.cumsum(first_R) - 1]
    return is_best_RF


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
    sign: int,
    seen: Seen,
    rows_E: NDArray[np.int64],
    cluster_of: ClusterOf,
    after: AfterOf | None,
) -> None:
    """Complete candidates of some contexts, ordered by context. Their windows are copied here, and only theirs."""
    block = seen.block
    found.document_E[:], found.start_E[:] = block.document_B[rows_E], block.start_B[rows_E]
    windows_ESW = windows_of(found)
    copy_windows(windows_ESW, seen.acts_BTF, after, rows_E, found.unit_E)
    peaks_EW = (windows_ESW[:, 0] == sign * found.value_E[:, None]) & block.rankable_BT[rows_E]
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
    windows_ESW: NDArray[np.float32],
    acts_BTF: Tensor,
    after: AfterOf | None,
    rows_E: NDArray[np.int64],
    units_E: NDArray[np.int64],
) -> None:
    """Copy the activations of some (contexts of the block, units) into windows, both sides of the LayerNorm.

    What lies beyond a context's length is copied along and never shown.
    """
    if acts_BTF.device.type == "cpu":
        windows_ESW[:, 0] = acts_BTF.numpy()[rows_E, :, units_E]
    else:
        rows, units = (torch.from_numpy(numbers).to(acts_BTF.device) for numbers in (rows_E, units_E))
        windows_ESW[:, 0] = acts_BTF.transpose(1, 2)[rows, units].numpy(force=True)
    if after is not None:
        windows_ESW[:, 1] = after(windows_ESW[:, 0], rows_E, units_E)
