"""A model whose neurons are read, wherever it comes from: what collecting and serving need of it."""

# Shape suffixes: B batch, T tokens, F neurons of a layer, N blocks of them, E entries.
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol, Self

import torch
from torch import Tensor

TakeLayer = Callable[[int, Tensor], None]
"""What is done with the number of a layer and its activations (batch, tokens, neurons)."""


class After(Protocol):
    """The post-activation LayerNorm."""

    def __call__(self, acts: Tensor, /) -> Tensor:
        """What it makes of activations (…, neurons)."""

    def moments(self, acts_BTF: Tensor, /) -> tuple[Tensor, Tensor]:
        """The means and inverse deviations (batch, tokens, blocks) that it takes away and multiplies with."""

    def at(self, acts_ET: Tensor, moments: tuple[Tensor, Tensor], rows_E: Tensor, units_E: Tensor, /) -> Tensor:
        """What it makes of single neurons' activations (E, tokens), each in a row of that batch."""


class Reader(Protocol):
    """The model itself: tokens in, activations out."""

    def activations(self, tokens_BT: Tensor, layers: int | None = None) -> Iterator[Tensor]:
        """Yield the activations (batch, tokens, neurons) of each of the first `layers` layers, in order."""

    def read(self, tokens_BT: Tensor, take: TakeLayer) -> None:
        """Give each layer's activations to `take` as soon as they are there, so that no other layer's need be held."""

    @property
    def norms(self) -> Sequence[After | None]:
        """The post-activation LayerNorm of each layer, where there is one."""

    @property
    def device(self) -> torch.device:
        """Where the model is, and so where its tokens must be."""

    def to(self, device: str, /) -> Self: ...


@dataclass(frozen=True, kw_only=True)
class About:
    """What is known of a model; a run folder repeats it."""

    condition: str
    """What its neurons do: gelu, solu_ln, gelu_new, silu_gated, …"""
    size: int
    """Parameters, embedding and unembedding aside."""
    layers: int
    hidden: int
    """Neurons in each layer."""
    context: int
    """The longest window it is read with, BOS included."""
    seed: int
    """Of its training; 0 where nobody said."""
    train_tokens: int
    """Tokens it was trained on; 0 where nobody said."""
    validation_loss: float | None
    """Held-out loss, nats a token, where it is known."""
    tokenizer_digest: str


class Subject(Protocol):
    """A model and what is known of it."""

    @property
    def model(self) -> Reader: ...

    @property
    def about(self) -> About: ...

    @property
    def digest(self) -> str:
        """Tells two models apart."""


def load_subject(folder: Path) -> Subject:
    """Read a checkpoint folder, trained here or imported: on the CPU, in evaluation mode, without gradients.

    Raises RunnerError for a folder that is incomplete, damaged or of another format.
    """
    from model_runner.foreign.record import FOREIGN

    if (folder / FOREIGN).is_file():
        from model_runner.foreign.huggingface import load_foreign

        return load_foreign(folder)
    from model_runner.checkpoint import load_checkpoint

    return load_checkpoint(folder)
