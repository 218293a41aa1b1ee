"""From one block's activations to the candidates of its units."""

# Shape suffixes: B contexts of a block, T tokens of a context, F units, E units with a candidate.
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from model_runner.contexts import Block
from model_runner.subject import After
from model_runner.top import TopLists, empty_lists
from model_runner.waiting import Waiting, add, empty_waiting, settle

ClusterOf = Callable[[int, NDArray[np.int64]], NDArray[np.int64]]
"""The near-duplicate cluster of each of these positions of a document."""


@dataclass
class Gathered:
    """All that is known so far of one layer's units."""

    lists: TopLists
    waiting: Waiting
    finite_F: NDArray[np.bool_]
    """No NaN and no infinity was seen at a peak."""
    constant_F: NDArray[np.bool_]
    """Every rankable token had the value `first_F`."""
    first_F: NDArray[np.float32]
    """The value at the first rankable token; NaN before one is seen."""


def nothing_gathered(units: int, kept: int, window: int, sides: int) -> Gathered:
    return Gathered(
        lists=empty_lists(units, kept, window, sides),
        waiting=empty_waiting(units, window, sides),
        finite_F=np.ones(units, np.bool_),
        constant_F=np.ones(units, np.bool_),
        first_F=np.full(units, np.nan, np.float32),
    )


@torch.inference_mode()
def gather(
    gathered: Gathered, acts_BTF: Tensor, block: Block, cluster_of: ClusterOf, after: After | None = None
) -> None:
    """Take what may enter the lists from a block's float32 activations, which are only read.

    Blocks of one document must come in order. `after` gives the other side of the LayerNorm.
    """
    rows = [row for row in range(len(block.length_B)) if block.rankable_BT[row].any()]
    if not rows:
        return
    ranked = [_ranked(acts_BTF[row], block.rankable_BT[row]) for row in rows]
    best_BF = torch.stack([acts_TF.amax(dim=0) for acts_TF in ranked]).numpy(force=True)
    gathered.finite_F &= np.isfinite(best_BF).all(axis=0)
    _watch_constant(gathered, ranked)
    passes_BF = _passes(gathered.lists, best_BF, block.document_B[rows])
    for row, passes_F in zip(rows, passes_BF, strict=True):
        units_E = np.flatnonzero(passes_F)
        if not len(units_E):
            continue
        if gathered.waiting.room < len(units_E):
            settle(gathered.waiting, gathered.lists, int(block.document_B[row]))
        _add_context(gathered.waiting, acts_BTF[row], block, row, units_E, cluster_of, after)


def _ranked(acts_TF: Tensor, rankable_T: NDArray[np.bool_]) -> Tensor:
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


def _add_context(
    waiting: Waiting,
    acts_TF: Tensor,
    block: Block,
    row: int,
    units_E: NDArray[np.int64],
    cluster_of: ClusterOf,
    after: After | None,
) -> None:
    length, start, document = int(block.length_B[row]), int(block.start_B[row]), int(block.document_B[row])
    columns = torch.from_numpy(units_E).to(acts_TF.device)
    sides = [acts_TF[:length]] if after is None else [acts_TF[:length], after(acts_TF[:length])]
    windows_ST_E = [side.index_select(1, columns).numpy(force=True) for side in sides]
    places = np.flatnonzero(block.rankable_BT[row])
    ranked_TE = windows_ST_E[0][places]
    best_E = ranked_TE.argmax(axis=0)
    peak_E = places[best_E]
    windows_ESW = add(
        waiting,
        unit_E=units_E,
        value_E=ranked_TE[best_E, np.arange(len(units_E))],
        document_E=document,
        cluster_E=cluster_of(document, start + peak_E - 1),
        start_E=start,
        peak_E=peak_E,
    )
    for side, window_TE in enumerate(windows_ST_E):
        windows_ESW[:, side, :length] = window_TE.T
