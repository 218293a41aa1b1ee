"""How a unit's activations are spread: an exact histogram, moments and extremes over all rankable tokens.

The bins are the same for every unit and model: each octave of the absolute value, from 2^-40 to 2^24, in
four equal parts, for either sign, and one bin around zero. A value's bin is read off its float32 bits. An
edge belongs to the bin further from zero, and a value beyond the last octave to the last bin.
"""

# Shape suffixes: F units, T tokens, H bins as counted (every quarter of every octave), B bins as kept,
# U units that are counted together, N values.
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from model_runner.collect import exact_sum
from model_runner.collect.exact_sum import ExactSum, mean_and_variance, no_sum
from model_runner.run.arrays import MOMENTS

LOWEST_OCTAVE, OCTAVES, PARTS = -40, 64, 4
SIDE = OCTAVES * PARTS
"""Bins that are kept of one sign; the first of them begins at 2^LOWEST_OCTAVE."""
MANTISSA_BITS, COUNTED = 21, 1024
"""Without its last 21 bits, a float32 is a sign, eight bits of exponent and two of mantissa: the quarter of
an octave it lies in. That makes 1024 bins a sign, most of them empty, and counting quick."""
TOGETHER = 256
"""Units counted together on a processor: of so many, the counters that are not idle stay in its cache."""
CARRY_AFTER = 1 << 30
"""Tokens after which counters of 32 bits are emptied into those of 64."""


@dataclass
class Spread:
    """Counts and sums so far."""

    counts_HF: Tensor
    """int64. Row COUNTED + q: positive values of quarter q; row q: negative ones."""
    parts_HU: list[Tensor]
    """int32 counts, of some units each, that are not yet carried into `counts_HF`."""
    counted: int
    """Tokens in them."""
    sum_F: ExactSum
    """Of each context's sum, which is a float32."""
    squares_F: ExactSum
    least_F: NDArray[np.float32]
    greatest_F: NDArray[np.float32]


def no_spread(units: int, device: torch.device) -> Spread:
    counts_HF = torch.zeros(2 * COUNTED, units, dtype=torch.int64, device=device)
    return Spread(
        counts_HF=counts_HF,
        parts_HU=[torch.zeros_like(part_HU, dtype=torch.int32).contiguous() for part_HU in _parts(counts_HF)],
        counted=0,
        sum_F=no_sum(units),
        squares_F=no_sum(units),
        least_F=np.full(units, np.inf, np.float32),
        greatest_F=np.full(units, -np.inf, np.float32),
    )


def count(spread: Spread, acts_TF: Tensor) -> None:
    """Add the float32 activations of some tokens to everything but the extremes."""
    for counts_HU, acts_TU in zip(spread.parts_HU, _parts(acts_TF), strict=True):
        places_N = _places(acts_TU)
        ones_N = torch.ones((), dtype=torch.int32, device=places_N.device).expand(places_N.shape)
        counts_HU.view(-1).index_add_(0, places_N, ones_N)
    spread.counted += len(acts_TF)
    if spread.counted >= CARRY_AFTER:
        carry(spread)
    exact_sum.add(spread.sum_F, acts_TF.sum(dim=0).numpy(force=True))
    exact_sum.add(spread.squares_F, acts_TF.square().sum(dim=0).numpy(force=True))


def widen(spread: Spread, least_RF: NDArray[np.float32], greatest_RF: NDArray[np.float32]) -> None:
    """Let the extremes of some contexts into those of all. A NaN changes nothing."""
    np.fmin(spread.least_F, np.fmin.reduce(least_RF, axis=0), out=spread.least_F)
    np.fmax(spread.greatest_F, np.fmax.reduce(greatest_RF, axis=0), out=spread.greatest_F)


def merge(spread: Spread, other: Spread) -> None:
    """Add what was counted over other contexts: the same as if it had been counted here."""
    carry(other)
    spread.counts_HF += other.counts_HF
    exact_sum.merge(spread.sum_F, other.sum_F)
    exact_sum.merge(spread.squares_F, other.squares_F)
    widen(spread, other.least_F[None], other.greatest_F[None])


def carry(spread: Spread) -> None:
    """Make `counts_HF` hold everything that was counted."""
    spread.counts_HF += torch.cat(spread.parts_HU, dim=1)
    for counts_HU in spread.parts_HU:
        counts_HU.zero_()
    spread.counted = 0


def _parts(numbers_XF: Tensor) -> tuple[Tensor, ...]:
    """Numbers of all units, in parts of those that are counted together. An accelerator counts all at once."""
    together = TOGETHER if numbers_XF.device.type == "cpu" else numbers_XF.shape[1]
    return torch.split(numbers_XF, together, dim=1)


def _places(acts_TU: Tensor) -> Tensor:
    """Where in flat counts (H, U) each value counts. The shift keeps the sign, so negative values come before."""
    units = acts_TU.shape[1]
    column_U = torch.arange(COUNTED * units, (COUNTED + 1) * units, dtype=torch.int32, device=acts_TU.device)
    return column_U.add(acts_TU.view(torch.int32) >> MANTISSA_BITS, alpha=units).reshape(-1)


def edges() -> NDArray[np.float32]:
    """The B + 1 ascending edges of the kept bins; the outermost are infinite."""
    octave = 2.0 ** np.arange(LOWEST_OCTAVE, LOWEST_OCTAVE + OCTAVES)
    side = (octave[:, None] * (1 + np.arange(PARTS) / PARTS)).ravel()
    return np.concatenate([[-np.inf], -side[:0:-1], [-side[0]], side, [np.inf]]).astype(np.float32)


def histogram(spread: Spread) -> NDArray[np.int64]:
    """Counts (F, B) in the order of `edges`."""
    quarter_H = np.tile(np.arange(COUNTED), 2)
    beyond_zero_H = np.clip(quarter_H - (127 + LOWEST_OCTAVE) * PARTS + 1, 0, SIDE)
    bin_H = SIDE + np.repeat([-1, 1], COUNTED) * beyond_zero_H
    carry(spread)
    counts_BF = np.zeros((2 * SIDE + 1, spread.counts_HF.shape[1]), np.int64)
    np.add.at(counts_BF, bin_H, spread.counts_HF.numpy(force=True))
    return np.ascontiguousarray(counts_BF.T)


def moments(spread: Spread) -> NDArray[np.void]:
    """A row of MOMENTS for each unit. Mean and variance of a unit that was not finite are NaN."""
    counts_FB = histogram(spread)
    tokens_F = counts_FB.sum(axis=1)
    rows_F = np.zeros(len(counts_FB), MOMENTS)
    rows_F["tokens"], rows_F["least"], rows_F["greatest"] = tokens_F, spread.least_F, spread.greatest_F
    # All units saw the same tokens.
    rows_F["mean"], rows_F["variance"] = mean_and_variance(spread.sum_F, spread.squares_F, int(tokens_F[0]))
    rows_F["density"] = counts_FB[:, SIDE + 1 :].sum(axis=1) / tokens_F
    return rows_F
