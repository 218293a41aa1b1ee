"""The definition of the top snippets, written as sorting everything, and blocks of made-up documents."""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray

from model_runner.collect.capture import Gathered, gather, look, nothing_gathered
from model_runner.collect.contexts import Block
from model_runner.collect.top import EMPTY, TopLists
from model_runner.collect.waiting import settle


class MadeDocument(NamedTuple):
    """A document whose activations and clusters are known in advance."""

    number: int
    acts_TF: NDArray[np.float32]
    cluster_T: NDArray[np.int64]
    special_T: NDArray[np.bool_]


class Entry(NamedTuple):
    value: float
    document: int
    position: int


def brute_force(documents: Sequence[MadeDocument], unit: int, kept: int) -> list[Entry]:
    """Sort all rankable tokens; then one a document, one a cluster, and the first K."""
    every = [
        (-float(document.acts_TF[at, unit]) + 0.0, document.number, at, int(document.cluster_T[at]))
        for document in documents
        for at in range(len(document.acts_TF))
        if not document.special_T[at]
    ]
    chosen, documents_seen, clusters_seen = [], set(), set()
    for value, document, at, cluster in sorted(every):
        if document in documents_seen:
            continue
        documents_seen.add(document)
        if cluster in clusters_seen:
            continue
        clusters_seen.add(cluster)
        chosen.append(Entry(-value + 0.0, document, at))
    return chosen[:kept]


def blocks_of(documents: Sequence[MadeDocument], window: int, rows: int) -> Iterator[tuple[Block, torch.Tensor]]:
    """The documents in blocks, with activations: BOS and padding excite every unit most of all."""
    contexts = [(document, start) for document in documents for start in range(0, len(document.acts_TF), window - 1)]
    units = documents[0].acts_TF.shape[1]
    for first in range(0, len(contexts), rows):
        acts_BTF = np.full((rows, window, units), 1e9, np.float32)
        length_B, document_B = np.zeros(rows, np.int64), np.full(rows, -1)
        start_B, rankable_BT = np.zeros(rows, np.int64), np.zeros((rows, window), np.bool_)
        for row, (document, start) in enumerate(contexts[first : first + rows]):
            part = document.acts_TF[start : start + window - 1]
            acts_BTF[row, 1 : len(part) + 1] = part
            rankable_BT[row, 1 : len(part) + 1] = ~document.special_T[start : start + window - 1]
            length_B[row], document_B[row], start_B[row] = len(part) + 1, document.number, start
        following = contexts[first + rows : first + rows + 1]
        last = contexts[min(first + rows, len(contexts)) - 1][0].number
        unfinished = last if following and following[0][0].number == last else -1
        tokens_BT = np.zeros((rows, window), np.int64)
        block = Block(tokens_BT, length_B, document_B, start_B, rankable_BT, unfinished)
        yield block, torch.from_numpy(acts_BTF)


def stream(documents: Sequence[MadeDocument], window: int, rows: int, kept: int, often: bool) -> Gathered:
    """One pass; `often` sorts the lists after every block."""
    clusters = {document.number: document.cluster_T for document in documents}
    gathered = nothing_gathered(documents[0].acts_TF.shape[1], kept, window, 1)
    for block, acts_BTF in blocks_of(documents, window, rows):
        gather(gathered, look(acts_BTF, block), lambda document, at_E: clusters[document][at_E])
        if often:
            settle(gathered.waiting, gathered.lists, block.unfinished)
    settle(gathered.waiting, gathered.lists, -1)
    return gathered


def entries(lists: TopLists, unit: int) -> list[Entry]:
    return [
        Entry(
            float(lists.value_FK[unit, place]),
            int(lists.document_FK[unit, place]),
            int(lists.start_FK[unit, place] + lists.peak_FK[unit, place] - 1),
        )
        for place in range(lists.value_FK.shape[1])
        if lists.value_FK[unit, place] != EMPTY
    ]
