"""What collecting and training a model of some shape cost: operations, bytes, hours, dollars. Arithmetic only."""

from dataclasses import dataclass

from model_runner.architecture.config import ModelConfig
from model_runner.collect.banded import BANDS
from model_runner.collect.group import BAND_KEPT
from model_runner.collect.spread import edges
from model_runner.collect.waiting import LEAST_ROOM
from model_runner.run.arrays import MOMENTS, ROW, UNIT

FLOAT, COUNT = 4, 8
"""Bytes of a float32, and of a histogram's count or of an offset."""


@dataclass(frozen=True)
class Device:
    """An accelerator, as its maker publishes it, and what is assumed of it."""

    name: str
    peak_tflops: float
    """Of dense matrix products in the type that is computed in."""
    memory_gb: float
    utilisation: float
    """Share of the peak that is reached: model operations a second over peak operations a second."""
    dollars_an_hour: float

    def hours(self, flops: float) -> float:
        """Device-hours that so many operations take."""
        return flops / (self.peak_tflops * 1e12 * self.utilisation) / 3600

    def dollars(self, flops: float) -> float:
        return self.hours(flops) * self.dollars_an_hour


@dataclass(frozen=True)
class Collection:
    """What is collected of each unit."""

    window: int
    """Tokens of a context; each snippet keeps a whole one."""
    kept: int = 20
    sides: int = 2
    """1, or 2 with the activations after the LayerNorm beside those before it."""
    token_bytes: int = 2
    """2 up to 65,536 tokens of vocabulary, else 4."""
    complete: bool = False
    """Also most negative snippets, bands, histogram and moments."""


def forward_flops(config: ModelConfig, context: int) -> float:
    """Operations a token of a forward pass up to the last activation's MLP, embeddings and unembedding left out.

    Two for each number of the matrices, and for each head 4 x head width for each token that is read, the mean
    over a context's positions. Source: Kaplan et al. 2020, table 1, with causal attention counted as what it needs.
    """
    local = config.local_heads if config.local_window < context else 0
    read = (config.heads - local) * _mean_read(context, context) + local * _mean_read(context, config.local_window)
    return 2 * config.non_embedding_parameters + 4 * config.layers * config.head_width * read


def _mean_read(context: int, window: int) -> float:
    """Tokens that a position reads, itself included, in the mean over a context."""
    return window - window * (window - 1) / (2 * context)


def train_flops(config: ModelConfig, context: int) -> float:
    """Operations a token of training: forward with logits, and twice as many backward."""
    return 3 * (forward_flops(config, context) + 2 * config.vocab_size * config.width)


def units_of(config: ModelConfig) -> int:
    return config.layers * config.hidden


def bytes_a_unit(collection: Collection) -> int:
    """Bytes of one unit in a run folder whose contexts are full, the vocabulary and run.json left out."""
    snippet = collection.window * (collection.token_bytes + collection.sides * FLOAT) + ROW.itemsize
    bare = UNIT.itemsize + COUNT + collection.kept * snippet
    if not collection.complete:
        return bare
    # The most negative, and the bands, each section with its offsets.
    sections = collection.kept * snippet + COUNT + BANDS * (BAND_KEPT * snippet + COUNT)
    spread = (len(edges()) - 1) * COUNT + MOMENTS.itemsize + (BANDS + 1) * FLOAT
    return bare + sections + spread


def memory_a_unit(collection: Collection, layer_units: int) -> float:
    """Bytes of main memory for a unit's lists while collecting, their windows alone; they do not grow with the tokens.

    The `complete` ones are left out: they take as much again for the lowest, and what the bands take.
    """
    waiting = max(LEAST_ROOM, 2 * layer_units) / layer_units
    return (collection.kept + waiting) * collection.sides * collection.window * FLOAT
