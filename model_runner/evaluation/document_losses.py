"""The loss of every document of a split on its own: the units over which a mean has a standard error."""

from collections.abc import Sequence
from itertools import islice

import numpy as np
from numpy.typing import NDArray

from model_runner.architecture.model import Transformer
from model_runner.corpus.store import Corpus, refuse_unknown
from model_runner.evaluation.windows import window_losses, windows_of
from model_runner.progress import progress

DOCUMENT_LOSS = np.dtype([("document", "<i8"), ("nats", "<f8"), ("tokens", "<i4"), ("bytes", "<i4")])
DOCUMENTS_TOGETHER = 256
"""Documents whose windows are sorted by length together, so that little is computed on padding."""


def document_losses(model: Transformer, corpus: Corpus, documents: NDArray[np.int64]) -> NDArray[np.void]:
    """A row of DOCUMENT_LOSS for each document: its summed loss (nats), its tokens and its bytes of UTF-8.

    BOS is read before each document and never predicted. Raises RunnerError for a token outside the vocabulary.
    """
    rows = np.zeros(len(documents), DOCUMENT_LOSS)
    rows["document"] = documents
    rows["tokens"] = corpus.documents["length"][documents]
    lengths_V = np.diff(corpus.token_offsets)
    with progress("Evaluating", int(rows["tokens"].sum()), "tokens") as bar:
        for first in range(0, len(documents), DOCUMENTS_TOGETHER):
            some = rows[first : first + DOCUMENTS_TOGETHER]
            texts = [corpus.document_tokens(int(document)) for document in some["document"]]
            refuse_unknown(corpus, np.concatenate(texts))
            some["bytes"] = [int(lengths_V[tokens].sum()) for tokens in texts]
            some["nats"] = _text_losses(model, [tokens.tolist() for tokens in texts], corpus.info.bos)
            bar.advance(int(some["tokens"].sum()))
    return rows


def first_documents(corpus: Corpus, split: str, tokens: int | None) -> NDArray[np.int64]:
    """Documents of a split up to the one that reaches `tokens`, or all.

    They lie in the order of a hash of their text, so the first of them are a random sample. Empty documents are
    left out: there is nothing in them to predict.
    """
    documents = corpus.in_split(split)
    lengths = corpus.documents["length"][documents].astype(np.int64)
    documents, lengths = documents[lengths > 0], lengths[lengths > 0]
    if tokens is None:
        return documents
    return documents[: int(np.searchsorted(np.cumsum(lengths), tokens)) + 1]


def _text_losses(model: Transformer, texts: Sequence[Sequence[int]], bos: int) -> list[float]:
    """The summed loss of each text, nats."""
    cut = [windows_of(tokens, bos, model.config.context) for tokens in texts]
    losses = window_losses(model, [window for windows in cut for window in windows])
    return [sum(float(one.sum(dtype=np.float64)) for one in islice(losses, len(windows))) for windows in cut]
