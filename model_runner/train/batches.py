"""Documents packed into a stream and cut into windows. Which window comes when is a pure function."""

# Shape suffixes: N documents, B windows of a batch, T tokens of a window.
from collections.abc import Collection
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from model_runner.corpus.store import Corpus, refuse_unknown
from model_runner.errors import RunnerError
from model_runner.words import counted


@dataclass(frozen=True)
class Stream:
    """All documents of a split in one order, each after a BOS, cut into windows of `context` tokens."""

    corpus: Corpus
    sources_N: NDArray[np.int64]
    """Where each document of the stream begins in the corpus's tokens."""
    starts_N: NDArray[np.int64]
    """Where each document's BOS lies in the stream."""
    length: int
    """Tokens of the stream, each BOS counted."""
    context: int
    seed: int

    @property
    def windows(self) -> int:
        """Whole windows, each with a token after it to be predicted."""
        return (self.length - 1) // self.context


def pack(corpus: Corpus, split: str, context: int, seed: int, parts: Collection[str] | None = None) -> Stream:
    """The stream of a split, its documents in an order that the seed gives.

    Raises RunnerError when there is not one whole window of text.
    """
    documents = np.random.default_rng([seed, 0]).permutation(corpus.in_split(split, parts))
    rows = corpus.documents[documents]
    ends_N = np.cumsum(rows["length"].astype(np.int64) + 1)
    length = int(ends_N[-1]) if len(ends_N) else 0
    if length <= context:
        raise RunnerError(
            f"The {split} split of {corpus.folder} has {counted(length, 'token')}, not one window of {context}. "
            "Give more text or a smaller context."
        )
    starts_N = ends_N - rows["length"] - 1
    return Stream(corpus, rows["start"].copy(), starts_N, length, context, seed)


def read_windows(stream: Stream, windows_B: NDArray[np.int64]) -> Tensor:
    """The tokens of windows and of the one after each: (windows, context + 1) int64.

    Raises RunnerError where one is not of the corpus's vocabulary.
    """
    places_BT = windows_B[:, None] * stream.context + np.arange(stream.context + 1)
    documents_BT = np.searchsorted(stream.starts_N, places_BT, side="right") - 1
    offsets_BT = places_BT - stream.starts_N[documents_BT]
    # A BOS has no place in the corpus; what is read for it is thrown away.
    sources_BT = stream.sources_N[documents_BT] + np.maximum(offsets_BT, 1) - 1
    corpus = stream.corpus
    tokens_BT = np.where(offsets_BT == 0, corpus.info.bos, corpus.tokens[sources_BT])
    refuse_unknown(corpus, tokens_BT)
    return torch.from_numpy(tokens_BT.astype(np.int64))


def windows_of_step(stream: Stream, step: int, batch: int, rank: int = 0, ranks: int = 1) -> NDArray[np.int64]:
    """Which windows one rank reads in a step; `batch` counts the windows of all ranks.

    Every window comes once in an epoch, in an order drawn from the stream's seed and the epoch's number.
    Raises RunnerError when the ranks cannot share the batch equally.
    """
    if batch % ranks:
        raise RunnerError(f"A step of {batch} windows cannot be shared equally by {ranks} ranks.")
    share = batch // ranks
    places_B = step * batch + rank * share + np.arange(share)
    epochs_B, places_B = np.divmod(places_B, stream.windows)
    orders = {epoch: _epoch_order(stream.seed, int(epoch), stream.windows) for epoch in np.unique(epochs_B)}
    return np.array([orders[epoch][place] for epoch, place in zip(epochs_B, places_B, strict=True)])


@lru_cache(maxsize=2)
def _epoch_order(seed: int, epoch: int, windows: int) -> NDArray[np.int64]:
    return np.random.default_rng([seed, 1, epoch]).permutation(windows)
