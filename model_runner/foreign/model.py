"""A Hugging Face causal language model, read at its hidden units."""

# Shape suffixes: B batch, T tokens, F hidden units, V vocabulary.
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from typing import Any, NamedTuple, Self

import torch
from torch import Tensor, nn

from model_runner.foreign.down import Hidden
from model_runner.subject import After


class _Enough(Exception):
    """The last layer that is asked for has been read; what comes after it need not be computed."""


class ForeignModel:
    """Tokens in, hidden units out, whatever the architecture."""

    def __init__(self, model: nn.Module, hidden: Hidden) -> None:
        self.network = model.eval().requires_grad_(False)
        self.hidden = hidden
        for down in hidden.downs:
            down.register_forward_pre_hook(_catch)

    @property
    def norms(self) -> Sequence[After | None]:
        """No architecture of the hub has a LayerNorm between activation and projection."""
        return [None] * len(self.hidden.downs)

    @property
    def device(self) -> torch.device:
        return next(self.network.parameters()).device

    def to(self, device: str, /) -> Self:
        self.network.to(device)
        return self

    def logits(self, tokens_BT: Tensor) -> Tensor:
        """What the model predicts: (batch, tokens, vocabulary)."""
        logits_BTV: Tensor = self.network(tokens_BT, use_cache=False).logits
        return logits_BTV

    def activations(self, tokens_BT: Tensor, layers: int | None = None) -> Iterator[Tensor]:
        """Yield the hidden units (batch, tokens, units) of each of the first `layers` layers.

        They are what the down projection is given, a gate's product included. The pass stops before the last
        of these projections; the layers' units are all held until they are yielded.
        """
        downs = self.hidden.downs[:layers]
        caught: list[Tensor] = []
        with _catching(Catch(downs[-1], caught)), suppress(_Enough):
            self.network(tokens_BT, use_cache=False)
        while caught:
            # OPT's layers work on all tokens of a batch in one row.
            yield caught.pop(0).reshape(*tokens_BT.shape, -1)


class Catch(NamedTuple):
    """What one pass through a model is to keep."""

    last: nn.Module
    """The projection at which the pass stops."""
    caught: list[Tensor]
    """What the projections were given, in order."""


CATCH: ContextVar[Catch | None] = ContextVar("catch", default=None)
"""Of the thread that asks: several may put tokens through one model at once."""


def _catch(module: nn.Module, given: tuple[Any, ...]) -> None:
    """Before each projection. Changes nothing, and outside of `_catching` does nothing."""
    catch = CATCH.get()
    if catch is not None:
        catch.caught.append(given[0])
        if module is catch.last:
            raise _Enough


@contextmanager
def _catching(catch: Catch) -> Iterator[None]:
    before = CATCH.set(catch)
    try:
        yield
    finally:
        CATCH.reset(before)
