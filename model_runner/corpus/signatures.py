"""MinHash signatures of word sequences, so that two chunks' likeness can be told from a few numbers.

Shapes: C chunks, P permutations, W words of a chunk.
"""

import numpy as np
from datasketch import MinHash
from numpy.typing import NDArray

PERMUTATIONS = 66
SHINGLE_WORDS = 3
SEED = 1
_EMPTY = MinHash(num_perm=PERMUTATIONS, seed=SEED, scheme="affine32", hashfunc=int)


def signatures(words: list[list[int]]) -> NDArray[np.uint32]:
    """(C, P) MinHash of the sets of three words in a row of each chunk. Order counts: dog bites man.

    Source: Broder 1997, "On the resemblance and containment of documents".
    """
    found = np.empty((len(words), PERMUTATIONS), np.uint32)
    for row, chunk_words in enumerate(words):
        sketch = _EMPTY.copy()
        sketch.update_batch(shingles(chunk_words).tolist())
        found[row] = sketch.hashvalues
    return found


def shingles(words: list[int]) -> NDArray[np.uint32]:
    """The distinct 32-bit hashes of all sequences of three words, or of the whole when it is shorter."""
    padded = np.array([*words, *[0] * (SHINGLE_WORDS - len(words))], np.uint64)
    mixed = np.zeros(len(padded) - SHINGLE_WORDS + 1, np.uint64)
    for place in range(SHINGLE_WORDS):
        mixed = (mixed ^ padded[place : len(mixed) + place]) * np.uint64(0x9E3779B97F4A7C15)
        mixed ^= mixed >> np.uint64(29)
    return np.unique((mixed >> np.uint64(32)).astype(np.uint32))
