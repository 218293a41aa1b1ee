"""The loss of every document of a split on its own: the units over which a mean has a standard error."""

# Shape suffixes: B windows of a batch, T tokens of a window, N tokens that are predicted.
from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Any, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from model_runner.corpus.store import Corpus
from model_runner.loss import token_losses
from model_runner.model import Transformer
from model_runner.progress import progress

DOCUMENT_LOSS = np.dtype([("document", "<i8"), ("nats", "<f8"), ("tokens", "<i4"), ("bytes", "<i4")])
BATCH_TOKENS = 4096
DOCUMENTS_TOGETHER = 256
"""Documents whose windows are sorted by length together, so that little is computed on padding."""


class Window(NamedTuple):
    """A stretch of tokens that is read, of which the last `predicted` come after others and are scored."""

    tokens: Sequence[int]
    """At least two. The first is only read: BOS at the start of a text, else the token before."""
    predicted: int
    """1 to len(tokens) - 1."""


def windows_of(tokens: Sequence[int], bos: int, context: int) -> list[Window]:
    """A text as windows that predict each of its tokens once, none reading more than `context` tokens.

    The text begins with BOS, which is never predicted. A last window that is not full reads further back, so that
    it has a whole context as well. These are the rolling windows of lm-evaluation-harness (one token of context,
    `lm_eval.utils.get_rolling_token_windows`), so that its numbers and ours are of the same predictions.
    """
    text = [bos, *tokens]
    windows = []
    for first in range(0, len(text) - 1, context):
        last = min(first + context, len(text) - 1)
        windows.append(Window(text[max(0, last - context) : last + 1], last - first))
    return windows


@torch.no_grad()
def window_losses(model: Transformer, windows: Sequence[Window]) -> Iterator[NDArray[np.float32]]:
    """Yield the cross-entropy (nats) of each predicted token of each window, in the windows' order.

    Windows are read longest first and padded on the right, where no token that counts can see it.
    """
    order = sorted(range(len(windows)), key=lambda index: -len(windows[index].tokens))
    found: dict[int, NDArray[np.float32]] = {}
    for batch in _batches(windows, order):
        losses = _batch_losses(model, [windows[index] for index in batch])
        found.update(zip(batch, losses, strict=True))
    for index in range(len(windows)):
        yield found[index]


def document_losses(model: Transformer, corpus: Corpus, documents: NDArray[np.int64]) -> NDArray[np.void]:
    """A row of DOCUMENT_LOSS for each document: its summed loss (nats), its tokens and its bytes of UTF-8.

    BOS is read before each document and never predicted.
    """
    rows = np.zeros(len(documents), DOCUMENT_LOSS)
    rows["document"] = documents
    rows["tokens"] = corpus.documents["length"][documents]
    lengths_V = np.diff(corpus.token_offsets)
    with progress("Evaluating", int(rows["tokens"].sum()), "tokens") as bar:
        for first in range(0, len(documents), DOCUMENTS_TOGETHER):
            some = rows[first : first + DOCUMENTS_TOGETHER]
            texts = [corpus.document_tokens(int(document)) for document in some["document"]]
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


def _batches(windows: Sequence[Window], order: Sequence[int]) -> Iterator[list[int]]:
    first = 0
    while first < len(order):
        many = max(1, BATCH_TOKENS // len(windows[order[first]].tokens))
        yield list(order[first : first + many])
        first += many


def _batch_losses(model: Transformer, windows: Sequence[Window]) -> list[NDArray[np.float32]]:
    tokens_BT, predicted_BT = _padded(windows)
    x_BTD = model.residual(tokens_BT[:, :-1])
    targets_N = tokens_BT[:, 1:][predicted_BT]
    losses_N: NDArray[Any] = token_losses(x_BTD[predicted_BT], model.unembed.weight, targets_N).numpy()
    return np.split(losses_N, np.cumsum([window.predicted for window in windows])[:-1])


def _padded(windows: Sequence[Window]) -> tuple[Tensor, Tensor]:
    """Tokens (B, T) padded on the right with zeros, and which of the T - 1 after the first are scored."""
    longest = max(len(window.tokens) for window in windows)
    tokens_BT = torch.zeros(len(windows), longest, dtype=torch.int64)
    predicted_BT = torch.zeros(len(windows), longest - 1, dtype=torch.bool)
    for row, window in enumerate(windows):
        end = len(window.tokens)
        tokens_BT[row, :end] = torch.as_tensor(window.tokens)
        predicted_BT[row, end - 1 - window.predicted : end - 1] = True
    return tokens_BT, predicted_BT
