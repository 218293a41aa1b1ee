"""Documents cut into the contexts that a model reads, in blocks of one fixed shape.

Every context belongs to one document, begins with BOS and is padded on the right. A context is always in
the same block at the same row, whoever asks and in whatever order: matrix products differ in their last
bits with the shape of a batch, so one fixed shape makes the numbers themselves repeatable.
"""

# Shape suffixes: N documents, B contexts of a block, T tokens of a context.
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from model_runner.corpus.store import Corpus, refuse_unknown
from model_runner.errors import RunnerError
from model_runner.words import counted


@dataclass(frozen=True)
class Block:
    """Contexts that go through the model together."""

    tokens_BT: NDArray[np.int64]
    """Token ids: BOS, the document's, and BOS again as padding."""
    length_B: NDArray[np.int64]
    """Tokens of each context, BOS included; 0 for a row that fills up the last block."""
    document_B: NDArray[np.int64]
    start_B: NDArray[np.int64]
    """Offset in its document of each context's second token."""
    rankable_BT: NDArray[np.bool_]
    """Neither BOS at the beginning, nor a special token anywhere, nor padding, nor what another shard looks at."""
    unfinished: int
    """The document that goes on in the next block, or -1."""

    @property
    def tokens(self) -> int:
        """Rankable tokens."""
        return int(self.rankable_BT.sum())


@dataclass(frozen=True)
class Contexts:
    """How the documents of a corpus fall into blocks of `rows` contexts of `window` tokens."""

    corpus: Corpus
    documents_N: NDArray[np.int64]
    """Ascending numbers of the documents that are read."""
    window: int
    rows: int
    ends_N: NDArray[np.int64]
    """Contexts of all documents up to and with this one."""
    mine: range
    """The contexts that are looked at, all or a shard of them; others in the same blocks are computed for nothing."""

    @property
    def blocks(self) -> int:
        """Blocks of all documents."""
        return -(-int(self.ends_N[-1]) // self.rows)

    @property
    def numbers(self) -> range:
        """The blocks with contexts of mine."""
        return range(self.mine.start // self.rows, -(-self.mine.stop // self.rows)) if self.mine else range(0)

    def block(self, number: int) -> Block:
        """One block, 0 <= number < blocks. It holds the same tokens for every shard.

        Raises RunnerError where a token is not of the corpus's vocabulary.
        """
        first, after = number * self.rows, (number + 1) * self.rows
        contexts_B = np.arange(first, min(after, int(self.ends_N[-1])))
        places_B = np.searchsorted(self.ends_N, contexts_B, side="right")
        lengths_B = context_counts(self.corpus, self.documents_N[places_B], self.window)
        starts_B = (contexts_B - (self.ends_N[places_B] - lengths_B)) * (self.window - 1)
        goes_on = after < self.mine.stop and np.searchsorted(self.ends_N, after, side="right") == places_B[-1]
        documents_B = self.documents_N[places_B]
        block = self._filled(documents_B, starts_B, int(documents_B[-1]) if goes_on else -1)
        block.rankable_BT[: max(0, self.mine.start - first)] = False
        block.rankable_BT[max(0, self.mine.stop - first) :] = False
        return block

    def _filled(self, document_B: NDArray[np.int64], start_B: NDArray[np.int64], unfinished: int) -> Block:
        bos = self.corpus.info.bos
        tokens_BT = np.full((self.rows, self.window), bos, np.int64)
        length_B, starts_B = np.zeros(self.rows, np.int64), np.zeros(self.rows, np.int64)
        documents_B = np.full(self.rows, -1)
        documents_B[: len(document_B)], starts_B[: len(start_B)] = document_B, start_B
        for row, (document, start) in enumerate(zip(document_B.tolist(), start_B.tolist(), strict=True)):
            read_T = read_context(self.corpus, document, start, self.window)
            tokens_BT[row, 1 : len(read_T) + 1] = read_T
            length_B[row] = len(read_T) + 1
        refuse_unknown(self.corpus, tokens_BT)
        # Padding is BOS and goes with it.
        rankable_BT = tokens_BT != bos
        return Block(tokens_BT, length_B, documents_B, starts_B, rankable_BT, unfinished)


def shard(contexts: Contexts, part: int, parts: int) -> Contexts:
    """The part's share of whole documents, as equal as they allow; it may be empty.

    Blocks keep their numbers and their rows. Where two shards meet in a block, both compute it.
    """
    ends_N = np.concatenate([[0], contexts.ends_N])
    bounds = [ends_N[np.searchsorted(ends_N, ends_N[-1] * each / parts)] for each in (part, part + 1)]
    return replace(contexts, mine=range(int(bounds[0]), int(bounds[1])))


def read_context(corpus: Corpus, document: int, start: int, window: int) -> NDArray[np.unsignedinteger[Any]]:
    """The document's tokens in the context that begins at `start`, BOS left out."""
    return corpus.document_tokens(document)[start : start + window - 1]


def context_counts(corpus: Corpus, documents_N: NDArray[np.int64], window: int) -> NDArray[np.int64]:
    """How many contexts each document takes; an empty one takes none."""
    lengths_N = corpus.documents["length"][documents_N].astype(np.int64)
    return -(-lengths_N // (window - 1))


def cut_contexts(corpus: Corpus, documents_N: NDArray[np.int64], window: int, rows: int) -> Contexts:
    """Lay out the documents. Raises RunnerError when there is nothing to read or no room to read it in."""
    if window < 2:
        raise RunnerError(f"A window of {counted(window, 'token')} has no room for text after BOS; give at least 2.")
    if rows < 1:
        raise RunnerError(f"A block of {rows} contexts is empty; give at least 1.")
    ends_N = np.cumsum(context_counts(corpus, documents_N, window))
    if not len(ends_N) or not ends_N[-1]:
        raise RunnerError(
            f"There is no text in {counted(len(documents_N), 'document')} to collect over. "
            "Choose another split, other parts, or a larger corpus."
        )
    return Contexts(corpus, documents_N, window, rows, ends_N, range(int(ends_N[-1])))


def first_documents(corpus: Corpus, documents_N: NDArray[np.int64], tokens: int | None) -> NDArray[np.int64]:
    """The first documents that hold `tokens` tokens together, or all of them.

    Documents are stored in an order that has nothing to do with their content, so these are a fair sample.
    """
    if tokens is None:
        return documents_N
    held_N = np.cumsum(corpus.documents["length"][documents_N], dtype=np.int64)
    return documents_N[: int(np.searchsorted(held_N, tokens)) + 1]
