"""Sums of float32 numbers that are exact, and so the same in whatever order and division they are added.

Each number is an integer times a power of two. Integers of like powers are added up in one int64, its limb;
only when the sum is asked for do the limbs meet, as integers without a limit (Kulisch's accumulator).
"""

# Shape suffixes: F sums, L limbs.
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

MANTISSA_BITS, LOWEST = 24, -149
"""A float32 is an integer of at most 24 bits times a power of two, 2^-149 at least."""
LIMB_BITS = 16
"""Powers of two that share a limb. With the mantissa that makes 40 bits, so 2^23 numbers fit before a carry."""
LIMBS = -(-(128 - LOWEST) // LIMB_BITS)
CARRY_AFTER = 1 << 22


@dataclass
class ExactSum:
    """Some sums so far."""

    limbs_LF: NDArray[np.int64]
    """Limb l counts in units of 2^(LOWEST + LIMB_BITS * l)."""
    broken_F: NDArray[np.bool_]
    """A NaN or an infinity was among the numbers."""
    added: int = 0
    """Numbers added to each sum since the last carry."""


def no_sum(count: int) -> ExactSum:
    """`count` sums of no numbers, each zero."""
    return ExactSum(np.zeros((LIMBS, count), np.int64), np.zeros(count, np.bool_))


def add(total: ExactSum, values_F: NDArray[np.float32]) -> None:
    """Add one number to each sum. A NaN or an infinity breaks its sum."""
    finite_F = np.isfinite(values_F)
    total.broken_F |= ~finite_F
    mantissa_F, exponent_F = np.frexp(np.where(finite_F, values_F, 0))
    place_F = np.maximum(exponent_F - MANTISSA_BITS - LOWEST, 0)
    limb_F = place_F // LIMB_BITS
    # The number in units of its limb, a whole one whatever the number is.
    scaled_F = np.ldexp(mantissa_F.astype(np.float64), exponent_F - LOWEST - limb_F * LIMB_BITS)
    total.limbs_LF[limb_F, np.arange(len(values_F))] += scaled_F.astype(np.int64)
    total.added += 1
    if total.added >= CARRY_AFTER:
        _carry(total)


def _carry(total: ExactSum) -> None:
    """Leave LIMB_BITS in each limb but the last, so that there is room again."""
    for limb in range(LIMBS - 1):
        over_F = total.limbs_LF[limb] >> LIMB_BITS
        total.limbs_LF[limb] -= over_F << LIMB_BITS
        total.limbs_LF[limb + 1] += over_F
    total.added = 1


def merge(total: ExactSum, other: ExactSum) -> None:
    """Add everything that was added to `other`."""
    _carry(total)
    _carry(other)
    total.limbs_LF += other.limbs_LF
    total.broken_F |= other.broken_F


def integers(total: ExactSum) -> list[int]:
    """Each sum in units of 2^LOWEST."""
    sums = [0] * total.limbs_LF.shape[1]
    for limb, limb_F in enumerate(total.limbs_LF.tolist()):
        sums = [before + (part << (LIMB_BITS * limb)) for before, part in zip(sums, limb_F, strict=True)]
    return sums


def mean_and_variance(sums: ExactSum, squares: ExactSum, count: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Of `count` numbers whose sums and sums of squares these are, correctly rounded; NaN for broken sums.

    The variance is that of the numbers themselves, not an estimate: (n Q - S^2) / n^2.
    """
    # In units of 2^(2 LOWEST), squares are as many times larger.
    scale = 1 << -LOWEST
    pairs = list(zip(integers(sums), integers(squares), strict=True))
    mean_F = np.array([total / (count * scale) for total, _ in pairs])
    variance_F = np.array([max(0, count * square * scale - total**2) / (count * scale) ** 2 for total, square in pairs])
    mean_F[sums.broken_F], variance_F[sums.broken_F | squares.broken_F] = np.nan, np.nan
    return mean_F, variance_F
