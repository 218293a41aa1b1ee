"""Tokens where they stand, as arrays: the peaks of a unit, and a random sample of a corpus.

Shapes: M sites, V vocabulary.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from model_runner.corpus.store import Corpus, refuse_unknown
from model_runner.errors import RunnerError
from model_runner.rules.grammar import Place
from model_runner.rules.matching import begins_line
from model_runner.run.folder import Snippet

NONE = -1
"""Stands for the token before where there is only BOS."""


@dataclass(frozen=True)
class Sites:
    """M tokens where they stand; see `matching.Site` for what the numbers mean."""

    token_M: NDArray[np.int64]
    previous_M: NDArray[np.int64]
    """NONE where there is no token before."""
    in_document_M: NDArray[np.int64]
    in_context_M: NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.token_M)

    def are_at(self, place: Place, ends_line_V: NDArray[np.bool_]) -> NDArray[np.bool_]:
        """(M,) whether each site is at the place; `ends_line_V` as of `line_ends`."""
        if place.of == "line":
            return np.asarray((self.in_document_M == 0) | ((self.previous_M != NONE) & ends_line_V[self.previous_M]))
        before_M = self.in_document_M if place.of == "document" else self.in_context_M
        return np.asarray(before_M < place.first)


def peaks(snippets: Sequence[Snippet]) -> Sites:
    """The peaks of a unit's snippets."""
    peak_M = np.array([snippet.peak for snippet in snippets], np.int64)
    token_M = np.array([snippet.tokens_W[snippet.peak] for snippet in snippets], np.int64)
    before = [snippet.tokens_W[snippet.peak - 1] if snippet.peak > 1 else NONE for snippet in snippets]
    start_M = np.array([snippet.start for snippet in snippets], np.int64)
    return Sites(token_M, np.array(before, np.int64), start_M + peak_M - 1, peak_M - 1)


def sample(corpus: Corpus, documents_N: NDArray[np.int64], window: int, count: int, seed: int) -> Sites:
    """`count` tokens of these documents, drawn at random with replacement, as a model with this window reads them.

    Raises RunnerError where the documents hold no token, or one outside the vocabulary.
    """
    rows = corpus.documents[documents_N]
    ends_N = np.cumsum(rows["length"], dtype=np.int64)
    if not len(ends_N) or ends_N[-1] == 0:
        raise RunnerError("There is no text to draw a sample from. Give the corpus that the run was collected over.")
    drawn_M = np.sort(np.random.default_rng(seed).integers(0, ends_N[-1], count))  # sorted: the file is read forwards
    place_M = np.searchsorted(ends_N, drawn_M, side="right")
    in_document_M = drawn_M - (ends_N - rows["length"])[place_M]
    at_M = rows["start"][place_M] + in_document_M
    in_context_M = in_document_M % (window - 1)
    previous_M = np.where(in_context_M > 0, corpus.tokens[np.maximum(at_M - 1, 0)].astype(np.int64), NONE)
    token_M = corpus.tokens[at_M].astype(np.int64)
    refuse_unknown(corpus, np.append(token_M, previous_M))
    return Sites(token_M, previous_M, in_document_M, in_context_M)


def line_ends(vocabulary: Sequence[bytes]) -> NDArray[np.bool_]:
    """(V,) whether a line begins after the token."""
    return np.array([begins_line(token, 1) for token in vocabulary], np.bool_)


def vocabulary_of(corpus: Corpus) -> list[bytes]:
    """The bytes of every token."""
    flat, offsets = corpus.token_bytes_flat.tobytes(), corpus.token_offsets.tolist()
    return [flat[first:last] for first, last in pairwise(offsets)]
