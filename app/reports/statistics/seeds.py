"""One seed of a report, an independent stream of random numbers for each of its parts."""

from zlib import crc32

import numpy as np


def generator(seed: int, part: str) -> np.random.Generator:
    """The stream of one part; a part added later does not move the numbers of the others."""
    return np.random.default_rng([seed, crc32(part.encode())])
