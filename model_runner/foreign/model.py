"""A Hugging Face causal language model, read at its hidden units."""

# Shape suffixes: B batch, T tokens, F hidden units, V vocabulary.
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from typing import Any, Self

import torch
from torch import Tensor, nn

from model_runner.foreign.down import Hidden
from model_runner.subject import After, TakeLayer


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
        """None: `find_hidden` refuses models with a norm between activation and projection."""
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
        of these projections; the layers' units are all held until they are yielded: see `read`.
        """
        caught: list[Tensor] = []
        self._pass(tokens_BT, layers, lambda _, acts_BTF: caught.append(acts_BTF))
        while caught:
            yield caught.pop(0)

    def read(self, tokens_BT: Tensor, take: TakeLayer) -> None:
        """Give each layer's hidden units to `take` in the middle of the pass, so that none need be held."""
        self._pass(tokens_BT, None, take)

    def _pass(self, tokens_BT: Tensor, layers: int | None, take: TakeLayer) -> None:
        number = {down: layer for layer, down in enumerate(self.hidden.downs[:layers])}

        def caught(down: nn.Module, acts: Tensor) -> None:
            # OPT's layers work on all tokens of a batch in one row.
            take(number[down], acts.reshape(*tokens_BT.shape, -1))
            if number[down] == len(number) - 1:
                raise _Enough

        with _catching(caught), suppress(_Enough):
            self.network(tokens_BT, use_cache=False)


Catch = Callable[[nn.Module, Tensor], None]
"""What is done with a projection and what it was given."""

CATCH: ContextVar[Catch | None] = ContextVar("catch", default=None)
"""Of the thread that asks: several may put tokens through one model at once."""


def _catch(module: nn.Module, given: tuple[Any, ...]) -> None:
    """Before each projection. Changes nothing, and outside of `_catching` does nothing."""
    catch = CATCH.get()
    if catch is not None:
        catch(module, given[0])


@contextmanager
def _catching(catch: Catch) -> Iterator[None]:
    before = CATCH.set(catch)
    try:
        yield
    finally:
        CATCH.reset(before)
