"""From one block's activations to the candidates of its units."""

# Shape suffixes: B contexts of a block, R of them with rankable tokens, T tokens of a context, F units,
# E candidates, S sides of the LayerNorm, W tokens of a window.
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from model_runner.contexts import Block
from model_runner.top import TopLists, empty_lists
from model_runner.waiting import Waiting, empty_waiting, reserve, settle, windows_of

ClusterOf = Callable[[int, NDArray[np.int64]], NDArray[np.int64]]
"""The near-duplicate cluster of each of these positions of a document."""

AfterOf = Callable[[int], Tensor]
"""What the post-activation LayerNorm makes of a row of the block: (tokens without padding, units)."""


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


@torch.inference_mode()
def gather(
    gathered: Gathered, acts_BTF: Tensor, block: Block, cluster_of: ClusterOf, after: AfterOf | None = None
) -> None:
    """Take what may enter the lists from a block's float32 activations, which are only read.

    Blocks of one document must come in order. `after` gives the other side of the LayerNorm.
    """
    rows_R = np.flatnonzero(block.rankable_BT.any(axis=1))
    if not len(rows_R):
        return
    ranked = [ranked_tokens(acts_BTF[row], block.rankable_BT[row]) for row in rows_R]
    highest = [acts_TF.amax(dim=0) if gathered.sign > 0 else -acts_TF.amin(dim=0) for acts_TF in ranked]
    best_RF = torch.stack(highest).numpy(force=True)
    gathered.finite_F &= np.isfinite(best_RF).all(axis=0)
    _watch_constant(gathered, ranked)
    passes_RF = _passes(gathered.lists, best_RF, block.document_B[rows_R])
    for first, last in _fitting(gathered, block.document_B[rows_R], passes_RF.sum(axis=1)):
        rows_E, units_E = np.nonzero(passes_RF[first:last])
        values_E = best_RF[first:last][rows_E, units_E]
        _add(gathered, acts_BTF, block, rows_R[first:last][rows_E], units_E, values_E, cluster_of, after)


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


def _watch_constant(gathered: Gathered, ranked: list[Tensor]) -> None:
    """Only units that have been constant so far are looked at: all in the first context, hardly any later."""
    if np.isnan(gathered.first_F).all():
        gathered.first_F[:] = ranked[0][0].numpy(force=True)
    for acts_TF in ranked:
        suspects = np.flatnonzero(gathered.constant_F)
        if not len(suspects):
            return
        values = acts_TF[:, torch.from_numpy(suspects).to(acts_TF.device)].numpy(force=True)
        gathered.constant_F[suspects] = (values == gathered.first_F[suspects]).all(axis=0)


def _add(
    gathered: Gathered,
    acts_BTF: Tensor,
    block: Block,
    rows_E: NDArray[np.int64],
    units_E: NDArray[np.int64],
    values_E: NDArray[np.float32],
    cluster_of: ClusterOf,
    after: AfterOf | None,
) -> None:
    """Candidates of some contexts, ordered by context. Their windows are copied here, and only theirs."""
    found = reserve(gathered.waiting, len(rows_E))
    found.unit_E[:], found.value_E[:] = units_E, values_E
    found.document_E[:], found.start_E[:] = block.document_B[rows_E], block.start_B[rows_E]
    windows_ESW = windows_of(found)
    rows, firsts = np.unique(rows_E, return_index=True)
    parts = [slice(*ends) for ends in pairwise([*firsts.tolist(), len(rows_E)])]
    for row, part in zip(rows.tolist(), parts, strict=True):
        sides = [acts_BTF[row, : block.length_B[row]], *([] if after is None else [after(row)])]
        copy_windows(windows_ESW[part], sides, units_E[part])
    peaks_EW = (windows_ESW[:, 0] == gathered.sign * values_E[:, None]) & block.rankable_BT[rows_E]
    found.peak_E[:] = peaks_EW.argmax(axis=1)
    for row, part in zip(rows.tolist(), parts, strict=True):
        positions_E = found.start_E[part] + found.peak_E[part] - 1
        found.cluster_E[part] = cluster_of(int(block.document_B[row]), positions_E)


def copy_windows(windows_ESW: NDArray[np.float32], sides: Sequence[Tensor], units_E: NDArray[np.int64]) -> None:
    """Copy the units' columns of a context's activations (tokens, units), a tensor a side, into windows."""
    columns = torch.from_numpy(units_E).to(sides[0].device)
    for side, side_TF in enumerate(sides):
        windows_ESW[:, side, : len(side_TF)] = side_TF.index_select(1, columns).numpy(force=True).T
