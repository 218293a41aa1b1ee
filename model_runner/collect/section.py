"""From lists to a section of the run folder."""

# Shape suffixes: F units of a layer, K kept, S snippets of all units, N tokens of all snippets, W of one.
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from model_runner.collect.capture import Gathered
from model_runner.collect.contexts import read_context
from model_runner.collect.top import EMPTY, TopLists
from model_runner.corpus.store import Corpus
from model_runner.run.arrays import ROW, STATES
from model_runner.run.writer import SectionArrays


def unit_states(gathered: Gathered, kept: int) -> NDArray[np.uint8]:
    """The state of each unit of a layer, an index into STATES.

    dead: one same value at every token. never_positive: no value above zero. too_few: fewer than `kept`
    snippets. not_finite: a NaN or an infinity was seen.
    """
    value_FK = gathered.lists.value_FK
    states_F = np.full(len(value_FK), STATES.index("ok"), np.uint8)
    states_F[shown(gathered).sum(axis=1) < kept] = STATES.index("too_few")
    states_F[value_FK[:, 0] <= 0] = STATES.index("never_positive")
    states_F[gathered.constant_F] = STATES.index("dead")
    states_F[~gathered.finite_F] = STATES.index("not_finite")
    return states_F


def shown(gathered: Gathered) -> NDArray[np.bool_]:
    """Which places (F, K) of the lists are snippets.

    A unit that fires somewhere shows firings alone: its zeros and negative values would be arbitrary text.
    A unit that never rises above zero keeps its highest; a dead or broken one has nothing to show. Among
    the lowest, only what is below zero is shown.
    """
    value_FK = gathered.lists.value_FK
    beyond_zero_FK = value_FK > 0
    if gathered.sign > 0:
        beyond_zero_FK |= ~beyond_zero_FK[:, :1]
    shown_FK: NDArray[np.bool_] = (value_FK != EMPTY) & beyond_zero_FK
    shown_FK[gathered.constant_F | ~gathered.finite_F] = False
    return shown_FK


class Shown(NamedTuple):
    """Lists of some units, and what of them is put into a section."""

    lists: TopLists
    shown_FK: NDArray[np.bool_]
    sign: int
    """1, or -1 where the lists hold negated activations."""


def ranked(gathered: Gathered) -> Shown:
    return Shown(gathered.lists, shown(gathered), gathered.sign)


def pack(parts: Sequence[Shown], corpus: Corpus, window: int) -> SectionArrays:
    """The snippets of all units, in the order of the parts and of the units in them."""
    counts = np.concatenate([part.shown_FK.sum(axis=1) for part in parts])
    rows = np.concatenate([_rows(part, corpus, window) for part in parts])
    rows["at"] = np.cumsum(rows["length"]) - rows["length"]
    activations, after_norm = _windows(parts, rows["length"])
    return SectionArrays(
        offsets=np.cumsum([0, *counts], dtype=np.int64),
        snippets=rows,
        tokens=_tokens(rows, corpus, window),
        activations=activations,
        after_norm=after_norm,
    )


def _rows(part: Shown, corpus: Corpus, window: int) -> NDArray[np.void]:
    lists, shown_FK = part.lists, part.shown_FK
    rows = np.zeros(int(shown_FK.sum()), ROW)
    rows["peak"], rows["value"] = lists.peak_FK[shown_FK], part.sign * lists.value_FK[shown_FK]
    rows["document"], rows["start"] = lists.document_FK[shown_FK], lists.start_FK[shown_FK]
    left_S = corpus.documents["length"][rows["document"]] - rows["start"]
    rows["length"] = np.minimum(left_S, window - 1) + 1
    rows["document_start"] = rows["start"] == 0
    rows["document_end"] = left_S <= window - 1
    rows["collapsed"] = [_collapsed(corpus, *row) for row in rows[["document", "start", "peak"]].tolist()]
    return rows


def _collapsed(corpus: Corpus, document: int, start: int, peak: int) -> int:
    chunks = corpus.document_chunks(document)
    place = int(np.searchsorted(chunks["start"], start + peak - 1, side="right")) - 1
    return int(chunks["cluster_documents"][place]) - 1


def _windows(
    parts: Sequence[Shown], length_S: NDArray[np.int32]
) -> tuple[NDArray[np.float32], NDArray[np.float32] | None]:
    """Activations of all snippets without their padding, and those after the LayerNorm where there is one."""
    sides = parts[0].lists.windows_PSW.shape[1]
    flat = [np.empty(int(length_S.sum()), np.float32) for _ in range(sides)]
    snippet, at = 0, 0
    for part in parts:
        for unit, place in np.argwhere(part.shown_FK):
            end = at + int(length_S[snippet])
            window_SW = part.lists.windows_PSW[part.lists.window_FK[unit, place]]
            for side in range(sides):
                flat[side][at:end] = window_SW[side, : end - at]
            snippet, at = snippet + 1, end
    return flat[0], flat[1] if sides == 2 else None


def _tokens(rows: NDArray[np.void], corpus: Corpus, window: int) -> NDArray[np.unsignedinteger]:
    flat = np.full(int(rows["length"].sum()), corpus.info.bos, corpus.tokens.dtype)
    for at, length, document, start in rows[["at", "length", "document", "start"]].tolist():
        flat[at + 1 : at + length] = read_context(corpus, document, start, window)
    return flat
