"""A snippet as it is to be shown, and how dark each of its tokens is. Pure.

Only the share of the neuron's own maximum is shown, in sixteen levels: a value, a sign or a decimal would
tell which model it came from.
"""

from collections.abc import Sequence
from math import isfinite
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

LEVELS = 15
BEFORE_SHARE = 5 / 8
"""More to the left of the peak than to the right: a causal model only saw the left."""
Activations = Sequence[float] | NDArray[np.floating[Any]]


class Shown(NamedTuple):
    """A snippet as it is to be shown."""

    texts: Sequence[bytes]
    """The bytes of each token; special tokens and padding are already left out."""
    activations: Activations
    """One a token, on one scale for all snippets of the item."""
    peak: int
    """Index of the token that was ranked."""
    document_start: bool
    """The document begins with the first token."""
    document_end: bool
    """The document ends with the last token."""


class Reach(NamedTuple):
    """How many tokens: before the peak, and from it on."""

    before: int
    after: int


def reach(tokens: int) -> Reach:
    """What is shown where `tokens` are shown."""
    before = round(tokens * BEFORE_SHARE)
    return Reach(before, tokens - before)


def on_each_side(tokens: int) -> Reach:
    return Reach(tokens, tokens + 1)


def maximum(snippets: Sequence[Shown]) -> float:
    """The highest finite peak of the item; nothing is shaded where it is not above zero."""
    peaks = (float(shown.activations[shown.peak]) for shown in snippets)
    return max(filter(isfinite, peaks), default=0.0)


def shares(activations: Activations, top: float) -> NDArray[np.uint8]:
    """Levels 0 to 15: the share of the maximum. Negatives, NaN and all of a neuron that never fired are 0."""
    values_T = np.asarray(activations, np.float64)
    if not top > 0:
        return np.zeros(len(values_T), np.uint8)
    with np.errstate(over="ignore", invalid="ignore"):  # where the maximum is tiny, or a value is replaced below
        steps_T = np.rint(values_T * np.divide(LEVELS, top))
    return np.where(values_T >= top, LEVELS, np.where(values_T > 0, steps_T, 0)).astype(np.uint8)
