"""Which split a document is in, decided by a hash of its text and nothing else."""

import numpy as np
from numpy.typing import NDArray

from model_runner.corpus.info import SPLITS
from model_runner.errors import RunnerError

SHARES = {"train": 0.55, "collect": 0.25, "heldout": 0.05, "practice": 0.05, "check": 0.10}


def split_of(hashes: NDArray[np.uint64], shares: dict[str, float]) -> NDArray[np.uint8]:
    """(N,) the index into SPLITS for each 64-bit hash: the hash's place in the shares laid end to end.

    Raises RunnerError when the shares are not those of the five splits or do not add up to 1.
    """
    if set(shares) - set(SPLITS) or min(shares.values()) < 0 or abs(sum(shares.values()) - 1) > 1e-9:
        raise RunnerError(f"The shares {shares} must be of {', '.join(SPLITS)}, none negative, and add up to 1.")
    ends = np.cumsum([shares.get(split, 0.0) for split in SPLITS])
    fractions = hashes.astype(np.float64) / 2.0**64
    # A hash in the last 2^-11 rounds to 1 exactly, hence the bound.
    last = max(index for index, split in enumerate(SPLITS) if shares.get(split, 0.0) > 0)
    return np.minimum(np.searchsorted(ends, fractions, side="right"), last).astype(np.uint8)
