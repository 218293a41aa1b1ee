"""Texts cut into windows that a model reads, and what it makes of each token that is predicted in them."""

# Shape suffixes: B windows of a batch, T tokens of a window, N tokens that are predicted, D model width.
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from model_runner.architecture.model import Transformer
from model_runner.train.loss import token_losses

BATCH_TOKENS = 4096
Score = Callable[[Tensor, Tensor, Tensor], Tensor]
"""Residuals (N, D), unembedding (V, D) and targets (N,) to a number, or a row of numbers, for each target."""


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


def window_losses(model: Transformer, windows: Sequence[Window]) -> Iterator[NDArray[np.float32]]:
    """Yield the cross-entropy (nats) of each predicted token of each window, in the windows' order."""
    yield from window_scores(model, windows, token_losses)


@torch.no_grad()
def window_scores(model: Transformer, windows: Sequence[Window], score: Score) -> Iterator[NDArray[np.float32]]:
    """Yield what `score` makes of each predicted token of each window, in the windows' order.

    Windows are read longest first and padded on the right, where no token that counts can see it.
    """
    order = sorted(range(len(windows)), key=lambda index: -len(windows[index].tokens))
    found: dict[int, NDArray[np.float32]] = {}
    for batch in _batches(windows, order):
        scores = _batch_scores(model, [windows[index] for index in batch], score)
        found.update(zip(batch, scores, strict=True))
    for index in range(len(windows)):
        yield found[index]


def _batches(windows: Sequence[Window], order: Sequence[int]) -> Iterator[list[int]]:
    first = 0
    while first < len(order):
        many = max(1, BATCH_TOKENS // len(windows[order[first]].tokens))
        yield list(order[first : first + many])
        first += many


def _batch_scores(model: Transformer, windows: Sequence[Window], score: Score) -> list[NDArray[np.float32]]:
    tokens_BT, predicted_BT = _padded(windows)
    x_ND = model.residual(tokens_BT[:, :-1])[predicted_BT]
    scores_N: NDArray[Any] = score(x_ND, model.unembed.weight, tokens_BT[:, 1:][predicted_BT]).numpy()
    return np.split(scores_N, np.cumsum([window.predicted for window in windows])[:-1])


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
