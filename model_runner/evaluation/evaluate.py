"""How well a model predicts text it was not trained on."""

# Shape suffixes: B windows, T tokens of a window, N tokens of a batch.
from collections.abc import Iterator

import numpy as np
import torch
from torch import Tensor

from model_runner.architecture.model import Transformer
from model_runner.corpus.store import Corpus
from model_runner.train.batches import Stream, pack, read_windows
from model_runner.train.loss import token_losses

BATCH_TOKENS = 4096
STREAM_SEED = 0
"""Held-out text is always packed in one order, so that every model is asked the same questions."""


def held_out_stream(corpus: Corpus, context: int) -> Stream:
    """The heldout split of every part as windows of `context` tokens, the same for every model."""
    return pack(corpus, "heldout", context, STREAM_SEED)


def held_out_loss(model: Transformer, stream: Stream, tokens: int) -> float:
    """Mean cross-entropy (nats a token) over the stream's first `tokens` tokens, or all where it has fewer."""
    windows = min(stream.windows, max(1, tokens // stream.context))
    losses = [losses_N.double().sum() for losses_N in window_losses(model, stream, windows)]
    return float(torch.stack(losses).sum()) / (windows * stream.context)


@torch.no_grad()
def window_losses(model: Transformer, stream: Stream, windows: int) -> Iterator[Tensor]:
    """Yield the losses (tokens,) of one batch of windows after another."""
    batch = max(1, BATCH_TOKENS // stream.context)
    for first in range(0, windows, batch):
        tokens_BT = read_windows(stream, np.arange(first, min(first + batch, windows))).to(model.device)
        x_ND = model.residual(tokens_BT[:, :-1]).flatten(0, 1)
        yield token_losses(x_ND, model.unembed.weight, tokens_BT[:, 1:].flatten())
